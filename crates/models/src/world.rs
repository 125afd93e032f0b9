//! One moment of everything: the ledger, the clients, the parcels between them, the clocks.

mod act;
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
    session::{CallId, Session, SessionConfig},
    time::Micros,
};

pub use act::Action;
pub use judge::Broken;
use naming::Naming;
pub use quiet::Stuck;
use terms::RuleOfLimit;

use crate::{
    bounds::Bounds,
    traffic::{self, Life, START, STORE_AHEAD},
};

/// One moment of everything. A step shares the parts that it does not touch with the moment before.
#[derive(Clone, Debug)]
pub struct World {
    /// The clients' clock.
    pub now: Micros,
    /// The store's clock.
    pub store_now: Micros,
    pub(crate) ledger: Arc<MemoryState>,
    pub(crate) clients: Vec<Client>,
    pub(crate) parcels: Vec<Parcel>,
    pub(crate) faults_left: u8,
    pub(crate) forward_left: u8,
    pub(crate) backward_left: u8,
    /// Whether the store's clock is set in this model.
    pub(crate) is_clock_set: bool,
    pub(crate) turns_left: u8,
    pub(crate) ghost: Ghost,
}

/// Facts that only the judge needs.
#[derive(Clone, Debug)]
pub(crate) struct Ghost {
    pub(crate) last_fence: u64,
    pub(crate) granted: BTreeSet<Ticket>,
    /// The name was forgotten after the store's clock had passed its fences. Kept only where that
    /// clock may be set back.
    pub(crate) was_forgotten: bool,
    /// The store's clock was set back.
    pub(crate) was_set_back: bool,
    /// Nothing has failed, no clock was set, and ticks are short enough to tell.
    pub(crate) is_calm: bool,
    /// Grants that somebody other than their holder ended, and when. Kept while the holder may
    /// still believe in them.
    pub(crate) ended: BTreeMap<GrantOf, Micros>,
    /// Which client has attached to which ticket.
    pub(crate) attached: Vec<(usize, Ticket)>,
    /// The limit by the rules, in models where the limit can change.
    pub(crate) terms: Option<RuleOfLimit>,
    /// The slots' names by the rules, where slots have names.
    pub(crate) naming: Option<Naming>,
    pub(crate) broken: Option<Broken>,
}

/// A grant: its client, its ticket and its fence.
pub(crate) type GrantOf = (usize, Ticket, u64);

/// A client: its session, and the knowledge of its program.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) inbox: Inbox,
    pub(crate) session: Arc<Session>,
    pub(crate) life: Life,
    /// Whether the store can reach the client.
    pub(crate) contact: Contact,
    /// The calls whose answers the client waits for, and since when.
    pub(crate) calls: Vec<(CallId, Micros)>,
    pub(crate) wants_left: u8,
    pub(crate) wanted: Vec<Ticket>,
    pub(crate) held: Vec<PermitInProgram>,
}

/// A permit in a program's hand.
#[derive(Clone, Debug)]
pub(crate) struct PermitInProgram {
    pub(crate) ticket: Ticket,
    pub(crate) fence: u64,
    pub(crate) permits: u32,
    /// The instant until which the program believes in the permit. `None`: for as long as the
    /// process lives.
    pub(crate) until: Option<Micros>,
}

/// A parcel under way.
pub(crate) type Parcel = traffic::Parcel<Batch, Replies, Wakeup>;

impl World {
    /// The first world: nobody has done anything yet.
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
            is_clock_set: bounds.clock_steps + bounds.steps_back > 0,
            turns_left: bounds.turns,
            ghost: Ghost {
                last_fence: 0,
                granted: BTreeSet::new(),
                was_forgotten: false,
                was_set_back: false,
                is_calm: bounds.sees_renewals(),
                ended: BTreeMap::new(),
                attached: Vec::new(),
                terms: bounds.has_terms().then(RuleOfLimit::default),
                naming: bounds.has_names().then(Naming::default),
                broken: None,
            },
        }
    }

    /// The one name.
    pub(crate) fn name() -> Name {
        Name::new("n").unwrap_or_else(|_| unreachable!("a letter is a name"))
    }

    /// How many permits clients believe to hold at this moment.
    #[must_use]
    pub fn believed(&self) -> u32 {
        self.beliefs().map(|(_, held)| held.permits).sum()
    }

    /// The holders and waiters of the ledger.
    pub fn entries(&self) -> impl Iterator<Item = (usize, &Standing)> {
        self.ledger.entries().map(|entry| {
            let owner = self.clients.iter().position(|client| Some(client.inbox) == entry.inbox);
            (owner.unwrap_or(usize::MAX), &entry.standing)
        })
    }

    /// The rule that the last step broke.
    #[must_use]
    pub fn broken(&self) -> Option<Broken> {
        self.ghost.broken
    }
}

impl Client {
    fn new(who: usize, bounds: &Bounds) -> Self {
        let inbox = Inbox((who as u128 + 1) << 64);
        let config = SessionConfig {
            ttl: bounds.ttl(),
            waiter_ttl: bounds.place(),
            patience: 2 * bounds.ttl(),
            ..SessionConfig::default()
        };
        // A store tells a client its clock when the client opens it.
        let mut session = Session::new(inbox, config);
        session.learn_clock(START + STORE_AHEAD, START);
        Self {
            inbox,
            session: Arc::new(session),
            life: Life::Alive,
            contact: Contact::Listening,
            calls: Vec::new(),
            wants_left: bounds.wants,
            wanted: Vec::new(),
            held: Vec::new(),
        }
    }
}
