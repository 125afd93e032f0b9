//! A file of the embedded store that something has damaged.
#![cfg(feature = "embedded")]

pub(super) use crate::store::embedded::fuzzing::{damaged_file, damaged_queue_rows, damaged_rows};
