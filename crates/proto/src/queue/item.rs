//! Items: the record that a queue keeps of one payload, from its push to its end.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::{fmt, str::FromStr};

use crate::{
    count::Priority,
    id::{Fence, Inbox},
    name::Name,
    time::Micros,
};

/// The longest payload, in bytes. Larger data belongs elsewhere, and the queue gets a reference to
/// it.
pub const MAX_PAYLOAD_BYTES: usize = 1 << 20;
/// The most deliveries that an item can be allowed.
pub const MAX_DELIVERIES: u32 = 1_000_000;
/// The longest reason for a failure, in bytes; longer ones are cut.
pub const MAX_REASON_BYTES: usize = 256;
/// The number of ended deliveries that an item remembers.
const MOST_PAST: usize = 8;

/// The number of an item in its queue. Later items have greater numbers.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ItemId(pub u64);

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ItemId {
    type Err = core::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// One delivery of an item. The fence tells it from every other delivery.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Delivery {
    /// The item.
    pub id: ItemId,
    /// The fence of this delivery. Give it to the resource that the work changes. The resource
    /// refuses a lower fence than it has seen.
    pub fence: Fence,
}

/// An item, without its payload.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Item {
    /// The number of the item.
    pub id: ItemId,
    /// The priority, for display and for entering the order again.
    pub priority: Priority,
    /// The group of the item, which may have a limit of its own.
    pub group: Option<Name>,
    /// How many deliveries the item is allowed.
    pub most: u32,
    /// The length of the payload.
    pub bytes: u32,
    /// The deduplication key that it was pushed with.
    pub key: Option<Name>,
    /// The sender's description of itself and the item's labels, [encoded](crate::About::encode).
    pub about: String,
    /// When it was pushed, on the store's clock.
    pub pushed: Micros,
    /// The place in the order of service, smallest first; ties go to the smaller number.
    pub rank: i64,
    /// The number of deliveries so far.
    pub attempt: u32,
    /// How the latest deliveries ended.
    pub history: DeliveryHistory,
    /// The item's state.
    pub standing: Standing,
}

/// The state of an item.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Standing {
    /// The item can be delivered, now or when its group has room.
    Ready {
        /// Whether the item is in the order of all items: it has no group, or is the first of a
        /// group with room.
        open: bool,
    },
    /// The item is not delivered before it is due.
    Delayed {
        /// The time at which it is due, on the store's clock.
        due: Micros,
    },
    /// A worker has the item.
    InWork(Work),
    /// The item has had all its deliveries.
    Dead {
        /// The time since which the item is dead, on the store's clock.
        at: Micros,
    },
}

/// A delivery under way.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Work {
    /// The fence of the delivery.
    pub fence: Fence,
    /// The inbox of the worker.
    pub by: Inbox,
    /// The worker's description of itself.
    pub about: String,
    /// The start of the delivery, on the store's clock; only for display.
    pub since: Micros,
    /// How long its lease lasts from each renewal.
    pub ttl: Micros,
    /// When the lease ends, on the ledger's clock.
    pub ends: Micros,
    /// When the lease ends on the store's clock. This end counts if the worker is known not to
    /// listen.
    pub ends_wall: Micros,
}

/// The way in which a delivery ended without acknowledging the item.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Ending {
    /// The lease of the delivery ran out, or its worker's process is gone.
    Expired,
    /// The worker reported a failure.
    Failed(FailureReason),
}

/// Why a delivery failed, for people to read: at most [`MAX_REASON_BYTES`] bytes, without control
/// characters.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct FailureReason(String);

impl FailureReason {
    /// Makes a reason from a text. Control characters become spaces, and a text that is too long is
    /// cut.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut kept = String::new();
        for c in text.chars().map(|c| if c.is_control() { ' ' } else { c }) {
            if kept.len() + c.len_utf8() > MAX_REASON_BYTES {
                break;
            }
            kept.push(c);
        }
        Self(kept)
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A delivery that is over.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct PastDelivery {
    /// The number of the delivery, from 1.
    pub attempt: u32,
    /// When it ended, on the store's clock.
    pub at: Micros,
    /// The way in which it ended.
    pub ending: Ending,
}

impl PastDelivery {
    /// Makes a delivery that is over.
    #[must_use]
    pub fn new(attempt: u32, at: Micros, ending: Ending) -> Self {
        Self { attempt, at, ending }
    }
}

/// How the latest deliveries of an item ended, oldest first.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DeliveryHistory(Vec<PastDelivery>);

const FIELD: char = '\u{1f}';
const ENTRY: char = '\u{1e}';

impl DeliveryHistory {
    /// Adds an end. If there are too many, the oldest is forgotten.
    pub fn push(&mut self, past: PastDelivery) {
        self.0.push(past);
        if self.0.len() > MOST_PAST {
            self.0.remove(0);
        }
    }

    /// Returns the ends, oldest first.
    #[must_use]
    pub fn ends(&self) -> &[PastDelivery] {
        &self.0
    }

    /// Returns the form that stores keep: `attempt`, `at` and `expired` or `failed` with its
    /// reason, separated by U+001F, and U+001E between two ends.
    #[must_use]
    pub fn encode(&self) -> String {
        let line = |past: &PastDelivery| {
            let (word, reason) = match &past.ending {
                Ending::Expired => ("expired", ""),
                Ending::Failed(reason) => ("failed", reason.as_str()),
            };
            format!("{}{FIELD}{}{FIELD}{word}{FIELD}{reason}", past.attempt, past.at)
        };
        let lines: Vec<_> = self.0.iter().map(line).collect();
        lines.join(&ENTRY.to_string())
    }

    /// Reads [`DeliveryHistory::encode`]'s form. An end that cannot be read is left out, because
    /// the history is only for people.
    #[must_use]
    pub fn decode(text: &str) -> Self {
        Self(text.split(ENTRY).filter_map(decode_past).collect())
    }
}

fn decode_past(text: &str) -> Option<PastDelivery> {
    let mut fields = text.splitn(4, FIELD);
    let attempt = fields.next()?.parse().ok()?;
    let at = fields.next()?.parse().ok()?;
    let ending = match fields.next()? {
        "expired" => Ending::Expired,
        "failed" => Ending::Failed(FailureReason::new(fields.next().unwrap_or_default())),
        _ => return None,
    };
    Some(PastDelivery { attempt, at, ending })
}

impl Item {
    /// Returns the delivery under way, if there is one.
    #[must_use]
    pub fn work(&self) -> Option<&Work> {
        match &self.standing {
            Standing::InWork(work) => Some(work),
            _ => None,
        }
    }

    /// Returns the item's place in the order of service.
    #[must_use]
    pub fn place(&self) -> (i64, ItemId) {
        (self.rank, self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_comes_back_from_its_text_and_keeps_the_latest_eight() {
        let mut history = DeliveryHistory::default();
        assert_eq!(DeliveryHistory::decode(&history.encode()), history);
        for attempt in 1..=9 {
            let ending = match attempt % 2 {
                0 => Ending::Expired,
                _ => Ending::Failed(FailureReason::new("no route\nto host")),
            };
            history.push(PastDelivery { attempt, at: u64::from(attempt) * 10, ending });
        }
        assert_eq!(history.ends().len(), 8);
        assert_eq!(history.ends()[0].attempt, 2);
        assert_eq!(DeliveryHistory::decode(&history.encode()), history);
    }

    #[test]
    fn a_reason_has_no_control_characters_and_is_cut_between_characters() {
        assert_eq!(FailureReason::new("a\tb\u{1e}c").as_str(), "a b c");
        assert_eq!(FailureReason::new(&"é".repeat(200)).as_str().len(), MAX_REASON_BYTES);
        assert_eq!(FailureReason::new(&"€".repeat(100)).as_str().len(), 255);
    }
}
