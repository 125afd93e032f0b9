//! The actions: the question of each, its effect, and the sentence about its result.

use seinpaal::{ItemId, MIN_TTL};
use seinpaal_words::matching::Matching;

use crate::{
    deed::{Deed, NameDeed, QueueDeed},
    view::grouped,
};

/// An action on a name or a queue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verb {
    Limit,
    Pause,
    Resume,
    Evict,
    Ask,
    Reserve,
    QueueLimit,
    QueuePause,
    QueueResume,
    Purge,
    Cancel,
    CancelAll,
    Replay,
    ReplayAll,
    Drop,
    DropAll,
}

/// The words of an action. `*` stands for the ticket or item.
pub(crate) struct Words {
    pub(crate) verb: Verb,
    /// In addresses.
    pub(crate) word: &'static str,
    pub(crate) question: &'static str,
    pub(crate) consequence: &'static str,
    pub(crate) button: &'static str,
    pub(crate) keep: &'static str,
    pub(crate) done: &'static str,
    /// Something ends that cannot be had back.
    pub(crate) is_dangerous: bool,
}

impl Verb {
    /// By its word in an address.
    pub(crate) fn find(word: &str) -> Option<&'static Words> {
        WORDS.iter().find(|words| words.word == word)
    }

    /// The deed for this ticket or item, or with this number. `None` if the target is not what the
    /// action needs.
    pub(crate) fn deed(
        self,
        target: &str,
        number: Option<u32>,
        matching: &Matching,
    ) -> Option<Deed> {
        let item = || target.parse().ok().map(ItemId);
        let deed = match self {
            Self::Evict => Deed::Name(NameDeed::Evict(target.parse().ok()?)),
            Self::Ask => Deed::Name(NameDeed::Ask(target.parse().ok()?)),
            Self::Cancel => Deed::Queue(QueueDeed::Cancel(item()?)),
            Self::Replay => Deed::Queue(QueueDeed::Replay(item()?)),
            Self::Drop => Deed::Queue(QueueDeed::Drop(item()?)),
            _ if !target.is_empty() => return None,
            Self::Limit => Deed::Name(NameDeed::Limit(number)),
            Self::Pause => Deed::Name(NameDeed::Pause),
            Self::Resume => Deed::Name(NameDeed::Resume),
            Self::Reserve => Deed::Name(NameDeed::Reserve(number.unwrap_or(1), MIN_TTL)),
            Self::QueueLimit => Deed::Queue(QueueDeed::Limit(number)),
            Self::QueuePause => Deed::Queue(QueueDeed::Pause),
            Self::QueueResume => Deed::Queue(QueueDeed::Resume),
            Self::Purge => Deed::Queue(QueueDeed::Purge),
            Self::CancelAll => Deed::Queue(QueueDeed::CancelAll(matching.clone())),
            Self::ReplayAll => Deed::Queue(QueueDeed::ReplayAll(matching.clone())),
            Self::DropAll => Deed::Queue(QueueDeed::DropAll(matching.clone())),
        };
        Some(deed)
    }

    pub(crate) fn asks_number(self) -> bool {
        matches!(self, Self::Limit | Self::QueueLimit | Self::Reserve)
    }

    /// Returns whether it is for a while.
    pub(crate) fn asks_length(self) -> bool {
        self == Self::Reserve
    }

    pub(crate) fn needs_reason(self) -> bool {
        let needs = [
            Self::Pause,
            Self::Evict,
            Self::Ask,
            Self::Reserve,
            Self::QueuePause,
            Self::Purge,
            Self::CancelAll,
            Self::Drop,
            Self::DropAll,
        ];
        needs.contains(&self)
    }

    /// Returns whether the name has to be typed: very much is lost at once.
    pub(crate) fn is_typed(self) -> bool {
        matches!(self, Self::Purge | Self::CancelAll | Self::DropAll)
    }

    /// What it concerns all of, if it does not concern one: `*` stands for how many and which.
    pub(crate) fn of_many(self) -> Option<&'static str> {
        match self {
            Self::CancelAll => Some("Cancel * in work?"),
            Self::ReplayAll => Some("Replay * dead?"),
            Self::DropAll => Some("Drop * dead?"),
            _ => None,
        }
    }
}

const WORDS: [Words; 16] = [
    Words {
        verb: Verb::Limit,
        word: "limit",
        question: "Set the limit?",
        consequence: "It is in force whatever callers state, until it is let go. Below what is held nobody is thrown out, and nobody new gets in until it fits; 0 admits nobody. Leave the number empty to let go of a limit that was set.",
        button: "Set the limit",
        keep: "Leave it",
        done: "The limit was changed.",
        is_dangerous: false,
    },
    Words {
        verb: Verb::Pause,
        word: "pause",
        question: "Pause it?",
        consequence: "Who holds, holds. Nobody new gets in until somebody resumes it. The reason is shown to everybody who waits.",
        button: "Pause it",
        keep: "Leave it open",
        done: "Paused.",
        is_dangerous: false,
    },
    Words {
        verb: Verb::Resume,
        word: "resume",
        question: "Resume it?",
        consequence: "Those who fit get in at once, in their order.",
        button: "Resume it",
        keep: "Leave it paused",
        done: "Resumed.",
        is_dangerous: false,
    },
    Words {
        verb: Verb::Evict,
        word: "evict",
        question: "Evict *?",
        consequence: "A waiter loses its place. A holder loses its lease and is told at once: `seinpaal run` then ends its command with TERM, with KILL a little later, and exits with 122. A holder whose host is cut off cannot be told and may go on; only the fence protects the resource from it.",
        button: "Evict it",
        keep: "Keep it",
        done: "Evicted. Its owner was told, if it can be reached.",
        is_dangerous: true,
    },
    Words {
        verb: Verb::Ask,
        word: "ask",
        question: "Ask * to hand over?",
        consequence: "Nothing is ended. The holder is told who asks and why, by its next renewal at the latest, and decides by itself: `seinpaal run -v` prints it. Everybody who looks at the name reads it for as long as the holder holds.",
        button: "Ask it",
        keep: "Leave it alone",
        done: "Asked. Its holder is told by its next renewal at the latest.",
        is_dangerous: false,
    },
    Words {
        verb: Verb::Reserve,
        word: "reserve",
        question: "Reserve permits?",
        consequence: "You hold them, with your reason, until the time is over. They have to be free now; a reservation does not wait in line. To give them back sooner, evict the reservation.",
        button: "Reserve them",
        keep: "Leave them free",
        done: "Reserved.",
        is_dangerous: false,
    },
    Words {
        verb: Verb::QueueLimit,
        word: "queue-limit",
        question: "Set how many items may be in work?",
        consequence: "What is in work stays in work. Leave the number empty for any number.",
        button: "Set the limit",
        keep: "Leave it",
        done: "The limit was changed.",
        is_dangerous: false,
    },
    Words {
        verb: Verb::QueuePause,
        word: "queue-pause",
        question: "Pause the queue?",
        consequence: "What is in work stays in work. Nothing is delivered until somebody resumes it.",
        button: "Pause it",
        keep: "Leave it open",
        done: "Paused.",
        is_dangerous: false,
    },
    Words {
        verb: Verb::QueueResume,
        word: "queue-resume",
        question: "Resume the queue?",
        consequence: "Items are delivered again.",
        button: "Resume it",
        keep: "Leave it paused",
        done: "Resumed.",
        is_dangerous: false,
    },
    Words {
        verb: Verb::Purge,
        word: "purge",
        question: "Purge the queue?",
        consequence: "Everything that is ready or delayed is taken out for good. What is in work stays, and so do dead letters.",
        button: "Purge it",
        keep: "Keep the items",
        done: "Purged.",
        is_dangerous: true,
    },
    Words {
        verb: Verb::Cancel,
        word: "cancel",
        question: "Cancel item *?",
        consequence: "It is taken out for good. Whoever works on it is told at once.",
        button: "Cancel it",
        keep: "Keep it",
        done: "Cancelled.",
        is_dangerous: true,
    },
    Words {
        verb: Verb::CancelAll,
        word: "cancel-all",
        question: "Cancel what is in work?",
        consequence: "All of them, not only those on the page, are taken out for good, and their workers are told at once. What is delivered from now on stays.",
        button: "Cancel all of them",
        keep: "Keep them",
        done: "Cancelled.",
        is_dangerous: true,
    },
    Words {
        verb: Verb::Replay,
        word: "replay",
        question: "Replay item *?",
        consequence: "It becomes an item again, at the end of the line and with all its deliveries before it.",
        button: "Replay it",
        keep: "Leave it",
        done: "Replayed.",
        is_dangerous: false,
    },
    Words {
        verb: Verb::ReplayAll,
        word: "replay-all",
        question: "Replay all dead letters?",
        consequence: "All of them, not only those on the page, become items again at the end of the line. What dies from now on stays dead.",
        button: "Replay all",
        keep: "Leave them",
        done: "Replayed.",
        is_dangerous: false,
    },
    Words {
        verb: Verb::Drop,
        word: "drop",
        question: "Drop dead letter *?",
        consequence: "It is forgotten for good, with its payload.",
        button: "Drop it",
        keep: "Keep it",
        done: "Dropped.",
        is_dangerous: true,
    },
    Words {
        verb: Verb::DropAll,
        word: "drop-all",
        question: "Drop all dead letters?",
        consequence: "All of them, not only those on the page, are forgotten for good, with their payloads. What dies from now on stays.",
        button: "Drop all",
        keep: "Keep them",
        done: "Dropped.",
        is_dangerous: true,
    },
];

/// The message on the page to which the browser returns, with how many items were concerned.
pub(crate) fn done(word: &str, count: &str) -> String {
    let Some(words) = Verb::find(word) else { return String::new() };
    match count.parse::<u64>() {
        Ok(1) => format!("{} It was 1 item.", words.done),
        Ok(items) => format!("{} It was {} items.", words.done, grouped(items)),
        Err(_) => words.done.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_found_by_its_word_alone() {
        let mut words: Vec<_> = WORDS.iter().map(|words| words.word).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), WORDS.len());
        assert!(words.iter().all(|word| Verb::find(word).is_some_and(|found| found.word == *word)));
        assert!(Verb::find("delete").is_none());
    }
}
