//! For what `--once-per` runs something once.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use seinpaal::MAX_TTL;

use super::values;

/// The shortest time that is worth remembering.
const LEAST: Duration = Duration::from_secs(1);

/// For what something is run once.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum OncePer {
    /// For this text.
    Key(String),
    /// For each period of this length.
    Period {
        /// The flag's value as the user wrote it.
        text: String,
        length: Duration,
    },
}

impl OncePer {
    /// The key at this moment of this machine's clock. It is that clock, and not the store's,
    /// because it is the one that started this program: a machine that is late or early knows which
    /// period it was started for.
    pub(crate) fn key(&self, now: SystemTime) -> String {
        match self {
            Self::Key(key) => key.clone(),
            Self::Period { text, length } => {
                let since = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
                let length = length.as_millis().max(1);
                // Whole seconds tell any two periods apart, because a period lasts a second or more.
                format!("{text}@{}", since / length * length / 1000)
            }
        }
    }
}

pub(super) fn key(text: &str) -> Result<OncePer, String> {
    let text = values::text(text)?;
    if text.is_empty() {
        return Err("it cannot be empty".to_owned());
    }
    // A bare number is a key: 2026 is a year, and not some half an hour.
    let is_length = text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_ascii_alphabetic());
    match values::duration(&text) {
        Ok(length) if is_length && length >= LEAST => Ok(OncePer::Period { text, length }),
        Ok(_) if is_length => Err("a period is at least 1s long".to_owned()),
        _ => Ok(OncePer::Key(text)),
    }
}

pub(super) fn remember(text: &str) -> Result<Duration, String> {
    let remember = values::duration(text)?;
    if (LEAST..=MAX_TTL).contains(&remember) {
        Ok(remember)
    } else {
        Err("it is 1s to 24h".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn a_length_stands_for_the_tick_that_it_is_in() {
        let hour = key("1h").unwrap();
        assert_eq!(hour.key(at(7200)), "1h@7200");
        assert_eq!(hour.key(at(10799)), "1h@7200");
        assert_eq!(hour.key(at(10800)), "1h@10800");
        assert_eq!(key("1d").unwrap().key(at(86_400 * 3 + 5)), "1d@259200");
    }

    #[test]
    fn any_other_text_is_a_key() {
        for text in ["2026-11-23-10", "2026", "v1.2", "a b", "10", "release m"] {
            assert_eq!(key(text).unwrap().key(at(5)), text);
        }
        assert!(key("").is_err() && key("a\nb").is_err() && key("5ms").is_err());
    }
}
