//! The bounds of a world that is explored.

use seinpaal_proto::{
    Limit, LimitRule, OnMismatch,
    session::SessionConfig,
    time::{Micros, SECOND},
};

use crate::plant::Plant;

/// The step in which time passes. It is long beside any jitter, so jitter cannot be seen.
pub const TICK: Micros = SECOND;

/// The bounds of a model: how many clients, requests and faults it has, and of which kinds.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The model's name.
    pub name: &'static str,
    /// How many clients there are.
    pub clients: usize,
    /// How many permits exist.
    pub limit: u32,
    /// How many permits a request may ask for.
    pub weights: &'static [u32],
    /// How many requests each client may make.
    pub wants: u8,
    /// How many requests of a client may hold or wait at a time.
    pub at_once: usize,
    /// How long a lease lasts, in ticks.
    pub ttl: u64,
    /// How long a place in the queue lasts, in ticks.
    pub place: u64,
    /// How many faults of any kind one history may have.
    pub faults: u8,
    /// The kinds of faults.
    pub kinds: &'static [ModelFault],
    /// How many times the store's clock may step forward in one history.
    pub clock_steps: u8,
    /// How many times the store's clock may step back.
    pub steps_back: u8,
    /// The length of a step of the store's clock, in ticks.
    pub clock_step: u64,
    /// The largest number of requests under way whose answers nobody waits for.
    pub copies: usize,
    /// How many wakeups may be under way. Further ones are lost.
    pub wakeups: usize,
    /// Whether the judge also reports violations that a step back of the store's clock excuses.
    pub is_strict: bool,
    /// A mistake that is put in on purpose, to show that the model finds it.
    pub plant: Option<Plant>,
    /// The statements that requests may make about the limit. If there are none, each request
    /// states `limit`.
    pub rules: &'static [Rule],
    /// How often, in one history, an operator may act, and a client may act on permits of others.
    pub turns: u8,
    /// The acts of operators and clients that may happen.
    pub steers: &'static [Steer],
    /// The names of slots that requests may wish for. The empty name stands for no wish. If the
    /// list is empty, no request has a wish.
    pub slots: &'static [&'static str],
    /// The quiet schedule runs from one in this many states.
    pub quiet_one_in: u64,
}

/// The statement of a request about the limit.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Rule {
    /// The request states nothing.
    Nothing,
    /// The request is refused if holders or waiters have stated another limit. It uses a pinned
    /// limit.
    Refuse(u32),
    /// The request uses the limit in force, and states this one if there is none.
    Adopt(u32),
    /// The request replaces the limit that holders and waiters have stated. A pinned limit stays in
    /// force.
    Set(u32),
    /// The request is refused if another limit is in force, also if an operator pinned it.
    Exact(u32),
}

impl Rule {
    /// The rule as a request carries it.
    pub(crate) fn to_request(self) -> Option<LimitRule> {
        let (limit, on_mismatch) = match self {
            Self::Nothing => return None,
            Self::Refuse(limit) => (limit, OnMismatch::Refuse),
            Self::Adopt(limit) => (limit, OnMismatch::Adopt),
            Self::Set(limit) => (limit, OnMismatch::Set),
            Self::Exact(limit) => (limit, OnMismatch::Exact),
        };
        let limit = Limit::new(limit).unwrap_or(Limit::ONE);
        Some(LimitRule { limit, on_mismatch })
    }
}

/// An act of an operator, or of a client on permits of others.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Steer {
    /// A client attaches to a ticket that another holds, or that has no owner.
    Attach,
    /// A client leaves its permit without an owner.
    Detach,
    /// An operator releases a ticket.
    Release,
    /// An operator evicts a ticket.
    Evict,
    /// A script renews a ticket of another client.
    Renew,
    /// An operator pins the limit.
    Pin(u32),
    /// An operator unpins the limit, and removes the slots' names.
    Unpin,
    /// An operator gives the slots these names, which are separated by commas.
    Name(&'static str),
}

/// A fault.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ModelFault {
    /// A client's connection breaks while it waits for an answer. Its request or the reply may be
    /// lost, or the request may arrive later.
    Break,
    /// A request arrives twice. The copy may arrive at any later time.
    Repeat,
    /// A message under way may arrive at any later time.
    Delay,
    /// A wakeup is lost.
    LoseWakeup,
    /// A client is gone, and the store knows that nobody listens at its inbox.
    Crash,
    /// A client is gone, and the store does not know.
    Vanish,
    /// A client does nothing for a while; its clock goes on.
    Pause,
    /// A client has no subscription for a while, and the store knows.
    Deaf,
}

impl Bounds {
    /// Two clients and one permit, where everything may go wrong, once or twice.
    pub const BASE: Self = Self {
        name: "two",
        clients: 2,
        limit: 1,
        weights: &[1],
        wants: 1,
        at_once: 1,
        ttl: 6,
        place: 3,
        faults: 1,
        kinds: &[
            ModelFault::Break,
            ModelFault::Repeat,
            ModelFault::Delay,
            ModelFault::LoseWakeup,
            ModelFault::Crash,
            ModelFault::Vanish,
            ModelFault::Pause,
            ModelFault::Deaf,
        ],
        clock_steps: 0,
        steps_back: 0,
        clock_step: 20,
        copies: 1,
        wakeups: 2,
        is_strict: false,
        plant: None,
        rules: &[],
        turns: 0,
        steers: &[],
        slots: &[],
        quiet_one_in: 1,
    };

    /// The statements that requests may make about the limit.
    pub(crate) fn stated(&self) -> Vec<Rule> {
        if self.rules.is_empty() { vec![Rule::Refuse(self.limit)] } else { self.rules.to_vec() }
    }

    /// Returns whether the statements of requests decide the limit. Otherwise the limit never
    /// changes.
    pub(crate) fn has_terms(&self) -> bool {
        !self.rules.is_empty()
    }

    /// The names of slots that requests may wish for.
    pub(crate) fn wished(&self) -> &'static [&'static str] {
        if self.slots.is_empty() { &[""] } else { self.slots }
    }

    /// Returns whether slots have names, and requests may wish for one.
    pub(crate) fn has_names(&self) -> bool {
        !self.slots.is_empty()
    }

    /// The length of a lease.
    #[must_use]
    pub fn ttl(&self) -> Micros {
        self.ttl * TICK
    }

    /// Returns whether a tick lies between the first renewal and danger, so that a client sees them
    /// at different ticks.
    pub(crate) fn sees_renewals(&self) -> bool {
        let schedule = SessionConfig::default().schedule(self.ttl());
        schedule.renew().next_multiple_of(TICK) < schedule.danger()
    }

    /// The length of a place in the queue.
    #[must_use]
    pub fn place(&self) -> Micros {
        self.place * TICK
    }
}
