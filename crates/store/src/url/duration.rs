//! Durations as people write them.

use std::{error::Error, fmt, time::Duration};

/// The longest duration: a hundred years. Adding a duration to an instant therefore never
/// overflows.
pub const LONGEST_DURATION: Duration = Duration::from_secs(100 * 366 * 24 * 3600);

const NANOS_A_SECOND: u64 = 1_000_000_000;
const UNITS: [(&str, u64); 5] = [
    ("ms", 1_000_000),
    ("s", NANOS_A_SECOND),
    ("m", 60 * NANOS_A_SECOND),
    ("h", 3600 * NANOS_A_SECOND),
    ("d", 24 * 3600 * NANOS_A_SECOND),
];

/// Parses `500ms`, `2s`, `1.5m`, `2h`, `1d`; a bare number is seconds. Fractions of a nanosecond
/// are cut off.
///
/// # Errors
/// [`BadDuration`] if the text is anything else, or longer than [`LONGEST_DURATION`].
pub fn parse_duration(text: &str) -> Result<Duration, BadDuration> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = unit(&text[number.len()..]).ok_or_else(|| BadDuration::malformed(text))?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return Err(BadDuration::malformed(text));
    }
    let nanos = whole_nanos(whole, unit)
        .and_then(|nanos| nanos.checked_add(fraction_nanos(fraction, unit)))
        .ok_or(BadDuration::TooLong)?;
    let duration = Duration::new(
        u64::try_from(nanos / u128::from(NANOS_A_SECOND)).map_err(|_| BadDuration::TooLong)?,
        (nanos % u128::from(NANOS_A_SECOND)) as u32,
    );
    if duration > LONGEST_DURATION { Err(BadDuration::TooLong) } else { Ok(duration) }
}

fn unit(text: &str) -> Option<u64> {
    if text.is_empty() {
        return Some(NANOS_A_SECOND);
    }
    UNITS.iter().find(|(name, _)| *name == text).map(|(_, nanos)| *nanos)
}

fn whole_nanos(digits: &str, unit: u64) -> Option<u128> {
    digits.parse::<u128>().ok()?.checked_mul(u128::from(unit))
}

/// Returns the nanoseconds of a decimal fraction. The longest unit has fourteen digits of
/// nanoseconds, so digits after the fifteenth add none.
fn fraction_nanos(digits: &str, unit: u64) -> u128 {
    let digits = &digits[..digits.len().min(15)];
    let scale = 10_u128.pow(digits.len() as u32);
    digits.parse::<u128>().unwrap_or(0) * u128::from(unit) / scale
}

/// Why a text is not a duration.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BadDuration {
    /// The text is not a number with a unit.
    Malformed(String),
    /// The duration is longer than [`LONGEST_DURATION`].
    TooLong,
}

impl BadDuration {
    fn malformed(text: &str) -> Self {
        Self::Malformed(text.to_owned())
    }
}

impl fmt::Display for BadDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(text) => {
                write!(f, "not a duration: {text:?} (write 500ms, 2s, 1.5m, 2h or 1d)")
            }
            Self::TooLong => f.write_str("a duration is at most a hundred years"),
        }
    }
}

impl Error for BadDuration {}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(text: &str) -> u128 {
        parse_duration(text).unwrap().as_millis()
    }

    #[test]
    fn every_unit_and_a_bare_number_of_seconds_are_read() {
        let read = ["500ms", "2s", "1.5m", "2h", "1d", "3", "0.25", "0"].map(millis);
        assert_eq!(read, [500, 2_000, 90_000, 7_200_000, 86_400_000, 3_000, 250, 0]);
    }

    #[test]
    fn decimals_are_exact_to_the_nanosecond() {
        assert_eq!(parse_duration("0.1").unwrap(), Duration::from_millis(100));
        assert_eq!(parse_duration("1.000000001").unwrap(), Duration::new(1, 1));
    }

    #[test]
    fn what_is_not_a_duration_is_refused() {
        for text in
            ["", " ", "s", "-1s", "+1", "1e3", "1 s", "1.", ".5", "1.5.5s", "5x", "1S", "inf", "١s"]
        {
            assert_eq!(parse_duration(text), Err(BadDuration::malformed(text)), "{text:?}");
        }
    }

    #[test]
    fn what_would_overflow_is_refused() {
        for text in ["36601d", "99999999999999999999999999d", &"9".repeat(99)] {
            assert_eq!(parse_duration(text), Err(BadDuration::TooLong), "{text:?}");
        }
    }
}
