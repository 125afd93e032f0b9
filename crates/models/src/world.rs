//! One moment of everything: the ledger, the clients, what is under way between them, the clocks.

mod act;
mod asking;
mod belief;
mod fault;
mod fingerprint;
mod hear;
mod judge;
mod naming;
mod quiet;
mod serve;
mod steer;
mod step;
mod terms;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use seinpaal_proto::{
    Batch, Contact, Inbox, MemoryState, Name, Replies, Standing, Ticket, Wakeup,
    session::{CallId, Config, Session},
    time::{Micros, SECOND},
};

pub use act::Action;
use asking::{AskedThen, Asking};
pub use judge::Broken;
use naming::Naming;
pub use quiet::Stuck;
use terms::Terms;

use crate::bounds::Bounds;

/// Where the clocks begin: far enough from 0 that nothing is before the beginning.
const START: Micros = 1_000_000 * SECOND;
/// The store's clock is another than the clients'.
const STORE_AHEAD: Micros = 1_000_000 * SECOND;

/// One moment of everything. Parts that a step does not touch are shared with the moment before.
#[derive(Clone, Debug)]
pub struct World {
    /// The clients' clock.
    pub now: Micros,
    /// The store's.
    pub store_now: Micros,
    pub(crate) ledger: Arc<MemoryState>,
    pub(crate) clients: Vec<Client>,
    pub(crate) parcels: Vec<Parcel>,
    pub(crate) faults_left: u8,
    pub(crate) forward_left: u8,
    pub(crate) backward_left: u8,
    pub(crate) turns_left: u8,
    pub(crate) ghost: Ghost,
}

/// What is remembered only to judge by.
#[derive(Clone, Debug)]
pub(crate) struct Ghost {
    pub(crate) last_fence: u64,
    pub(crate) granted: BTreeSet<Ticket>,
    /// The name was forgotten, when the store's clock had passed its fences. Kept only where that may be set back.
    pub(crate) was_forgotten: bool,
    /// The store's clock was set back.
    pub(crate) was_set_back: bool,
    /// Nothing has failed, and no clock was set, where ticks are short enough to tell.
    pub(crate) is_calm: bool,
    /// Grants that somebody else than their holder ended, and when. Kept while the holder may still believe in them.
    pub(crate) ended: BTreeMap<GrantOf, Micros>,
    /// Who has attached to what.
    pub(crate) attached: Vec<(usize, Ticket)>,
    /// What the limit is by the rules, where it is not one number all the time.
    pub(crate) terms: Option<Terms>,
    /// What slots are called by the rules, where they have names.
    pub(crate) naming: Option<Naming>,
    /// What was asked of holders, where they are asked.
    pub(crate) asking: Option<Asking>,
    pub(crate) broken: Option<Broken>,
}

/// A grant: whose, of which ticket, with which fence.
pub(crate) type GrantOf = (usize, Ticket, u64);

/// A client: its session, and what its program knows.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) inbox: Inbox,
    pub(crate) session: Arc<Session>,
    pub(crate) life: Life,
    /// What the store knows of it.
    pub(crate) contact: Contact,
    /// The calls that it waits for, and since when.
    pub(crate) calls: Vec<(CallId, Micros)>,
    pub(crate) wishes_left: u8,
    pub(crate) wanted: Vec<Ticket>,
    pub(crate) held: Vec<Held>,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Life {
    Alive,
    Paused,
    Gone,
}

/// A permit in a program's hand.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) ticket: Ticket,
    pub(crate) fence: u64,
    pub(crate) permits: u32,
    /// Until when it is believed in; `None`: as long as the process lives.
    pub(crate) until: Option<Micros>,
}

/// What is under way. It arrives before the next tick, unless it is late.
#[derive(Clone, Debug)]
pub(crate) struct Parcel {
    /// It may arrive at any time from now on.
    pub(crate) is_late: bool,
    pub(crate) load: Load,
}

#[derive(Clone, Debug)]
pub(crate) enum Load {
    /// To the store; the call is the one that its sender waits for, if it still does.
    Request { from: usize, call: Option<CallId>, batch: Arc<Batch> },
    /// To a client that waits for it, with what had been asked of its permits when the store renewed them.
    Replies { to: usize, call: CallId, replies: Arc<Replies>, asked: AskedThen },
    /// To a client.
    Wakeup { to: usize, wakeup: Arc<Wakeup> },
}

impl World {
    /// Nobody has done anything yet.
    #[must_use]
    pub fn new(bounds: &Bounds) -> Self {
        Self {
            now: START,
            store_now: START + STORE_AHEAD,
            ledger: Arc::default(),
            clients: (0..bounds.clients).map(|who| Client::new(who, bounds)).collect(),
            parcels: Vec::new(),
            faults_left: bounds.faults,
            forward_left: bounds.clock_steps,
            backward_left: bounds.steps_back,
            turns_left: bounds.turns,
            ghost: Ghost {
                last_fence: 0,
                granted: BTreeSet::new(),
                was_forgotten: false,
                was_set_back: false,
                is_calm: bounds.sees_renewals(),
                ended: BTreeMap::new(),
                attached: Vec::new(),
                terms: bounds.has_terms().then(Terms::default),
                naming: bounds.has_names().then(Naming::default),
                asking: bounds.has_asks().then(Asking::default),
                broken: None,
            },
        }
    }

    /// The one name.
    pub(crate) fn name() -> Name {
        Name::new("n").unwrap_or_else(|_| unreachable!("a letter is a name"))
    }

    /// What clients believe to hold at this moment, in all.
    #[must_use]
    pub fn believed(&self) -> u32 {
        self.beliefs().map(|(_, held)| held.permits).sum()
    }

    /// Who holds and who waits, as the ledger has it.
    pub fn entries(&self) -> impl Iterator<Item = (usize, &Standing)> {
        self.ledger.entries().map(|entry| {
            let owner = self.clients.iter().position(|client| Some(client.inbox) == entry.inbox);
            (owner.unwrap_or(usize::MAX), &entry.standing)
        })
    }

    /// Which rule the last step broke.
    #[must_use]
    pub fn broken(&self) -> Option<Broken> {
        self.ghost.broken
    }
}

impl Client {
    fn new(who: usize, bounds: &Bounds) -> Self {
        let inbox = Inbox((who as u128 + 1) << 64);
        let config = Config {
            ttl: bounds.ttl(),
            waiter_ttl: bounds.place(),
            patience: 2 * bounds.ttl(),
            ..Config::default()
        };
        // A store tells its clock when it is opened.
        let mut session = Session::new(inbox, config);
        session.learn_clock(START + STORE_AHEAD, START);
        Self {
            inbox,
            session: Arc::new(session),
            life: Life::Alive,
            contact: Contact::Listening,
            calls: Vec::new(),
            wishes_left: bounds.wishes,
            wanted: Vec::new(),
            held: Vec::new(),
        }
    }
}
