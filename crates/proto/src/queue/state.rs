//! What a ledger remembers of one queue, and the small interface behind which stores keep it.

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
    /// The facts of a queue that are not a list. [`Head::default`] is a queue nobody has touched.
    pub struct Head {
        /// How many items may be in work at once.
        limit: Option<u32> = None, limit;
        /// How many of one group.
        group_limit: Option<u32> = None, limit;
        /// Why the queue is paused, if it is.
        paused: Option<String> = None, text;
        /// The ledger's clock: the store's, but never backwards, and never far in one step.
        clock: Micros = 0, ledger_time;
        /// The store's clock at the last operation.
        wall: Micros = 0, store_time;
        /// The most that `clock` advances in one operation: the least margin of any delivery in
        /// work.
        bound: Micros = UNBOUNDED, span;
        /// The last number given to an item or a delivery, or the highest that anybody remembers.
        last: u64 = 0, fence;
        /// Items ready.
        ready: u32 = 0, rows;
        /// Items ready that are in the order of all.
        open: u32 = 0, rows;
        /// Items delayed.
        delayed: u32 = 0, rows;
        /// Items in work.
        in_work: u32 = 0, rows;
        /// Dead letters.
        dead: u32 = 0, rows;
        /// Places of idle workers.
        idle: u32 = 0, rows;
        /// Places of workers that were called and have not come yet.
        called: u32 = 0, rows;
        /// How many items those want.
        wanted: u32 = 0, rows;
        /// Sessions whose last batch is remembered.
        sessions: u32 = 0, rows;
        /// Deduplication keys that are remembered.
        keys: u32 = 0, rows;
        /// The worker that was last told to watch.
        watch: Option<Inbox> = None, client;
        /// When it will look, on the store's clock.
        watch_at: Micros = 0, alarm;
        /// The limit of groups was changed: full ones after this are still to be looked at.
        reopen: Option<String> = None, text;
    }
}

impl Head {
    /// Returns whether the last number is not behind the store's clock, `now`, yet. Then the queue
    /// is kept though nobody needs anything else of it: a number made of the clock alone could be
    /// one that was given already (rule 10). As with names, one that is further ahead than
    /// [`LONGEST_OWED`] keeps nothing.
    #[must_use]
    pub fn owes_number(&self, now: Micros) -> bool {
        (now..=now + LONGEST_OWED).contains(&self.last)
    }
}

/// The counts of a group. They are kept while either is above 0.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Group {
    /// Items of it in work.
    pub in_work: u32,
    /// Items of it that are ready.
    pub ready: u32,
    /// The first of those, if it is in the order of all. A group with ready items and without a
    /// front is full.
    pub front: Option<ItemId>,
}

/// The place of a worker that wants more items.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Place {
    /// The worker.
    pub inbox: Inbox,
    /// How many it wants.
    pub want: u32,
    /// Whether the worker is also called when nothing is left to wait for.
    pub drains: bool,
    /// When it ends unless the worker is heard from, on the store's clock.
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

/// What is remembered of a session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SessionRecord {
    /// Which.
    pub session: Inbox,
    /// The number of its last batch.
    pub number: u64,
    /// The deadline of the batch, on the store's clock. After it no copy of the batch can do
    /// anything.
    pub until: Micros,
    /// The answers to it, without payloads; those that only tell what was read are left out as
    /// [`Reply::Left`].
    pub replies: Vec<Reply>,
}

/// A deduplication key that is remembered.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Dedupped {
    /// The key.
    pub key: Name,
    /// The item that it was pushed with.
    pub id: ItemId,
    /// Until when, on the store's clock.
    pub until: Micros,
}

/// One queue's state in some store. Every method costs a logarithm at most of what is kept, except
/// those that list.
///
/// Inside one [`execute`](super::execute) the ledger reads what it wrote. A store makes all of the
/// writes of one `execute` take effect together, or none.
pub trait State {
    /// The error of the storage underneath.
    type Error;

    /// The head, or the default one.
    fn head(&mut self) -> Result<Head, Self::Error>;
    /// Writes the head.
    fn set_head(&mut self, head: &Head) -> Result<(), Self::Error>;
    /// Forgets the queue altogether. Called only when nothing but the head is left.
    fn clear(&mut self) -> Result<(), Self::Error>;

    /// An item by number.
    fn item(&mut self, id: ItemId) -> Result<Option<Item>, Self::Error>;
    /// Writes an item, new or changed.
    fn put_item(&mut self, item: &Item) -> Result<(), Self::Error>;
    /// Removes an item and its payload.
    fn remove_item(&mut self, id: ItemId) -> Result<(), Self::Error>;
    /// The payload of an item.
    fn payload(&mut self, id: ItemId) -> Result<Vec<u8>, Self::Error>;
    /// Writes the payload of a new item.
    fn put_payload(&mut self, id: ItemId, payload: &[u8]) -> Result<(), Self::Error>;
    /// Of the items that are ready and open, the one with the smallest (`rank`, number).
    fn first_open(&mut self) -> Result<Option<Item>, Self::Error>;
    /// Of the ready items of a group, the one with the smallest (`rank`, number).
    fn first_of_group(&mut self, group: &Name) -> Result<Option<Item>, Self::Error>;
    /// The delayed item with the smallest (`due`, number).
    fn first_delayed(&mut self) -> Result<Option<Item>, Self::Error>;
    /// The item in work with the smallest (`ends`, number).
    fn first_work_by_end(&mut self) -> Result<Option<Item>, Self::Error>;
    /// The item in work with the smallest (`ends_wall`, number).
    fn first_work_by_wall(&mut self) -> Result<Option<Item>, Self::Error>;
    /// Up to `rows` items behind this place, in the order that the place belongs to.
    fn items_after(&mut self, after: &ItemPosition, rows: u32) -> Result<Vec<Item>, Self::Error>;

    /// The counts of a group, 0 if there is no record.
    fn group(&mut self, group: &Name) -> Result<Group, Self::Error>;
    /// Writes the counts of a group, or removes them if they are 0.
    fn put_group(&mut self, group: &Name, counts: &Group) -> Result<(), Self::Error>;
    /// The first group after this text, in the order of the bytes, that has ready items and no
    /// front.
    fn full_group_after(&mut self, after: &str) -> Result<Option<(Name, Group)>, Self::Error>;
    /// Up to `rows` groups in the order of their bytes.
    fn groups(&mut self, rows: u32) -> Result<Vec<(Name, Group)>, Self::Error>;

    /// The place of a worker, in line or called.
    fn place(&mut self, inbox: Inbox) -> Result<Option<Place>, Self::Error>;
    /// Writes a place, new or changed.
    fn put_place(&mut self, place: &Place) -> Result<(), Self::Error>;
    /// Removes a place.
    fn remove_place(&mut self, inbox: Inbox) -> Result<(), Self::Error>;
    /// The first place in line: those that drain first, then by (`until`, inbox).
    fn first_in_line(&mut self) -> Result<Option<Place>, Self::Error>;
    /// The called place with the smallest (time of the call, inbox).
    fn first_called(&mut self) -> Result<Option<Place>, Self::Error>;

    /// What is remembered of a session.
    fn session(&mut self, session: Inbox) -> Result<Option<SessionRecord>, Self::Error>;
    /// Writes it.
    fn put_session(&mut self, record: &SessionRecord) -> Result<(), Self::Error>;
    /// Forgets it.
    fn remove_session(&mut self, session: Inbox) -> Result<(), Self::Error>;
    /// The session with the smallest (`until`, inbox), and that `until`.
    fn first_session(&mut self) -> Result<Option<(Micros, Inbox)>, Self::Error>;

    /// A deduplication key that is remembered.
    fn key(&mut self, key: &Name) -> Result<Option<Dedupped>, Self::Error>;
    /// Remembers a key.
    fn put_key(&mut self, key: &Dedupped) -> Result<(), Self::Error>;
    /// Forgets a key.
    fn remove_key(&mut self, key: &Name) -> Result<(), Self::Error>;
    /// The key with the smallest (`until`, key).
    fn first_key(&mut self) -> Result<Option<Dedupped>, Self::Error>;
}
