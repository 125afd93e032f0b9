//! The actions: their needs, and their effects.

use seinpaal::{ItemId, ItemState, MIN_TTL};
use seinpaal_words::matching::Matching;

use crate::deed::{NameDeed, QueueDeed, WebDeed};

/// An action on a name or a queue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verb {
    Limit,
    Pause,
    Resume,
    Evict,
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

impl Verb {
    /// Makes the deed for this ticket or item, or with this number. `None` if the action needs
    /// another kind of target.
    pub(crate) fn deed(
        self,
        target: &str,
        number: Option<u32>,
        (state, matching): (ItemState, &Matching),
    ) -> Option<WebDeed> {
        let item = || target.parse().ok().map(ItemId);
        let deed = match self {
            Self::Evict => WebDeed::Name(NameDeed::Evict(target.parse().ok()?)),
            Self::Cancel => WebDeed::Queue(QueueDeed::Cancel(item()?)),
            Self::Replay => WebDeed::Queue(QueueDeed::Replay(item()?)),
            Self::Drop => WebDeed::Queue(QueueDeed::Drop(item()?)),
            _ if !target.is_empty() => return None,
            Self::Limit => WebDeed::Name(NameDeed::Limit(number)),
            Self::Pause => WebDeed::Name(NameDeed::Pause),
            Self::Resume => WebDeed::Name(NameDeed::Resume),
            Self::Reserve => WebDeed::Name(NameDeed::Reserve(number.unwrap_or(1), MIN_TTL)),
            Self::QueueLimit => WebDeed::Queue(QueueDeed::Limit(number)),
            Self::QueuePause => WebDeed::Queue(QueueDeed::Pause),
            Self::QueueResume => WebDeed::Queue(QueueDeed::Resume),
            Self::Purge => WebDeed::Queue(QueueDeed::Purge),
            Self::CancelAll if state == ItemState::Dead => return None,
            Self::CancelAll => WebDeed::Queue(QueueDeed::CancelAll(state, matching.clone())),
            Self::ReplayAll => WebDeed::Queue(QueueDeed::ReplayAll(matching.clone())),
            Self::DropAll => WebDeed::Queue(QueueDeed::DropAll(matching.clone())),
        };
        Some(deed)
    }

    pub(crate) fn asks_number(self) -> bool {
        matches!(self, Self::Limit | Self::QueueLimit | Self::Reserve)
    }

    /// Returns the label of the number for which the form asks. It is empty if the form asks for
    /// none.
    pub(crate) fn number_asked(self) -> &'static str {
        match self {
            Self::Reserve => "How many",
            verb if verb.asks_number() => "New limit",
            _ => "",
        }
    }

    /// Returns whether the form asks for a length of time.
    pub(crate) fn asks_length(self) -> bool {
        self == Self::Reserve
    }

    pub(crate) fn needs_reason(self) -> bool {
        let needs = [
            Self::Pause,
            Self::Evict,
            Self::Reserve,
            Self::QueuePause,
            Self::Purge,
            Self::CancelAll,
            Self::Drop,
            Self::DropAll,
        ];
        needs.contains(&self)
    }

    /// Returns whether the visitor has to type the name, because the action may destroy many items
    /// at once.
    pub(crate) fn is_typed(self) -> bool {
        matches!(self, Self::Purge | Self::CancelAll | Self::DropAll)
    }

    /// Returns the question of an action on many items. `*` stands for the description of these
    /// items, and `@` for the name.
    pub(crate) fn of_many(self, state: ItemState) -> Option<&'static str> {
        match self {
            Self::CancelAll => Some(match state {
                ItemState::Ready => "Cancel * ready in @?",
                ItemState::Delayed => "Cancel * delayed in @?",
                _ => "Cancel * in work in @?",
            }),
            Self::ReplayAll => Some("Replay * dead in @?"),
            Self::DropAll => Some("Drop * dead in @?"),
            _ => None,
        }
    }
}
