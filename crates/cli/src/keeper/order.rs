//! The order of `acquire` to its keeper. On the keeper's command line it stands before the words of
//! `acquire`.

use std::{ffi::OsString, os::fd::RawFd};

/// The argument that makes this program a keeper. No command has this name.
const ARGUMENT: &str = "--keeper";

/// The descriptors that a keeper inherits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct KeeperOrder {
    /// The descriptor to which the keeper writes its events.
    pub(super) events: RawFd,
    /// The descriptor of the process until whose end the keeper holds the permits.
    pub(super) process: RawFd,
}

impl KeeperOrder {
    pub(super) fn words(self) -> [String; 3] {
        [ARGUMENT.to_owned(), self.events.to_string(), self.process.to_string()]
    }

    /// Splits the words of the command line into the order, if there is one, and the other words.
    pub(crate) fn split(mut words: Vec<OsString>) -> (Option<Self>, Vec<OsString>) {
        let order = Self::read(&words);
        if order.is_some() {
            words.drain(1..4);
        }
        (order, words)
    }

    fn read(words: &[OsString]) -> Option<Self> {
        let number = |at: usize| words.get(at)?.to_str()?.parse().ok();
        let is_order = words.get(1).is_some_and(|first| first == ARGUMENT);
        is_order.then_some(())?;
        Some(Self { events: number(2)?, process: number(3)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_was_written_and_the_rest_is_left() {
        let order = KeeperOrder { events: 5, process: 7 };
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let mut line = words(&["seinpaal"]);
        line.extend(order.words().map(OsString::from));
        line.extend(words(&["acquire", "a"]));
        assert_eq!(KeeperOrder::split(line), (Some(order), words(&["seinpaal", "acquire", "a"])));
        let plain = words(&["seinpaal", "acquire", "--keeper"]);
        assert_eq!(KeeperOrder::split(plain.clone()), (None, plain));
    }
}
