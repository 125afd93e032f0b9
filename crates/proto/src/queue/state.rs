//! The state of one queue in a ledger, and the trait through which the ledger reads and writes it.

use alloc::{string::String, vec::Vec};

use super::{
    item::{Item, ItemId},
    listing::ItemPosition,
    reply::Reply,
};
use crate::{
    id::Inbox,
    name::Name,
    time::{LONGEST_OWED, Micros, UNBOUNDED},
};

crate::head::head! {
    /// The facts of a queue that are not lists. [`Head::default`] is the head of a queue that
    /// nobody has touched.
    pub struct Head {
        /// How many items may be in work at once.
        limit: Option<u32> = None, limit;
        /// How many items of one group may be in work at once.
        group_limit: Option<u32> = None, limit;
        /// The reason of the pause, if the queue is paused.
        paused: Option<String> = None, text;
        /// The ledger's clock. It follows the store's clock, but never runs backwards and never
        /// advances far in one step.
        clock: Micros = 0, ledger_time;
        /// The store's clock at the last operation.
        wall: Micros = 0, store_time;
        /// The most that `clock` advances in one operation: the smallest margin that was stated
        /// here since nothing was in work. No margin of a delivery in work is smaller.
        bound: Micros = UNBOUNDED, span;
        /// The last number given to an item or a delivery, or the highest that a client claims to
        /// have seen.
        last: u64 = 0, fence;
        /// The number of ready items.
        ready: u32 = 0, rows;
        /// The number of ready items that are in the order of all.
        open: u32 = 0, rows;
        /// The number of delayed items.
        delayed: u32 = 0, rows;
        /// The number of items in work.
        in_work: u32 = 0, rows;
        /// The number of dead letters.
        dead: u32 = 0, rows;
        /// The number of idle workers in line.
        idle: u32 = 0, rows;
        /// The number of workers that were called and have not come yet.
        called: u32 = 0, rows;
        /// The number of items that the called workers want.
        wanted: u32 = 0, rows;
        /// The number of sessions whose last batch is remembered.
        sessions: u32 = 0, rows;
        /// The number of deduplication keys that are remembered.
        keys: u32 = 0, rows;
        /// The worker that was last told to watch.
        watch: Option<Inbox> = None, client;
        /// When that worker will look, on the store's clock.
        watch_at: Micros = 0, alarm;
        /// Set while the limit of groups was changed and not all full groups were looked at: the
        /// last group that was.
        reopen: Option<String> = None, text;
    }
}

impl Head {
    /// Returns whether the last number is still ahead of the store's clock, `now`. Then the queue
    /// is kept even if nobody needs anything else of it: a number made from the clock alone could
    /// repeat one that was given already (rule 10). As with names, a queue whose number is further
    /// ahead than [`LONGEST_OWED`] is not kept.
    #[must_use]
    pub fn owes_number(&self, now: Micros) -> bool {
        (now..=now + LONGEST_OWED).contains(&self.last)
    }
}

/// The counts of a group. They are kept while either is above 0.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Group {
    /// The number of its items in work.
    pub in_work: u32,
    /// The number of its ready items.
    pub ready: u32,
    /// The first ready item, if it is in the order of all. A group with ready items and without a
    /// front is full.
    pub front: Option<ItemId>,
}

/// The place of a worker that wants more items.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Place {
    /// The worker.
    pub inbox: Inbox,
    /// How many items the worker wants.
    pub want: u32,
    /// Whether the worker is also called when nothing is left to wait for.
    pub drains: bool,
    /// When the place ends unless the worker is heard from, on the store's clock.
    pub until: Micros,
    /// Whether the worker stands in line, or was called.
    pub call: WorkerCall,
}

/// Whether a worker is still in line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WorkerCall {
    /// The worker is in line.
    InLine,
    /// The worker was called at this time of the store's clock, and has not come yet.
    Since(Micros),
}

/// The record of a session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SessionRecord {
    /// The session.
    pub session: Inbox,
    /// The number of its last batch.
    pub number: u64,
    /// The deadline of the batch, on the store's clock. After it no copy of the batch can do
    /// anything.
    pub until: Micros,
    /// The answers to the batch, without payloads. An answer to a read request is left out and
    /// stands as [`Reply::Left`].
    pub replies: Vec<Reply>,
}

/// A deduplication key that is remembered.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Dedupped {
    /// The key.
    pub key: Name,
    /// The item that it was pushed with.
    pub id: ItemId,
    /// When it is forgotten, on the store's clock.
    pub until: Micros,
}

/// One queue's state in some store. Every method costs at most a logarithm of the size of the
/// state, except those that list.
///
/// Inside one [`execute`](super::execute) the ledger reads its own writes. A store makes all of the
/// writes of one `execute` take effect together, or none.
pub trait State {
    /// The error of the storage underneath.
    type Error;

    /// Returns the head, or the default one.
    fn head(&mut self) -> Result<Head, Self::Error>;
    /// Writes the head.
    fn set_head(&mut self, head: &Head) -> Result<(), Self::Error>;
    /// Forgets the queue altogether. The ledger calls this only when nothing but the head is left.
    fn clear(&mut self) -> Result<(), Self::Error>;

    /// Returns an item by number.
    fn item(&mut self, id: ItemId) -> Result<Option<Item>, Self::Error>;
    /// Writes an item, new or changed.
    fn put_item(&mut self, item: &Item) -> Result<(), Self::Error>;
    /// Removes an item and its payload.
    fn remove_item(&mut self, id: ItemId) -> Result<(), Self::Error>;
    /// Returns the payload of an item.
    fn payload(&mut self, id: ItemId) -> Result<Vec<u8>, Self::Error>;
    /// Writes the payload of a new item.
    fn put_payload(&mut self, id: ItemId, payload: &[u8]) -> Result<(), Self::Error>;
    /// Returns the item with the smallest (`rank`, number) of those that are ready and open.
    fn first_open(&mut self) -> Result<Option<Item>, Self::Error>;
    /// Returns the item with the smallest (`rank`, number) of the ready items of a group.
    fn first_of_group(&mut self, group: &Name) -> Result<Option<Item>, Self::Error>;
    /// Returns the delayed item with the smallest (`due`, number).
    fn first_delayed(&mut self) -> Result<Option<Item>, Self::Error>;
    /// Returns the item in work with the smallest (`ends`, number).
    fn first_work_by_end(&mut self) -> Result<Option<Item>, Self::Error>;
    /// Returns the item in work with the smallest (`ends_wall`, number).
    fn first_work_by_wall(&mut self) -> Result<Option<Item>, Self::Error>;
    /// Returns up to `rows` items behind this place, in the order that the place belongs to.
    fn items_after(&mut self, after: &ItemPosition, rows: u32) -> Result<Vec<Item>, Self::Error>;

    /// Returns the counts of a group, 0 if there is no record.
    fn group(&mut self, group: &Name) -> Result<Group, Self::Error>;
    /// Writes the counts of a group, or removes them if they are 0.
    fn put_group(&mut self, group: &Name, counts: &Group) -> Result<(), Self::Error>;
    /// Returns the first group after this text, in the order of the bytes, that has ready items and
    /// no front.
    fn full_group_after(&mut self, after: &str) -> Result<Option<(Name, Group)>, Self::Error>;
    /// Returns up to `rows` groups in the order of their bytes.
    fn groups(&mut self, rows: u32) -> Result<Vec<(Name, Group)>, Self::Error>;

    /// Returns the place of a worker, in line or called.
    fn place(&mut self, inbox: Inbox) -> Result<Option<Place>, Self::Error>;
    /// Writes a place, new or changed.
    fn put_place(&mut self, place: &Place) -> Result<(), Self::Error>;
    /// Removes a place.
    fn remove_place(&mut self, inbox: Inbox) -> Result<(), Self::Error>;
    /// Returns the first place in line: those that drain first, then by (`until`, inbox).
    fn first_in_line(&mut self) -> Result<Option<Place>, Self::Error>;
    /// Returns the called place with the smallest (time of the call, inbox).
    fn first_called(&mut self) -> Result<Option<Place>, Self::Error>;

    /// Returns the record of a session.
    fn session(&mut self, session: Inbox) -> Result<Option<SessionRecord>, Self::Error>;
    /// Writes the record of a session.
    fn put_session(&mut self, record: &SessionRecord) -> Result<(), Self::Error>;
    /// Forgets the record of a session.
    fn remove_session(&mut self, session: Inbox) -> Result<(), Self::Error>;
    /// Returns the session with the smallest (`until`, inbox), and that `until`.
    fn first_session(&mut self) -> Result<Option<(Micros, Inbox)>, Self::Error>;

    /// Returns a deduplication key that is remembered.
    fn key(&mut self, key: &Name) -> Result<Option<Dedupped>, Self::Error>;
    /// Remembers a key.
    fn put_key(&mut self, key: &Dedupped) -> Result<(), Self::Error>;
    /// Forgets a key.
    fn remove_key(&mut self, key: &Name) -> Result<(), Self::Error>;
    /// Returns the key with the smallest (`until`, key).
    fn first_key(&mut self) -> Result<Option<Dedupped>, Self::Error>;
}
