//! An answer of a script, taken apart word by word.

use redis::Value;
use seinpaal_proto::{Kind, Ticket, time::UNBOUNDED};

/// Reads a number that Lua can hold exactly. No script answers with one beyond 2^53, so adding a
/// few of them never overflows.
pub fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| *number <= UNBOUNDED)
}

/// An answer, word by word.
pub struct ReplyWords<'a>(&'a str);

impl<'a> ReplyWords<'a> {
    /// `None` if the answer is no text.
    pub fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::BulkString(bytes) => std::str::from_utf8(bytes).ok().map(Self),
            Value::SimpleString(text) => Some(Self(text)),
            _ => None,
        }
    }

    /// The next word, or `None` at the end.
    pub fn word(&mut self) -> Option<&'a str> {
        let (word, rest) = self.0.split_once(' ').unwrap_or((self.0, ""));
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }

    /// The rest of the answer, which is text that people wrote.
    pub fn rest(&self) -> &'a str {
        self.0
    }

    /// Reads a text behind the number of its bytes. Returns that text, and the rest of the answer.
    pub(crate) fn counted(mut self) -> Option<(&'a str, &'a str)> {
        let bytes = self.parsed()?;
        self.0.split_at_checked(bytes)
    }

    /// Reads the next word as a value.
    pub fn parsed<T: std::str::FromStr>(&mut self) -> Option<T> {
        self.word()?.parse().ok()
    }

    /// Reads the next word as a [`number`].
    pub fn number(&mut self) -> Option<u64> {
        number(self.word()?)
    }

    pub(crate) fn flag(&mut self) -> Option<bool> {
        match self.word()? {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        }
    }

    pub(crate) fn or_dash(&mut self) -> Option<Option<u64>> {
        match self.word()? {
            "-" => Some(None),
            text => number(text).map(Some),
        }
    }

    pub(super) fn ticket_or_dash(&mut self) -> Option<Option<Ticket>> {
        match self.word()? {
            "-" => Some(None),
            ticket => ticket.parse().ok().map(Some),
        }
    }

    pub(super) fn kind(&mut self) -> Option<Kind> {
        self.parsed().and_then(Kind::of_letter)
    }

    pub(super) fn kind_or_dash(&mut self) -> Option<Option<Kind>> {
        match self.word()? {
            "-" => Some(None),
            letter => Kind::of_letter(letter.parse().ok()?).map(Some),
        }
    }

    /// A limit, or −1 where there is none.
    pub fn limit_or_none(&mut self) -> Option<Option<u32>> {
        match self.parsed::<i64>()? {
            -1 => Some(None),
            limit => u32::try_from(limit).ok().map(Some),
        }
    }

    pub(crate) fn expect(&mut self, word: &str) -> Option<()> {
        (self.word()? == word).then_some(())
    }
}
