//! Values on the command line: parsed once, right here.

use std::time::Duration;

use clap::builder::RangedI64ValueParser;
use seinpaal::{
    proto::{Name, Ticket, time},
    store::url::parse_duration,
};

const MIN_TTL: Duration = Duration::from_micros(time::MIN_TTL);
const MAX_TTL: Duration = Duration::from_micros(time::MAX_TTL);

pub(super) fn name(text: &str) -> Result<Name, String> {
    Name::new(text).map_err(|error| error.to_string())
}

pub(super) fn ticket(text: &str) -> Result<Ticket, String> {
    text.parse()
        .map_err(|_| "a ticket is 32 hexadecimal digits, as `acquire` printed it".to_owned())
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|_| "write 500ms, 2s, 1.5m, 2h or 1d".to_owned())
}

pub(super) fn above_zero(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("it must be above zero".to_owned()),
        duration => Ok(duration),
    }
}

pub(super) fn ttl(text: &str) -> Result<Duration, String> {
    let ttl = duration(text)?;
    if (MIN_TTL..=MAX_TTL).contains(&ttl) {
        Ok(ttl)
    } else {
        Err("a ttl is 100ms to 24h".to_owned())
    }
}

pub(super) fn count(most: u32) -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(most))
}

pub(super) fn count_or_zero(most: u32) -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(0..=i64::from(most))
}

pub(super) fn label(text: &str) -> Result<(String, String), String> {
    match self::text(text)?.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("a label is KEY=VALUE".to_owned()),
    }
}

pub(super) fn text(text: &str) -> Result<String, String> {
    if text.chars().any(char::is_control) {
        return Err("it cannot have control characters in it".to_owned());
    }
    Ok(text.to_owned())
}
