//! An answer of the node script, taken apart word by word.

use seinpaal_proto::{Kind, Ticket, time::UNBOUNDED};
use seinpaal_redis::node::Value;

/// Reads a number that Lua can hold exactly. No node answers with one beyond 2^53, so adding a few
/// of them never overflows.
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

    pub(super) fn expect(&mut self, word: &str) -> Option<()> {
        (self.word()? == word).then_some(())
    }

    /// The rest of the answer, which is text that people wrote, or a list.
    pub(super) fn rest(&self) -> &'a str {
        self.0
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
    pub(super) fn limit_or_none(&mut self) -> Option<Option<u32>> {
        match self.parsed::<i64>()? {
            -1 => Some(None),
            limit => u32::try_from(limit).ok().map(Some),
        }
    }

    /// A reason behind `1`, which may be empty, or `0`. It stands last, because it may contain
    /// spaces.
    pub(super) fn reason(&self) -> Option<Option<String>> {
        match self.0.split_at_checked(1)? {
            ("0", "") => Some(None),
            ("1", reason) => Some(Some(reason.to_owned())),
            _ => None,
        }
    }
}
