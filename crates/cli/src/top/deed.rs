//! The actions of `top`. They do the same as the commands, and have the same words.

use std::time::Duration;

use seinpaal::{
    ItemId, ItemState, ListedItem, Name, Queue, QueueError, Seinpaal, Semaphore, Ticket,
};
use seinpaal_words::{matching::Matching, reservation::Reservation, text::age};

/// An action on a name or a queue.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum TopDeed {
    Limit(u32),
    Unset,
    Pause(String),
    Resume,
    Evict { ticket: Ticket, shown: String },
    Reserve { permits: u32, length: Duration, reason: String },
    QueueLimit(Option<u32>),
    QueuePause(String),
    QueueResume,
    Cancel(ItemId),
    CancelAll(ItemState, ManyItems),
    Purge,
    Replay(ItemId),
    ReplayAll(ManyItems),
    Drop(ItemId),
    DropAll(ManyItems),
}

/// All items of a state, or those that a text finds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ManyItems {
    /// The number of these items when the question was asked.
    pub(super) items: u64,
    pub(super) matching: Matching,
}

impl ManyItems {
    fn searches(&self) -> bool {
        !self.matching.text.is_empty()
    }

    /// Returns the flag by which the command selects these items.
    fn flag(&self) -> String {
        let text = &self.matching.text;
        if self.searches() { format!(" --matching {text:?}") } else { String::new() }
    }

    /// Says which items the action concerns.
    fn meant(&self) -> String {
        let items = match self.items {
            1 => "1 item".to_owned(),
            items => format!("{items} items"),
        };
        match self.searches() {
            true => format!("The {items} found, and none that comes later"),
            false => format!("All, {items} now"),
        }
    }
}

impl TopDeed {
    /// Returns the question before the action, with its effects.
    pub(super) fn question(&self, name: &Name) -> String {
        match self {
            Self::Limit(0) => format!("limit {name} 0? Nobody new gets in; nobody is thrown out"),
            Self::Limit(n) => format!("limit {name} {n}? Nobody is thrown out"),
            Self::Unset => {
                format!("limit {name} --unset? The limit that callers state applies again")
            }
            Self::Pause(_) => {
                format!("pause {name}? Nobody new gets in; holders keep their permits")
            }
            Self::Resume => format!("resume {name}? Waiters that fit get in at once"),
            Self::Evict { shown, .. } => format!(
                "evict {shown} of {name}? A waiter loses its place; a holder loses its lease and `run` stops its command"
            ),
            Self::Reserve { permits, length, .. } => format!(
                "reserve {permits} of {name} for {}? They must be free now; to end it sooner, evict its ticket",
                age(*length)
            ),
            Self::QueueLimit(None) => {
                format!("queue limit {name} none? Any number of items may be in work")
            }
            Self::QueueLimit(Some(n)) => format!("queue limit {name} {n}? Items in work stay"),
            Self::QueuePause(_) => format!("queue pause {name}? Items in work go on"),
            Self::QueueResume => format!("queue resume {name}? Items are delivered again"),
            Self::Cancel(id) => {
                format!(
                    "queue cancel {name} {id}? Its worker is told, and the item is not delivered again"
                )
            }
            Self::CancelAll(state, many) => {
                let (flag, meant) = (many.flag(), many.meant());
                let workers = match state {
                    ItemState::InWork => "their workers are told",
                    _ => "items that a worker gets meanwhile are spared",
                };
                format!(
                    "queue cancel {name} all --state {state}{flag}? {meant}, are deleted; {workers}"
                )
            }
            Self::Purge => {
                format!("queue purge {name}? All items that are ready or delayed are deleted")
            }
            Self::Replay(id) => format!("queue dead {name} --replay {id}?"),
            Self::ReplayAll(many) => {
                format!("queue dead {name} --replay all{}? {}", many.flag(), many.meant())
            }
            Self::Drop(id) => format!("queue dead {name} --drop {id}? It is deleted"),
            Self::DropAll(many) => {
                let (flag, meant) = (many.flag(), many.meant());
                format!("queue dead {name} --drop all{flag}? {meant}, are deleted")
            }
        }
    }

    /// Returns whether the user has to type the name, because the action may destroy many items at
    /// once.
    pub(super) fn is_typed(&self) -> bool {
        matches!(self, Self::Purge | Self::CancelAll(..) | Self::DropAll(_))
    }

    /// Does the deed, and returns a sentence about the result.
    pub(super) async fn done(self, seinpaal: &Seinpaal, name: &Name) -> String {
        let done = match self.of_a_queue() {
            true => {
                self.apply_to_queue(&seinpaal.queue(name)).await.map_err(|error| error.to_string())
            }
            false => self.apply_to_name(&seinpaal.semaphore(name)).await,
        };
        match done {
            Ok(words) => format!("{name}: {words}"),
            Err(error) => format!("{name}: not done: {error}"),
        }
    }

    fn of_a_queue(&self) -> bool {
        !matches!(
            self,
            Self::Limit(_)
                | Self::Unset
                | Self::Pause(_)
                | Self::Resume
                | Self::Evict { .. }
                | Self::Reserve { .. }
        )
    }

    async fn apply_to_name(self, semaphore: &Semaphore) -> Result<String, String> {
        let (done, words) = match self {
            Self::Limit(n) => (semaphore.set_limit(n).await, format!("the limit is {n}")),
            Self::Unset => (semaphore.unset_limit().await, "the limit is let go".to_owned()),
            Self::Pause(reason) => (semaphore.pause(&reason).await, "paused".to_owned()),
            Self::Resume => (semaphore.resume().await, "resumed".to_owned()),
            Self::Evict { ticket, shown } => {
                (semaphore.evict(ticket).await, format!("evicted {shown}"))
            }
            Self::Reserve { permits, length, reason } => {
                let wanted = Reservation { permits, length, who: &this_user(), reason: &reason };
                return wanted.make(semaphore).await.map(|()| format!("reserved {permits}"));
            }
            _ => (Ok(()), String::new()),
        };
        done.map(|()| words).map_err(|error| error.to_string())
    }

    async fn apply_to_queue(self, queue: &Queue) -> Result<String, QueueError> {
        Ok(match self {
            Self::QueueLimit(limit) => {
                queue.limit(limit).await?;
                let limit = limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string());
                format!("the limit is {limit}")
            }
            Self::QueuePause(reason) => queue.pause(&reason).await.map(|()| "paused".to_owned())?,
            Self::QueueResume => queue.resume().await.map(|()| "resumed".to_owned())?,
            Self::Cancel(id) => queue.cancel(id).await.map(|_| format!("cancelled item {id}"))?,
            Self::CancelAll(state, many) => {
                let meant = |item: &ListedItem| many.matching.has(item);
                format!("cancelled {}", queue.remove_all(state, meant).await?)
            }
            Self::Purge => format!("purged {}", queue.purge().await?),
            Self::Replay(id) => queue.replay(id).await.map(|()| format!("replayed {id}"))?,
            Self::ReplayAll(many) => {
                let meant = |item: &ListedItem| many.matching.has(item);
                format!("replayed {}", queue.replay_all(meant).await?)
            }
            Self::Drop(id) => queue.drop_dead(id).await.map(|()| format!("dropped {id}"))?,
            Self::DropAll(many) if many.searches() => {
                let meant = |item: &ListedItem| many.matching.has(item);
                format!("dropped {}", queue.remove_all(ItemState::Dead, meant).await?)
            }
            Self::DropAll(_) => format!("dropped {}", queue.purge_dead().await?),
            _ => String::new(),
        })
    }
}

/// Returns `USER@HOST`, so that people on other machines know who reserved.
fn this_user() -> String {
    let user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME"));
    let user = user.unwrap_or_else(|_| rustix::process::getuid().as_raw().to_string());
    let host = rustix::system::uname();
    format!("{user}@{}", host.nodename().to_string_lossy())
}
