//! The values on the command line. Each is parsed here, and only once.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, RangedI64ValueParser, TypedValueParser};
use seinpaal::{
    ItemId, ItemState, MAX_LIMIT, MAX_TTL, MIN_TTL, Name, Permits, SlotNames,
    store::url::parse_duration,
};
use seinpaal_words::ticket::TicketStart;

pub(super) use super::time::time;

/// One item, or all of them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Which {
    All,
    One(ItemId),
}

/// A limit. `None`: any number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Most(pub(crate) Option<u32>);

pub(super) fn name(text: &str) -> Result<Name, String> {
    Name::new(text).map_err(|error| error.to_string())
}

/// Reads names with commas between them.
pub(super) fn slot_names(text: &str) -> Result<SlotNames, String> {
    SlotNames::new(text.split(',')).map_err(|error| error.to_string())
}

/// Reads `NAME` or `NAME:W`.
pub(super) fn also(text: &str) -> Result<(Name, u32), String> {
    let (name, permits) = match text.rsplit_once(':') {
        Some((name, digits)) if is_number(digits) => {
            let permits = digits.parse().map_err(|_| format!("W is 1 to {MAX_LIMIT}"))?;
            (name, Permits::new(permits).map_err(|error| error.to_string())?)
        }
        _ => (text, Permits::ONE),
    };
    Ok((self::name(name)?, permits.get()))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

pub(super) fn ticket(text: &str) -> Result<TicketStart, String> {
    TicketStart::read(text).ok_or_else(|| {
        "a ticket is 32 hexadecimal digits, as `acquire` prints it, the first of them, or 7c02e1aa-1f, as `show` lists it"
            .to_owned()
    })
}

pub(super) fn item(text: &str) -> Result<ItemId, String> {
    let id = text.parse().ok().filter(|_| is_number(text));
    id.ok_or_else(|| "an item is a number, as `queue push` printed it".to_owned())
}

/// Reads the word of a state.
pub(super) fn state() -> impl TypedValueParser<Value = ItemState> {
    PossibleValuesParser::new(ItemState::ALL.map(ItemState::word))
        .try_map(|word: String| word.parse::<ItemState>())
}

pub(super) fn which(text: &str) -> Result<Which, String> {
    if text == "all" { Ok(Which::All) } else { item(text).map(Which::One) }
}

/// Reads a number, or `none`.
pub(super) fn limit(text: &str) -> Result<Most, String> {
    if text == "none" {
        return Ok(Most(None));
    }
    let number = text.parse().ok().filter(|number| is_number(text) && *number <= MAX_LIMIT);
    number
        .map(|number| Most(Some(number)))
        .ok_or_else(|| format!("it is 0 to {MAX_LIMIT}, or none"))
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

pub(super) fn interval(text: &str) -> Result<Duration, String> {
    let interval = duration(text)?;
    let bounds = Duration::from_millis(100)..=Duration::from_secs(3600);
    let is_fit = bounds.contains(&interval);
    is_fit.then_some(interval).ok_or_else(|| "an interval is 100ms to 1h".to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, u32) {
        let (name, permits) = also(text).unwrap();
        (name.as_str().to_owned(), permits)
    }

    #[test]
    fn also_names_one_permit_or_as_many_as_the_last_number_says() {
        assert_eq!(read("disk"), ("disk".into(), 1));
        assert_eq!(read("disk:3"), ("disk".into(), 3));
        assert_eq!(read("a:b"), ("a:b".into(), 1));
        assert_eq!(read("port:80:1"), ("port:80".into(), 1));
        assert_eq!(read("a:"), ("a:".into(), 1));
    }

    #[test]
    fn also_refuses_what_nobody_can_have() {
        for text in ["", "disk:0", "disk:99999999999", ":2", "a\nb"] {
            assert!(also(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn whatever_is_written_is_read_or_refused_in_one_line() {
        const VALUES: [&str; 5] =
            ["disk:3", "team=blue", "1.5m", "ünïcode:1", "0123456789abcdef0123456789abcdef"];
        const PIECES: [&str; 10] =
            ["", ":", "=", ".", "-", "0", "\n", "\u{1b}[0m", "ß", "99999999999999999999"];
        for value in VALUES {
            for (at, _) in value.char_indices() {
                for piece in PIECES {
                    must_be_read_or_refused(&format!("{}{piece}{}", &value[..at], &value[at..]));
                    must_be_read_or_refused(&format!("{piece}{}", &value[at..]));
                }
            }
        }
    }

    fn must_be_read_or_refused(value: &str) {
        let refusals = [
            also(value).err(),
            name(value).err(),
            ticket(value).err(),
            which(value).err(),
            limit(value).err(),
            time(value).err(),
            above_zero(value).err(),
            ttl(value).err(),
            label(value).err(),
            text(value).err(),
        ];
        for refusal in refusals.into_iter().flatten() {
            assert!(!refusal.contains(char::is_control), "{value:?}: {refusal:?}");
        }
    }
}
