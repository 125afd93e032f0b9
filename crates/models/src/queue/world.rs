//! One moment of everything about a queue: the ledger, the clients, the parcels under way, the
//! clocks.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use seinpaal_proto::{
    Contact, Inbox, Limit, Name,
    queue::{
        Batch, Configure, Delivery, ItemId, MemoryQueue, Replies, Request, Wakeup,
        session::{Bearings, OneOffId, PopId, Session},
    },
    session::{CallId, SessionConfig},
    time::Micros,
};

use super::{bounds::Bounds, broken::Broken, plant::Plant};
use crate::traffic::{self, Life, START, STORE_AHEAD};

/// One moment of everything. A step shares the parts that it does not touch with the moment before.
#[derive(Clone, Debug)]
pub struct World {
    /// The clients' clock.
    pub now: Micros,
    /// The store's clock.
    pub store_now: Micros,
    pub(super) ledger: Arc<MemoryQueue>,
    /// The first client pushes, and the others work.
    pub(super) clients: Vec<Client>,
    pub(super) parcels: Vec<Parcel>,
    pub(super) pushed: usize,
    pub(super) returns_left: u8,
    pub(super) cancels_left: u8,
    pub(super) faults_left: u8,
    pub(super) forward_left: u8,
    pub(super) backward_left: u8,
    /// Whether the store's clock is set in this model.
    pub(super) is_clock_set: bool,
    pub(super) ghost: Ghost,
}

/// Facts that only the judge needs.
#[derive(Clone, Debug)]
pub(super) struct Ghost {
    pub(super) items: Vec<ItemFate>,
    /// The item of each delivery, and which of its deliveries it is.
    pub(super) fences: BTreeMap<u64, (usize, u32)>,
    /// The last number that the ledger gave.
    pub(super) last: u64,
    /// The deliveries that programs were handed.
    pub(super) handed: BTreeSet<u64>,
    /// A wakeup was lost or a client died that the ledger counted on, so an item may wait until an
    /// idle worker looks by itself.
    pub(super) is_slow: bool,
    /// The store's clock was set back.
    pub(super) was_set_back: bool,
    pub(super) broken: Option<Broken>,
}

/// The fate of an item.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(super) struct ItemFate {
    pub(super) id: Option<u64>,
    pub(super) answer: Told,
    pub(super) fate: Fate,
    pub(super) deliveries: u32,
    pub(super) returned: u32,
    /// The item was pushed twice, which is excused only where the store's clock was set back.
    pub(super) is_doubled: bool,
    /// The delivery by which it was acknowledged.
    pub(super) done_by: Option<u64>,
}

/// The answer that the item's maker got.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(super) enum Told {
    #[default]
    Nothing,
    Pushed,
    NotPushed,
    Unknown,
}

/// The state of an item, by the judge.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(super) enum Fate {
    #[default]
    Unpushed,
    There,
    Acknowledged,
    Cancelled,
    Dead,
}

/// A client: its session, and the knowledge of its program.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) inbox: Inbox,
    pub(super) session: Arc<Session>,
    pub(super) life: Life,
    /// Whether the store can reach the client.
    pub(super) contact: Contact,
    /// The call whose answer the client waits for, and since when.
    pub(super) call: Option<(CallId, Micros)>,
    pub(super) pops_left: u8,
    /// Whether the want goes on after items were delivered.
    pub(super) goes_on: bool,
    pub(super) pop: Option<PopId>,
    pub(super) one_offs: Vec<(OneOffId, ModelRequest)>,
    pub(super) held: Vec<ItemInProgram>,
}

/// A request of a program.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum ModelRequest {
    Push(usize),
    Cancel(usize),
}

/// An item in a program's hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct ItemInProgram {
    pub(super) delivery: Delivery,
    /// The instant until which the program believes in the delivery. `None`: for as long as the
    /// process lives.
    pub(super) until: Option<Micros>,
}

/// A parcel under way.
pub(super) type Parcel = traffic::Parcel<Batch, Replies, Wakeup>;

impl World {
    /// The first world: nobody has done anything, and the limits are set.
    #[must_use]
    pub fn new(bounds: &Bounds) -> Self {
        let ghost = Ghost {
            items: vec![ItemFate::default(); bounds.items.len()],
            fences: BTreeMap::new(),
            last: 0,
            handed: BTreeSet::new(),
            is_slow: false,
            was_set_back: false,
            broken: None,
        };
        let mut world = Self {
            now: START,
            store_now: START + STORE_AHEAD,
            ledger: Arc::default(),
            clients: (0..=bounds.workers).map(|who| Client::new(who, bounds, START)).collect(),
            parcels: Vec::new(),
            pushed: 0,
            returns_left: bounds.returns,
            cancels_left: bounds.cancels,
            faults_left: bounds.faults,
            forward_left: bounds.clock_steps,
            backward_left: bounds.steps_back,
            is_clock_set: bounds.clock_steps + bounds.steps_back > 0,
            ghost,
        };
        let more = u32::from(bounds.plant == Some(Plant::GroupOneMore));
        let group_limit = bounds.group_limit.map(|limit| limit + more);
        world.configure(bounds, bounds.limit, group_limit);
        world
    }

    pub(super) fn configure(&mut self, bounds: &Bounds, limit: Option<u32>, group: Option<u32>) {
        let limit_of = |limit: Option<u32>| limit.and_then(|limit| Limit::new(limit).ok());
        let changes = [Configure::Limit(limit_of(limit)), Configure::GroupLimit(limit_of(group))];
        self.ask_aside(bounds, changes.map(Request::Configure).to_vec());
    }

    /// The one queue.
    pub(super) fn name() -> Name {
        Name::new("q").unwrap_or_else(|_| unreachable!("a letter is a name"))
    }

    /// The rule that the last step broke.
    #[must_use]
    pub fn broken(&self) -> Option<Broken> {
        self.ghost.broken
    }

    /// Returns the place of an item in the order of pushes.
    pub(super) fn nth(&self, id: ItemId) -> Option<usize> {
        self.ghost.items.iter().position(|tale| tale.id == Some(id.0))
    }
}

impl Client {
    /// A client that has done nothing yet, on the clock of clients.
    pub(super) fn new(who: usize, bounds: &Bounds, now: Micros) -> Self {
        let inbox = Inbox((who as u128 + 1) << 64);
        let config = SessionConfig {
            ttl: bounds.ttl(),
            patience: bounds.patience(),
            ..SessionConfig::default()
        };
        // A store tells a client its clock when the client opens it.
        let clock = Some((now + STORE_AHEAD, now, now));
        let bearings = Bearings { clock, ..Bearings::default() };
        let session = Session::new(inbox, World::name(), config, bearings);
        Self {
            inbox,
            session: Arc::new(session),
            life: Life::Alive,
            contact: Contact::Listening,
            call: None,
            pops_left: if who > 0 { bounds.pops } else { 0 },
            goes_on: bounds.goes_on,
            pop: None,
            one_offs: Vec::new(),
            held: Vec::new(),
        }
    }
}
