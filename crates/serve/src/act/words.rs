//! The words of the actions: the question of each, its effect, and the sentence about its result.

use seinpaal::ItemState;

use super::verb::Verb;
use crate::view::grouped;

/// The words of an action. In the question, `*` stands for the ticket or item, and `@` for the
/// name.
pub(crate) struct ActionWords {
    pub(crate) verb: Verb,
    /// The word of the action in addresses.
    pub(crate) word: &'static str,
    pub(crate) question: &'static str,
    consequence: &'static str,
    pub(crate) button: &'static str,
    pub(crate) keep: &'static str,
    pub(crate) done: &'static str,
    /// Whether the action cannot be undone.
    pub(crate) is_dangerous: bool,
}

impl ActionWords {
    /// Finds an action by its word in an address.
    pub(crate) fn find(word: &str) -> Option<&'static Self> {
        WORDS.iter().find(|words| words.word == word)
    }

    /// Returns the consequence of the action for items of this state.
    pub(crate) fn consequence(&self, state: ItemState) -> &'static str {
        match self.verb {
            Verb::CancelAll if state != ItemState::InWork => CANCELS_WAITING,
            _ => self.consequence,
        }
    }
}

const CANCELS_WAITING: &str = "All of them, not only those on the page, are taken out for good. Items that a worker takes in the meantime stay, and so do items that are pushed from now on.";

/// The words of all actions.
const WORDS: [ActionWords; 15] = [
    ActionWords {
        verb: Verb::Limit,
        word: "limit",
        question: "Set the limit of @?",
        consequence: "This limit overrides what callers state, until it is unset. A limit below the number of held permits evicts nobody, and admits nobody until enough permits are given back. 0 admits nobody. Leave the number empty to unset a limit.",
        button: "Set the limit",
        keep: "Leave it",
        done: "The limit was changed.",
        is_dangerous: false,
    },
    ActionWords {
        verb: Verb::Pause,
        word: "pause",
        question: "Pause @?",
        consequence: "Holders keep their permits. Nobody new gets in until somebody resumes the name. Every waiter is shown the reason.",
        button: "Pause it",
        keep: "Leave it open",
        done: "Paused.",
        is_dangerous: false,
    },
    ActionWords {
        verb: Verb::Resume,
        word: "resume",
        question: "Resume @?",
        consequence: "Waiters that fit get in at once, in their order.",
        button: "Resume it",
        keep: "Leave it paused",
        done: "Resumed.",
        is_dangerous: false,
    },
    ActionWords {
        verb: Verb::Evict,
        word: "evict",
        question: "Evict * of @?",
        consequence: "A waiter loses its place. A holder loses its lease and is told at once: `seinpaal run` then ends its command with TERM, with KILL a little later, and exits with 122. A holder whose host is cut off cannot be told and may go on; only the fence protects the resource from it.",
        button: "Evict it",
        keep: "Keep it",
        done: "Evicted. The client was told, if it can be reached.",
        is_dangerous: true,
    },
    ActionWords {
        verb: Verb::Reserve,
        word: "reserve",
        question: "Reserve permits of @?",
        consequence: "You hold them, with your reason, until the time is over. They have to be free now, because a reservation does not wait in line. To give them back sooner, evict the reservation.",
        button: "Reserve them",
        keep: "Leave them free",
        done: "Reserved.",
        is_dangerous: false,
    },
    ActionWords {
        verb: Verb::QueueLimit,
        word: "queue-limit",
        question: "Set how many items of @ may be in work?",
        consequence: "Items in work stay in work. Leave the number empty for any number.",
        button: "Set the limit",
        keep: "Leave it",
        done: "The limit was changed.",
        is_dangerous: false,
    },
    ActionWords {
        verb: Verb::QueuePause,
        word: "queue-pause",
        question: "Pause the queue @?",
        consequence: "Items in work stay in work. Nothing is delivered until somebody resumes the queue.",
        button: "Pause it",
        keep: "Leave it open",
        done: "Paused.",
        is_dangerous: false,
    },
    ActionWords {
        verb: Verb::QueueResume,
        word: "queue-resume",
        question: "Resume the queue @?",
        consequence: "Items are delivered again.",
        button: "Resume it",
        keep: "Leave it paused",
        done: "Resumed.",
        is_dangerous: false,
    },
    ActionWords {
        verb: Verb::Purge,
        word: "purge",
        question: "Purge the queue @?",
        consequence: "All ready and delayed items are taken out for good. Items in work and dead letters stay.",
        button: "Purge it",
        keep: "Keep the items",
        done: "Purged.",
        is_dangerous: true,
    },
    ActionWords {
        verb: Verb::Cancel,
        word: "cancel",
        question: "Cancel item * of @?",
        consequence: "It is taken out for good. Its worker is told at once.",
        button: "Cancel it",
        keep: "Keep it",
        done: "Cancelled.",
        is_dangerous: true,
    },
    ActionWords {
        verb: Verb::CancelAll,
        word: "cancel-all",
        question: "Cancel the items of @ that match?",
        consequence: "All of them, not only those on the page, are taken out for good, and their workers are told at once. Items that are delivered from now on stay.",
        button: "Cancel all of them",
        keep: "Keep them",
        done: "Cancelled.",
        is_dangerous: true,
    },
    ActionWords {
        verb: Verb::Replay,
        word: "replay",
        question: "Replay item * of @?",
        consequence: "It becomes an item again, at the end of the line and with all its deliveries before it.",
        button: "Replay it",
        keep: "Leave it",
        done: "Replayed.",
        is_dangerous: false,
    },
    ActionWords {
        verb: Verb::ReplayAll,
        word: "replay-all",
        question: "Replay all dead letters of @?",
        consequence: "All of them, not only those on the page, become items again at the end of the line. Items that die from now on stay dead.",
        button: "Replay all",
        keep: "Leave them",
        done: "Replayed.",
        is_dangerous: false,
    },
    ActionWords {
        verb: Verb::Drop,
        word: "drop",
        question: "Drop dead letter * of @?",
        consequence: "It is forgotten for good, with its payload.",
        button: "Drop it",
        keep: "Keep it",
        done: "Dropped.",
        is_dangerous: true,
    },
    ActionWords {
        verb: Verb::DropAll,
        word: "drop-all",
        question: "Drop all dead letters of @?",
        consequence: "All of them, not only those on the page, are forgotten for good, with their payloads. Items that die from now on stay.",
        button: "Drop all",
        keep: "Keep them",
        done: "Dropped.",
        is_dangerous: true,
    },
];

/// Returns the message on the page to which the browser returns, with the number of items that were
/// changed.
pub(crate) fn done(word: &str, count: &str) -> String {
    let Some(words) = ActionWords::find(word) else { return String::new() };
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
        assert!(
            words
                .iter()
                .all(|word| ActionWords::find(word).is_some_and(|found| found.word == *word))
        );
        assert!(ActionWords::find("delete").is_none());
    }
}
