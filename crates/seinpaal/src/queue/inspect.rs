//! Snapshots of queues, for people.

use std::time::Duration;

use seinpaal_proto::{
    About, Fence, Name,
    queue::{GroupRow, ItemId, Snapshot, WorkRow},
};

/// Everything about a queue at one moment.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct QueueSnapshot {
    /// The name.
    pub name: Name,
    /// How many items may be in work at once; `None`: any number.
    pub limit: Option<u32>,
    /// How many of one group.
    pub group_limit: Option<u32>,
    /// Why it is paused, if it is.
    pub paused: Option<String>,
    /// Items that can be delivered, those of full groups among them.
    pub ready: u32,
    /// Items that are not due yet.
    pub delayed: u32,
    /// Items in work.
    pub in_work: u32,
    /// Dead letters.
    pub dead: u32,
    /// Connections that want more items.
    pub idle: u32,
    /// How long ago the item was pushed that is next.
    pub oldest: Option<Duration>,
    /// In how long the next delayed item is due.
    pub next_due: Option<Duration>,
    /// The items in work, by the ends of their leases, perhaps not all.
    pub work: Vec<InWork>,
    /// Groups that have items ready or in work, by name, perhaps not all.
    pub groups: Vec<GroupCount>,
}

/// An item that somebody works on.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct InWork {
    /// The number.
    pub id: ItemId,
    /// The number of the delivery.
    pub fence: Fence,
    /// Which delivery it is, from 1.
    pub attempt: u32,
    /// The group.
    pub group: Option<Name>,
    /// The worker's description of itself.
    pub worker: About,
    /// For how long.
    pub worked_for: Duration,
    /// How long the lease lasts without renewal; `None`: for as long as the worker's process lives.
    pub valid_for: Option<Duration>,
}

/// The state of a group.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct GroupCount {
    /// The key.
    pub group: Name,
    /// Items of it in work.
    pub in_work: u32,
    /// Items of it that are ready.
    pub ready: u32,
}

impl QueueSnapshot {
    pub(crate) fn new(name: Name, seen: Snapshot) -> Self {
        Self {
            name,
            limit: seen.limit,
            group_limit: seen.group_limit,
            paused: seen.paused,
            ready: seen.ready,
            delayed: seen.delayed,
            in_work: seen.in_work,
            dead: seen.dead,
            idle: seen.idle,
            oldest: seen.oldest.map(Duration::from_micros),
            next_due: seen.next_due.map(Duration::from_micros),
            work: seen.work.into_iter().map(InWork::from).collect(),
            groups: seen.groups.into_iter().map(GroupCount::from).collect(),
        }
    }

    /// Returns whether nothing is ready, delayed or in work.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ready == 0 && self.delayed == 0 && self.in_work == 0
    }

    /// Returns whether items are ready, and nobody works on any or waits for one: a queue that is
    /// not paused and that no worker has come for. A worker between two items may make it so for a
    /// moment.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let mails = seinpaal.queue("mails that nobody sends");
    /// mails.push("to: ann").await?;
    /// assert!(mails.snapshot().await?.is_unattended());
    ///
    /// let item = mails.pop().await?;
    /// mails.push("to: bob").await?;
    /// assert!(!mails.snapshot().await?.is_unattended());
    /// # item.acknowledge().await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    #[must_use]
    pub fn is_unattended(&self) -> bool {
        let is_attended = self.in_work > 0 || self.idle > 0;
        self.ready > 0 && !is_attended && self.paused.is_none()
    }
}

impl From<WorkRow> for InWork {
    fn from(row: WorkRow) -> Self {
        Self {
            id: row.id,
            fence: row.fence,
            attempt: row.attempt,
            group: row.group,
            worker: About::decode(&row.about),
            worked_for: Duration::from_micros(row.worked),
            valid_for: row.valid_for.map(Duration::from_micros),
        }
    }
}

impl From<GroupRow> for GroupCount {
    fn from(row: GroupRow) -> Self {
        Self { group: row.group, in_work: row.in_work, ready: row.ready }
    }
}
