//! Instants on the command line.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use seinpaal_words::calendar::day_number;

const DAY: i64 = 86_400;

/// Reads an instant: `2030-01-31T09:00:00Z`, with a fraction or an offset like `+01:00` if needed,
/// or `@SECONDS`.
pub(super) fn time(text: &str) -> Result<SystemTime, String> {
    let seconds = match text.strip_prefix('@') {
        Some(seconds) => seconds.parse().ok().filter(|_| is_number(seconds)),
        None => instant(text),
    };
    let time = seconds
        .filter(|seconds: &f64| *seconds >= 0.0)
        .and_then(|seconds| UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(seconds).ok()?));
    time.ok_or_else(|| "write 2030-01-31T09:00:00Z, or @SECONDS since 1970".to_owned())
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Reads a date and a time as seconds since 1970.
fn instant(text: &str) -> Option<f64> {
    let (day, rest) = text.split_once(['T', 't', ' '])?;
    let [year, month, day] = numbers(day, '-')?;
    let clock_ends = rest.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = rest.split_at(clock_ends);
    let (clock, fraction) = match clock.split_once('.') {
        Some((clock, digits)) if is_number(digits) => (clock, format!("0.{digits}").parse().ok()?),
        Some(_) => return None,
        None => (clock, 0.0),
    };
    let [hour, minute, second] = numbers(clock, ':')?;
    let is_clock = hour < 24 && minute < 60 && second <= 60;
    let day = day_number(year, month, day).filter(|_| is_clock)?;
    Some((day * DAY + hour * 3600 + minute * 60 + second - offset(zone)?) as f64 + fraction)
}

/// Reads a zone as the seconds by which it is ahead of UTC.
fn offset(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let [hours, minutes, _] = numbers(&format!("{hours}:{minutes}:00"), ':')?;
    let ahead = (hours < 24 && minutes < 60).then_some(hours * 3600 + minutes * 60)?;
    Some(if zone.starts_with('-') { -ahead } else { ahead })
}

fn numbers(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut parts = text.split(separator);
    let mut number = || {
        let part = parts.next()?;
        let is_plain = (2..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        is_plain.then(|| part.parse().ok())?
    };
    let numbers = [number()?, number()?, number()?];
    parts.next().is_none().then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<f64> {
        let since = time(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(since.as_secs_f64())
    }

    #[test]
    fn instants_are_read_as_they_are_written_elsewhere() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(seconds("2000-02-29T12:30:15Z"), Some(951_827_415.0));
        assert_eq!(seconds("2030-01-31T09:00:00+01:00"), Some(1_896_076_800.0));
        assert_eq!(seconds("2030-01-31 07:30:00.5-00:30"), Some(1_896_076_800.5));
        assert_eq!(seconds("@951827415"), Some(951_827_415.0));
        assert_eq!(seconds("@0.25"), Some(0.25));
    }

    #[test]
    fn what_is_no_instant_is_refused() {
        for text in [
            "",
            "@",
            "@-1",
            "@1e9",
            "tomorrow",
            "2030-01-31",
            "2030-02-29T00:00:00Z",
            "2030-13-01T00:00:00Z",
            "2030-01-31T24:00:00Z",
            "2030-01-31T09:00:00",
            "2030-01-31T09:00Z",
            "2030-01-31T09:00:00+1",
            "1969-12-31T23:59:59Z",
            "2030-01-31T09:00:00.Z",
            "2030-01-31T09:00:00Zulu",
        ] {
            assert!(time(text).is_err(), "{text:?}");
        }
    }
}
