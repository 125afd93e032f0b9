//! The changes that a page or a program can make.

use std::{fmt, io, time::Duration};

use seinpaal::{
    AdminError, ItemId, ItemState, Queue, QueueError, Semaphore, SlotNames, Ticket,
    store::{StoreError, StoreErrorKind},
};
use seinpaal_words::{matching::Matching, reservation::Reservation, text::age};

use crate::{access::Visitor, shared::HandlerState};

/// The longest reason in characters, and in bytes: stores keep that many bytes.
const MOST_REASON: usize = 200;
const MOST_REASON_BYTES: usize = 512;

/// A change of a name or of a queue.
#[derive(Clone, Debug)]
pub(crate) enum WebDeed {
    Name(NameDeed),
    Queue(QueueDeed),
}

/// A change of a name. A limit of `None` unsets the limit.
#[derive(Clone, Debug)]
pub(crate) enum NameDeed {
    Limit(Option<u32>),
    /// Names the slots, and sets the limit to as many as there are names.
    Slots(SlotNames),
    Pause,
    Resume,
    Evict(Ticket),
    /// Holds this many permits for the person who asks, for this long.
    Reserve(u32, Duration),
}

/// A change of a queue. A limit of `None` unsets the limit.
#[derive(Clone, Debug)]
pub(crate) enum QueueDeed {
    Limit(Option<u32>),
    Pause,
    Resume,
    Purge,
    Cancel(ItemId),
    /// Cancels all items of a state that match, not only those on a page. `ReplayAll` and `DropAll`
    /// act on dead letters in the same way.
    CancelAll(ItemState, Matching),
    Replay(ItemId),
    ReplayAll(Matching),
    Drop(ItemId),
    DropAll(Matching),
}

/// The number of items that a change concerned, if it was not known before.
pub(crate) type Done = Option<u64>;

/// The reason why a change was not made, or not written down.
#[derive(Debug)]
pub(crate) enum Undone {
    Name(AdminError),
    Queue(QueueError),
    /// This kind of store cannot make the change.
    NotThere(StoreError),
    /// The permits were not free.
    NotFree(String),
    /// The change was made, but not written down.
    Unwritten(io::Error),
    /// This program ended or failed while the store was making the change.
    BrokenOff,
}

impl fmt::Display for Undone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::Queue(error) => error.fmt(f),
            Self::NotThere(error) => error.fmt(f),
            Self::NotFree(words) => f.write_str(words),
            Self::Unwritten(error) => {
                write!(f, "it was done, but the audit could not be written: {error}")
            }
            Self::BrokenOff => {
                f.write_str("nobody knows whether it was done: this program ended meanwhile")
            }
        }
    }
}

/// Returns whether this text can be kept and shown as a reason.
pub(crate) fn is_reason(text: &str) -> bool {
    let is_short = text.chars().count() <= MOST_REASON && text.len() <= MOST_REASON_BYTES;
    is_short && !text.chars().any(char::is_control)
}

impl WebDeed {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Name(_) => "name",
            Self::Queue(_) => "queue",
        }
    }

    /// Makes the change. [`carry_out`](crate::carry::carry_out) writes it down, too.
    pub(crate) async fn make(
        self,
        inner: &HandlerState,
        visitor: &Visitor,
        name: &str,
        reason: &str,
    ) -> Result<Done, Undone> {
        match self {
            Self::Name(NameDeed::Slots(names)) => {
                let named = inner.seinpaal.semaphore(name).name_slots(names.iter()).await;
                named.map(|()| None).map_err(of_some_stores)
            }
            Self::Name(NameDeed::Reserve(permits, length)) => {
                let wanted = Reservation { permits, length, who: &visitor.who, reason };
                let made = wanted.make(&inner.seinpaal.semaphore(name)).await;
                made.map(|()| None).map_err(Undone::NotFree)
            }
            Self::Name(deed) => {
                let made = deed.make(&inner.seinpaal.semaphore(name), reason).await;
                made.map(|()| None).map_err(Undone::Name)
            }
            Self::Queue(deed) => {
                deed.make(&inner.seinpaal.queue(name), reason).await.map_err(Undone::Queue)
            }
        }
    }
}

/// Turns the error of a store that cannot make this kind of change into one that says so. The store
/// is not misconfigured, although its error has that kind.
fn of_some_stores(error: AdminError) -> Undone {
    match error {
        AdminError::Store(error) if error.kind() == StoreErrorKind::Misconfigured => {
            Undone::NotThere(error)
        }
        error => Undone::Name(error),
    }
}

impl NameDeed {
    async fn make(self, name: &Semaphore, reason: &str) -> Result<(), AdminError> {
        match self {
            Self::Limit(Some(limit)) => name.set_limit(limit).await,
            Self::Limit(None) => name.unset_limit().await,
            Self::Pause => name.pause(reason).await,
            Self::Resume => name.resume().await,
            Self::Evict(ticket) => name.evict(ticket).await,
            // [`WebDeed::make`] makes each of these changes itself.
            Self::Slots(_) | Self::Reserve(..) => Ok(()),
        }
    }
}

impl QueueDeed {
    async fn make(self, queue: &Queue, reason: &str) -> Result<Done, QueueError> {
        match self {
            Self::Limit(limit) => queue.limit(limit).await?,
            Self::Pause => queue.pause(reason).await?,
            Self::Resume => queue.resume().await?,
            Self::Cancel(item) => drop(queue.cancel(item).await?),
            Self::Replay(item) => queue.replay(item).await?,
            Self::Drop(item) => queue.drop_dead(item).await?,
            of_many => return of_many.make_with_many(queue).await.map(Some),
        }
        Ok(None)
    }

    async fn make_with_many(self, queue: &Queue) -> Result<u64, QueueError> {
        match self {
            Self::CancelAll(state, matching) => {
                queue.remove_all(state, |item| matching.has(item)).await
            }
            Self::ReplayAll(matching) => queue.replay_all(|item| matching.has(item)).await,
            Self::DropAll(matching) => {
                queue.remove_all(ItemState::Dead, |item| matching.has(item)).await
            }
            _ => queue.purge().await,
        }
    }
}

/// Writes the words of a change that concerns all items that match.
fn all(f: &mut fmt::Formatter<'_>, word: &str, matching: &Matching) -> fmt::Result {
    match matching.text.as_str() {
        "" => f.write_str(word),
        text => write!(f, "{word} “{text}”"),
    }
}

impl fmt::Display for WebDeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(NameDeed::Limit(limit)) | Self::Queue(QueueDeed::Limit(limit)) => {
                match limit {
                    Some(limit) => write!(f, "limit {limit}"),
                    None => f.write_str("limit unset"),
                }
            }
            Self::Name(NameDeed::Pause) | Self::Queue(QueueDeed::Pause) => f.write_str("pause"),
            Self::Name(NameDeed::Resume) | Self::Queue(QueueDeed::Resume) => f.write_str("resume"),
            Self::Name(NameDeed::Slots(names)) => write!(f, "slots {names}"),
            Self::Name(NameDeed::Evict(ticket)) => write!(f, "evict {ticket}"),
            Self::Name(NameDeed::Reserve(permits, length)) => {
                write!(f, "reserve {permits} for {}", age(*length))
            }
            Self::Queue(QueueDeed::Purge) => f.write_str("purge"),
            Self::Queue(QueueDeed::Cancel(item)) => write!(f, "cancel {item}"),
            Self::Queue(QueueDeed::Replay(item)) => write!(f, "replay {item}"),
            Self::Queue(QueueDeed::CancelAll(state, matching)) => {
                all(f, &format!("cancel-all {state}"), matching)
            }
            Self::Queue(QueueDeed::ReplayAll(matching)) => all(f, "replay-all", matching),
            Self::Queue(QueueDeed::Drop(item)) => write!(f, "drop {item}"),
            Self::Queue(QueueDeed::DropAll(matching)) => all(f, "drop-all", matching),
        }
    }
}
