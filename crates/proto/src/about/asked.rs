//! Asks: a person asks a holder to hand over, and says why. A store keeps the asks behind the
//! holder's description of itself. So they take no room where nobody asks, and need no field of
//! their own in any store.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};
use core::fmt;

use super::{ASK, PAIR};
use crate::time::Micros;

/// The longest name of a person who asks, in bytes of UTF-8.
const MAX_BY_BYTES: usize = 128;
/// The longest reason, in bytes of UTF-8.
const MAX_REASON_BYTES: usize = 512;
/// The number of asks that are kept of one grant. The oldest goes first.
const MOST_ASKS: usize = 8;

/// A request of a person that a holder hand over. The ask itself ends nothing.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct HandOverAsk {
    by: String,
    reason: String,
}

/// Why a text cannot be told to a holder.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BadAsk {
    /// The name of the person who asks is not 1 to 128 bytes without control characters.
    By,
    /// The reason is not 1 to 512 bytes without control characters.
    Reason,
}

/// An ask about a grant, and when it was made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoredAsk {
    /// The person who asks, and the reason.
    pub ask: HandOverAsk,
    /// How long the ticket had been held when the ask was made.
    pub after: Micros,
}

impl HandOverAsk {
    /// Checks both texts. `by` has 1 to 128 bytes and `reason` 1 to 512, without control
    /// characters.
    ///
    /// [`BadAsk`] says which of the two texts is wrong.
    pub fn new(by: &str, reason: &str) -> Result<Self, BadAsk> {
        let is_good = |text: &str, most: usize| {
            (1..=most).contains(&text.len()) && !text.chars().any(char::is_control)
        };
        if !is_good(by, MAX_BY_BYTES) {
            return Err(BadAsk::By);
        }
        if !is_good(reason, MAX_REASON_BYTES) {
            return Err(BadAsk::Reason);
        }
        Ok(Self { by: by.to_owned(), reason: reason.to_owned() })
    }

    /// Returns the name of the person who asks.
    #[must_use]
    pub fn by(&self) -> &str {
        &self.by
    }

    /// Returns the reason.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns the text that a store keeps of a holder, with this ask at its end. `None`: the text
    /// has this ask already.
    pub(crate) fn added_to(&self, about: &str, after: Micros) -> Option<String> {
        let mut asks = StoredAsk::list(about);
        if asks.iter().any(|stored| stored.ask == *self) {
            return None;
        }
        asks.push(StoredAsk { ask: self.clone(), after });
        let mut text = said_by_the_holder(about).to_owned();
        for StoredAsk { ask, after } in &asks[asks.len().saturating_sub(MOST_ASKS)..] {
            text += &format!("{ASK}{after}{PAIR}{}{PAIR}{}", ask.by, ask.reason);
        }
        Some(text)
    }
}

impl StoredAsk {
    /// Reads the asks from the text that a store keeps of a holder, the oldest first. An ask that
    /// is malformed is left out.
    #[must_use]
    pub fn list(about: &str) -> Vec<Self> {
        about.split(ASK).skip(1).filter_map(Self::read).collect()
    }

    fn read(text: &str) -> Option<Self> {
        let mut fields = text.splitn(3, PAIR);
        let after = fields.next()?.parse().ok()?;
        let ask = HandOverAsk::new(fields.next()?, fields.next()?).ok()?;
        Some(Self { ask, after })
    }
}

/// Returns the holder's description of itself, without the asks behind it.
pub(super) fn said_by_the_holder(about: &str) -> &str {
    about.split(ASK).next().unwrap_or_default()
}

impl fmt::Display for BadAsk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::By => {
                "the name of the person who asks has 1 to 128 bytes and no control characters"
            }
            Self::Reason => "a reason has 1 to 512 bytes and no control characters",
        })
    }
}

impl core::error::Error for BadAsk {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{About, RenewalPromise, time::SECOND};

    fn ask(by: &str) -> HandOverAsk {
        HandOverAsk::new(by, "a release is due").unwrap()
    }

    #[test]
    fn an_ask_leaves_the_description_of_the_holder_unchanged() {
        let promise = RenewalPromise::to(60 * SECOND);
        let labels = [("job".to_owned(), "42".to_owned())].to_vec();
        let holder = About { client: "run".into(), host: "ada".into(), pid: 7, labels };
        let about = holder.encode() + &promise.mark();
        let asked = ask("eve").added_to(&about, 5).unwrap();
        assert_eq!((About::decode(&asked), RenewalPromise::of(&asked)), (holder, promise));
        assert_eq!(StoredAsk::list(&asked), [StoredAsk { ask: ask("eve"), after: 5 }]);
        assert_eq!(StoredAsk::list(&about), []);
    }

    #[test]
    fn the_same_ask_is_kept_once_and_the_oldest_of_nine_is_forgotten() {
        let mut about = String::new();
        for n in 0..9 {
            about = ask(&format!("p{n}")).added_to(&about, n).unwrap();
            assert_eq!(ask(&format!("p{n}")).added_to(&about, n + 1), None);
        }
        let kept: Vec<_> = StoredAsk::list(&about).into_iter().map(|stored| stored.after).collect();
        assert_eq!(kept, [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn a_text_that_cannot_be_told_is_refused() {
        assert_eq!(HandOverAsk::new("", "why"), Err(BadAsk::By));
        assert_eq!(HandOverAsk::new("eve\n", "why"), Err(BadAsk::By));
        assert_eq!(HandOverAsk::new("eve", ""), Err(BadAsk::Reason));
        assert_eq!(HandOverAsk::new("eve", &"x".repeat(513)), Err(BadAsk::Reason));
        assert_eq!(HandOverAsk::new("eve", "a\u{1d}b"), Err(BadAsk::Reason));
    }
}
