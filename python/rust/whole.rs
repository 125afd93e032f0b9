//! Whole numbers as Python has them, which are of any size.

use std::fmt;

use pyo3::{exceptions::PyOverflowError, prelude::*};

use crate::failure::Failure;

/// A whole number. One that is too large is refused with the words for any other bad number, and
/// not with those for an overflow in here. What is no whole number is a `TypeError`.
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

/// How many, for the crate, which has bounds of its own.
pub(crate) fn count(what: &str, number: &Whole) -> Result<u32, Failure> {
    within(number).ok_or_else(|| refused(what, &format!("0 to {}", u32::MAX), number))
}

/// A rank, for the crate, which has bounds of its own.
pub(crate) fn rank(number: &Whole) -> Result<i32, Failure> {
    within(number).ok_or_else(|| refused("a priority", "-100 to 100", number))
}

fn within<T: TryFrom<i64>>(number: &Whole) -> Option<T> {
    match number {
        Whole::Small(number) => T::try_from(*number).ok(),
        Whole::Large(_) => None,
    }
}

fn refused(what: &str, range: &str, number: &Whole) -> Failure {
    Failure::new("BadCount", format!("{what} is {range}, not {number}"))
}
