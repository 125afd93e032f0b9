//! The documents are true of the tree, and hang together.

mod pages;
mod promises;
mod tree;
