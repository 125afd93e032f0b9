//! At most N at once, everywhere, first come first served, and you are told when you have lost your place.
#![forbid(unsafe_code)]

pub mod store;
mod store_error;

pub use seinpaal_proto as proto;
