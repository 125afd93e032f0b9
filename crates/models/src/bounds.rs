//! How large a world is explored.

use seinpaal_proto::{
    Limit, LimitRule, OnMismatch,
    session::Config,
    time::{Micros, SECOND},
};

use crate::plant::Plant;

/// Time passes in steps of this. It is long beside any jitter, so that jitter cannot be seen.
pub const TICK: Micros = SECOND;

/// What a model allows to happen.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// What the model is called.
    pub name: &'static str,
    /// Clients.
    pub clients: usize,
    /// Permits that exist.
    pub limit: u32,
    /// How many permits a request may ask for.
    pub weights: &'static [u32],
    /// Requests that each client may make.
    pub wishes: u8,
    /// Of what each client may still hold or want at once.
    pub at_once: usize,
    /// How long a lease lasts, in ticks, and a place in the queue.
    pub ttl: u64,
    /// How long a place in the queue lasts, in ticks.
    pub place: u64,
    /// Faults of any kind in one history.
    pub faults: u8,
    /// Which faults.
    pub kinds: &'static [Fault],
    /// Steps of the store's clock forward, at most, in one history.
    pub clock_steps: u8,
    /// And back.
    pub steps_back: u8,
    /// How far such a step goes, in ticks.
    pub clock_step: u64,
    /// Copies of requests under way whose answer nobody waits for, at most.
    pub copies: usize,
    /// Wakeups under way, at most; more are lost.
    pub wakeups: usize,
    /// Whether to judge also what is not promised once the store's clock was set back.
    pub is_strict: bool,
    /// A mistake put in on purpose, to show that it is found.
    pub plant: Option<Plant>,
    /// What a request may state about the limit; none: that it is `limit`.
    pub rules: &'static [Rule],
    /// What may be done to permits of others and by an operator, in one history at most so often.
    pub turns: u8,
    /// What of it.
    pub steers: &'static [Steer],
    /// Which slots a request may wish for, by name; an empty one: none. No names: nobody wishes.
    pub slots: &'static [&'static str],
    /// From how many states, one in this many, the quiet schedule is run.
    pub quiet_one_in: u64,
}

/// What a request states about the limit.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Rule {
    /// Nothing.
    Nothing,
    /// It is this many, or the request is refused.
    Refuse(u32),
    /// It is this many, unless another is stated.
    Adopt(u32),
    /// It is to be this many.
    Set(u32),
    /// It is this many, whoever says otherwise.
    Exact(u32),
}

impl Rule {
    /// As a request carries it.
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

/// What may be done to permits of others, and by an operator.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Steer {
    /// A client attaches to what another holds or has left to itself.
    Attach,
    /// A client leaves what it holds to itself.
    Detach,
    /// An operator gives back somebody's ticket.
    Release,
    /// An operator evicts somebody.
    Evict,
    /// A script renews somebody's ticket.
    Renew,
    /// An operator pins the limit.
    Pin(u32),
    /// An operator lets go of it, and of the slots' names.
    Unpin,
    /// An operator names the slots: these, with commas between them.
    Name(&'static str),
    /// A person of this name asks whoever holds to hand over.
    Ask(&'static str),
}

/// What may go wrong.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Fault {
    /// A client's connection breaks while it waits for an answer; its request or the reply may be lost, or
    /// the request arrive later.
    Break,
    /// A request arrives twice, the copy at any time later.
    Repeat,
    /// Something under way arrives late, and at any time.
    Delay,
    /// A wakeup is lost.
    LoseWakeup,
    /// A client is gone, and the store knows that nobody listens at its inbox.
    Crash,
    /// A client is gone, and the store does not know.
    Vanish,
    /// A client does nothing for a while; its clock goes on.
    Pause,
    /// A client's subscription is away for a while, and the store knows.
    Deaf,
}

impl Bounds {
    /// Two clients, one permit, everything may go wrong, once or twice.
    pub const BASE: Self = Self {
        name: "two",
        clients: 2,
        limit: 1,
        weights: &[1],
        wishes: 1,
        at_once: 1,
        ttl: 6,
        place: 3,
        faults: 1,
        kinds: &[
            Fault::Break,
            Fault::Repeat,
            Fault::Delay,
            Fault::LoseWakeup,
            Fault::Crash,
            Fault::Vanish,
            Fault::Pause,
            Fault::Deaf,
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

    /// What requests may state.
    pub(crate) fn stated(&self) -> Vec<Rule> {
        if self.rules.is_empty() { vec![Rule::Refuse(self.limit)] } else { self.rules.to_vec() }
    }

    /// Whether the limit is what the rules make of it, and not one number all the time.
    pub(crate) fn has_terms(&self) -> bool {
        !self.rules.is_empty()
    }

    /// What requests may wish for.
    pub(crate) fn wished(&self) -> &'static [&'static str] {
        if self.slots.is_empty() { &[""] } else { self.slots }
    }

    /// Whether slots have names, and some wish for one.
    pub(crate) fn has_names(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Whether holders are asked to hand over.
    pub(crate) fn has_asks(&self) -> bool {
        self.steers.iter().any(|steer| matches!(steer, Steer::Ask(_)))
    }

    /// A lease's length.
    #[must_use]
    pub fn ttl(&self) -> Micros {
        self.ttl * TICK
    }

    /// Whether a tick lies between the first renewal and danger, both being seen at the next tick.
    pub(crate) fn sees_renewals(&self) -> bool {
        let schedule = Config::default().schedule(self.ttl());
        schedule.renew().next_multiple_of(TICK) < schedule.danger()
    }

    /// The length of a place in the queue.
    #[must_use]
    pub fn place(&self) -> Micros {
        self.place * TICK
    }
}
