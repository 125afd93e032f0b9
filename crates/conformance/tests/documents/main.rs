//! The documents are true of the tree, and fit together.

mod pages;
mod tree;
