//! An answer of a script, taken apart word by word.

use redis::Value;
use seinpaal_proto::time::UNBOUNDED;

/// Reads a number that Lua can hold exactly. No script answers with one beyond 2^53, so adding a
/// few of them never overflows.
pub(super) fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| *number <= UNBOUNDED)
}

/// An answer, word by word.
pub(super) struct ReplyWords<'a>(&'a str);

impl<'a> ReplyWords<'a> {
    /// `None` if the answer is no text.
    pub(super) fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::BulkString(bytes) => std::str::from_utf8(bytes).ok().map(Self),
            Value::SimpleString(text) => Some(Self(text)),
            _ => None,
        }
    }

    /// The next word, or `None` at the end.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        let (word, rest) = self.0.split_once(' ').unwrap_or((self.0, ""));
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }

    /// The rest of the answer, which is text that people wrote.
    pub(super) fn rest(&self) -> &'a str {
        self.0
    }

    /// Reads a text behind the number of its bytes. Returns that text, and the rest of the answer.
    pub(super) fn counted(mut self) -> Option<(&'a str, &'a str)> {
        let bytes = self.parsed()?;
        self.0.split_at_checked(bytes)
    }

    /// Reads the next word as a value.
    pub(super) fn parsed<T: std::str::FromStr>(&mut self) -> Option<T> {
        self.word()?.parse().ok()
    }

    /// Reads the next word as a [`number`].
    pub(super) fn number(&mut self) -> Option<u64> {
        number(self.word()?)
    }

    pub(super) fn flag(&mut self) -> Option<bool> {
        match self.word()? {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        }
    }

    pub(super) fn or_dash(&mut self) -> Option<Option<u64>> {
        match self.word()? {
            "-" => Some(None),
            text => number(text).map(Some),
        }
    }

    pub(super) fn expect(&mut self, word: &str) -> Option<()> {
        (self.word()? == word).then_some(())
    }
}

/// A whole number from 0 to 2^53, as Lua has it.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in range")]
pub(super) fn exact(bytes: &[u8], at: usize) -> Option<u64> {
    let number = f64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?);
    (0.0..=9_007_199_254_740_992.0).contains(&number).then_some(number as u64)
}

/// A number as Lua has it. A number that Lua cannot hold exactly becomes one that is out of every
/// range.
#[allow(clippy::cast_precision_loss, reason = "it is exact up to the bound")]
pub(super) fn double(number: u64) -> [u8; 8] {
    (number.min(UNBOUNDED) as f64).to_le_bytes()
}
