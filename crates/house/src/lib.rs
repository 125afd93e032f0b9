//! The order of the source: which layer uses which, and which file uses which.
//!
//! `cargo run -p house -- imports` prints what is found here, and `cargo run -p house -- lines` how
//! many lines each crate has.

#![forbid(unsafe_code)]

pub mod graph;
pub mod layers;
pub mod lines;
pub mod paths;
pub mod source;
