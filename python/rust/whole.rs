//! Whole numbers of any size, as Python has them.

use std::fmt;

use pyo3::{exceptions::PyOverflowError, prelude::*};
use seinpaal::{MAX_DELIVERIES, MAX_LIMIT};

use crate::failure::Failure;

/// A whole number. A number that is too large is refused with the same error as any other bad
/// number, and not with Python's `OverflowError`. A value that is no whole number is a `TypeError`.
pub(crate) enum Whole {
    Small(i64),
    Large(String),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Whole {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match object.extract() {
            Ok(number) => Ok(Self::Small(number)),
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
                // Python refuses to write numbers of thousands of digits in decimal.
                Ok(Self::Large(object.call_method1("__format__", ("#x",))?.extract()?))
            }
            Err(error) => Err(error),
        }
    }
}

impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Small(number) => write!(f, "{number}"),
            Self::Large(digits) if digits.len() > 40 => f.write_str("a number that long"),
            Self::Large(digits) => f.write_str(digits),
        }
    }
}

// The texts are those of the crate, which refuses numbers that fit into its types and are out of
// range.

pub(crate) fn limit(number: &Whole) -> Result<u32, Failure> {
    let bad = || format!("a limit is 0 to {MAX_LIMIT}, not {number}");
    let limit = within(number).filter(|limit| *limit <= MAX_LIMIT);
    limit.ok_or_else(|| Failure::new("BadCount", bad()))
}

pub(crate) fn permits(number: &Whole) -> Result<u32, Failure> {
    let bad = || format!("a request is for 1 to {MAX_LIMIT} permits, not {number}");
    within(number).ok_or_else(|| Failure::new("BadCount", bad()))
}

/// The largest number of other waiters. The crate accepts every number that fits.
pub(crate) fn max_waiting(number: &Whole) -> Result<u32, Failure> {
    let bad = || format!("max_waiting is 0 to {}, not {number}", u32::MAX);
    within(number).ok_or_else(|| Failure::new("BadCount", bad()))
}

/// The largest number of deliveries of an item.
pub(crate) fn deliveries(number: &Whole) -> Result<u32, Failure> {
    let bad = || format!("an item has 1 to {MAX_DELIVERIES} deliveries, not {number}");
    within(number).ok_or_else(|| Failure::new("BadSetting", bad()))
}

pub(crate) fn priority(number: &Whole) -> Result<i32, Failure> {
    let bad = || format!("a priority is -100 to 100, not {number}");
    within(number).ok_or_else(|| Failure::new("BadCount", bad()))
}

fn within<T: TryFrom<i64>>(number: &Whole) -> Option<T> {
    match number {
        Whole::Small(number) => T::try_from(*number).ok(),
        Whole::Large(_) => None,
    }
}
