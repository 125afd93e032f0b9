//! How large a world is explored.

use seinpaal_proto::time::{Micros, SECOND};

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
    /// From how many states, one in this many, the quiet schedule is run.
    pub quiet_one_in: u64,
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
        quiet_one_in: 1,
    };

    /// A lease's length.
    #[must_use]
    pub fn ttl(&self) -> Micros {
        self.ttl * TICK
    }

    /// The length of a place in the queue.
    #[must_use]
    pub fn place(&self) -> Micros {
        self.place * TICK
    }
}
