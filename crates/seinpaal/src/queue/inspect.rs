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
    /// How many items may be in work at the same time. `None` means any number.
    pub limit: Option<u32>,
    /// How many items of one group may be in work at the same time. `None` means any number.
    pub group_limit: Option<u32>,
    /// The reason of the pause, if the queue is paused.
    pub paused: Option<String>,
    /// Items that can be delivered, the items of full groups included.
    pub ready: u32,
    /// Items that are not due yet.
    pub delayed: u32,
    /// Items in work.
    pub in_work: u32,
    /// Dead letters.
    pub dead: u32,
    /// Connections that wait for items.
    pub idle: u32,
    /// How long ago the next item was pushed.
    pub oldest: Option<Duration>,
    /// How long it is until the next delayed item is due.
    pub next_due: Option<Duration>,
    /// The items in work, by the ends of their leases. The list may be incomplete.
    pub work: Vec<InWork>,
    /// Groups that have items ready or in work, by name. The list may be incomplete.
    pub groups: Vec<GroupCount>,
}

/// An item that a worker works on.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct InWork {
    /// The number of the item.
    pub id: ItemId,
    /// The number of the delivery.
    pub fence: Fence,
    /// The number of this delivery among those of the item, from 1.
    pub attempt: u32,
    /// The group.
    pub group: Option<Name>,
    /// The worker's description of itself.
    pub worker: About,
    /// How long the worker has had the item.
    pub worked_for: Duration,
    /// How long the lease lasts without renewal. `None` means for as long as the worker's process
    /// lives.
    pub valid_for: Option<Duration>,
}

/// The state of a group.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct GroupCount {
    /// The name of the group.
    pub group: Name,
    /// The group's items in work.
    pub in_work: u32,
    /// The group's items that are ready.
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

    /// Returns whether items are ready, none is in work and no worker waits: a queue without
    /// workers that is not paused. A worker between two items may cause this for a moment.
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
