//! One queue, its clients and its clock, for the tests of the ledger.

use std::{collections::BTreeMap, string::String, vec, vec::Vec};

use crate::{
    Contact, Contacts, Inbox, Limit, Name, Priority,
    queue::{
        Batch, Configure, Delivery, Due, How, ItemId, ItemPosition, ItemRow, ItemState,
        MemoryQueue, Outcome, Pop, Popped, Push, Reply, Request, Snapshot, Wakeup, What, execute,
    },
    time::{Micros, SECOND, margin},
};

/// The ttl of every pop that states none.
pub(super) const TTL: Micros = 30 * SECOND;
const PATIENCE: Micros = 30 * SECOND;
/// The most rows that a look asks for.
const ROWS: u32 = 100;

/// A queue with its clients, which are numbers. Every client listens unless a test says otherwise.
pub(super) struct World {
    pub(super) state: MemoryQueue,
    pub(super) contacts: Oracle,
    pub(super) now: Micros,
    /// The number that every client claims to have seen.
    pub(super) seen: u64,
    numbers: BTreeMap<u128, u64>,
}

#[derive(Default)]
pub(super) struct Oracle(pub(super) BTreeMap<u128, Contact>);

impl Contacts for Oracle {
    fn contact(&mut self, inbox: Inbox) -> Contact {
        self.0.get(&inbox.0).copied().unwrap_or(Contact::Listening)
    }
}

impl World {
    pub(super) fn new() -> Self {
        let (state, contacts) = (MemoryQueue::default(), Oracle::default());
        Self { state, contacts, now: 1_000_000 * SECOND, seen: 0, numbers: BTreeMap::new() }
    }

    /// Returns a batch that this client has not sent before.
    pub(super) fn batch(&mut self, client: u128, requests: Vec<Request>) -> Batch {
        let number = self.numbers.entry(client).or_default();
        *number += 1;
        Batch {
            name: Name::new("q").unwrap(),
            session: Inbox(client),
            number: *number,
            not_after: self.now + PATIENCE,
            seen: self.seen,
            requests,
        }
    }

    /// Executes a batch and checks the state that it leaves.
    pub(super) fn execute(&mut self, batch: &Batch) -> Outcome {
        let Ok(outcome) = execute(&mut self.state, &mut self.contacts, self.now, batch);
        self.state.check().unwrap();
        outcome
    }

    pub(super) fn send(&mut self, client: u128, requests: Vec<Request>) -> Outcome {
        let batch = self.batch(client, requests);
        self.execute(&batch)
    }

    pub(super) fn ask(&mut self, client: u128, request: Request) -> Reply {
        self.send(client, vec![request]).replies.replies.remove(0)
    }

    /// Handles everything that is due. Returns the wakeups.
    pub(super) fn settle(&mut self) -> Vec<(u128, What)> {
        told(self.send(99, vec![]).wakeups)
    }

    pub(super) fn pass(&mut self, time: Micros) {
        self.now += time;
    }

    pub(super) fn push(&mut self, push: Push) -> u64 {
        match self.ask(1, Request::Push(push)) {
            Reply::Pushed { id } => id.0,
            other => panic!("not pushed: {other:?}"),
        }
    }

    pub(super) fn pop(&mut self, client: u128, items: u32) -> Vec<Popped> {
        self.pop_as(client, pop(items))
    }

    pub(super) fn pop_as(&mut self, client: u128, pop: Pop) -> Vec<Popped> {
        match self.ask(client, Request::Pop(pop)) {
            Reply::Popped { items, .. } => items,
            other => panic!("not popped: {other:?}"),
        }
    }

    /// Returns the payloads of the items that a client pops.
    pub(super) fn texts(&mut self, client: u128, items: u32) -> Vec<std::string::String> {
        let text = |popped: Popped| std::string::String::from_utf8(popped.payload).unwrap();
        self.pop(client, items).into_iter().map(text).collect()
    }

    pub(super) fn finish(&mut self, client: u128, delivery: Delivery, how: How) -> Reply {
        self.ask(client, Request::Finish { delivery, how })
    }

    pub(super) fn limit(&mut self, limit: u32) {
        self.configure(Configure::Limit(Some(Limit::new(limit).unwrap())));
    }

    pub(super) fn group_limit(&mut self, limit: u32) {
        self.configure(Configure::GroupLimit(Some(Limit::new(limit).unwrap())));
    }

    pub(super) fn configure(&mut self, change: Configure) -> Vec<(u128, What)> {
        told(self.send(98, vec![Request::Configure(change)]).wakeups)
    }

    /// Looks at the queue. Its snapshot has no contradictions, after any history.
    pub(super) fn look(&mut self) -> Snapshot {
        let lists = ItemState::ALL.map(ItemPosition::before);
        let lists = lists.map(|after| Request::List { after, rows: Batch::MOST_ROWS });
        let requests = [Request::Inspect { rows: ROWS }].into_iter().chain(lists).collect();
        let mut replies = self.send(97, requests).replies.replies.into_iter();
        let Some(Reply::Snapshot(snapshot)) = replies.next() else { panic!("no snapshot") };
        let lists: Vec<_> = replies.map(whole).collect();
        let lists: Vec<_> =
            ItemState::ALL.into_iter().zip(lists.iter().map(Vec::as_slice)).collect();
        assert_eq!(snapshot.contradictions(&lists, ROWS), Vec::<String>::new(), "{snapshot:?}");
        snapshot
    }

    /// Returns all pages of this many rows.
    pub(super) fn list(&mut self, state: ItemState, rows: u32) -> Vec<Vec<ItemRow>> {
        let (mut pages, mut next) = (Vec::new(), Some(ItemPosition::before(state)));
        while let Some(after) = next {
            let (page, behind) = self.page(after, rows);
            pages.push(page);
            next = behind;
        }
        pages
    }

    pub(super) fn page(
        &mut self,
        after: ItemPosition,
        rows: u32,
    ) -> (Vec<ItemRow>, Option<ItemPosition>) {
        match self.ask(97, Request::List { after, rows }) {
            Reply::Items { rows, next } => (rows, next),
            other => panic!("no items: {other:?}"),
        }
    }
}

fn whole(reply: Reply) -> Vec<ItemRow> {
    match reply {
        Reply::Items { rows, next: None } => rows,
        other => panic!("not a whole list: {other:?}"),
    }
}

pub(super) fn told(wakeups: Vec<Wakeup>) -> Vec<(u128, What)> {
    wakeups.into_iter().map(|wakeup| (wakeup.inbox.0, wakeup.what)).collect()
}

pub(super) fn item(text: &str) -> Push {
    Push {
        payload: text.as_bytes().to_vec(),
        priority: Priority::default(),
        due: Due::Now,
        group: None,
        dedup: None,
        most: 3,
        about: "maker".into(),
    }
}

pub(super) fn of_group(group: &str, text: &str) -> Push {
    Push { group: Some(Name::new(group).unwrap()), ..item(text) }
}

pub(super) fn pop(items: u32) -> Pop {
    Pop { items, ttl: TTL, margin: margin(TTL), wait: false, drains: false, about: "worker".into() }
}

pub(super) fn waiting(items: u32) -> Pop {
    Pop { wait: true, ..pop(items) }
}

pub(super) fn unknown(id: u64) -> Reply {
    Reply::Unknown { id: ItemId(id) }
}
