//! Figures of the source: which layer and which file uses which, how many lines each crate has,
//! which lines stand twice, which files and functions are too long, which names several types have,
//! and which sentences name no subject.
//!
//! The page docs/internals/house.md has the commands that print them.

#![forbid(unsafe_code)]

pub mod duplicates;
pub mod graph;
pub mod layers;
pub mod lines;
pub mod long;
pub mod names;
pub mod paths;
pub mod source;
pub mod subjects;
pub mod wrap;
