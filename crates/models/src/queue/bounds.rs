//! How large a world of a queue is explored.

use seinpaal_proto::time::Micros;

use super::plant::Plant;
use crate::bounds::{Fault, TICK};

/// What is pushed.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Higher first.
    pub priority: i8,
    /// After how many ticks it is due; 0: at once.
    pub delay: u64,
    /// Whose share it counts for.
    pub group: Option<&'static str>,
    /// How many deliveries it is allowed.
    pub most: u32,
}

impl Spec {
    /// An item like any other.
    pub const PLAIN: Self = Self { priority: 0, delay: 0, group: None, most: 3 };
}

/// How a delivery can end.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum End {
    /// Done.
    Acknowledge,
    /// For somebody else, at once.
    GiveBack,
    /// For somebody else, later.
    GiveBackLater,
    /// It failed.
    Fail,
    /// It failed, and is tried again later.
    FailLater,
}

/// What a model of a queue allows to happen.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// What the model is called.
    pub name: &'static str,
    /// Workers, beside the one who pushes.
    pub workers: usize,
    /// What is pushed, in this order.
    pub items: &'static [Spec],
    /// How many items may be in work.
    pub limit: Option<u32>,
    /// How many of a group.
    pub group_limit: Option<u32>,
    /// How many wishes each worker may have, one after the other.
    pub pops: u8,
    /// How many items a wish asks for.
    pub at_once: u32,
    /// What is finished is followed by more.
    pub goes_on: bool,
    /// How deliveries may end, besides well.
    pub ends: &'static [End],
    /// How many may end like that.
    pub returns: u8,
    /// How many items may be cancelled.
    pub cancels: u8,
    /// How long a lease lasts, in ticks.
    pub ttl: u64,
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
    /// A mistake put in on purpose, to show that it is found.
    pub plant: Option<Plant>,
    /// From how many states, one in this many, the quiet schedule is run.
    pub quiet_one_in: u64,
}

impl Bounds {
    /// One who pushes, two who work, two items; everything may go wrong, once.
    pub const BASE: Self = Self {
        name: "queue",
        workers: 2,
        items: &[Spec::PLAIN, Spec::PLAIN],
        limit: None,
        group_limit: None,
        pops: 1,
        at_once: 1,
        goes_on: true,
        ends: &[],
        returns: 0,
        cancels: 0,
        ttl: 4,
        faults: 1,
        kinds: crate::bounds::Bounds::BASE.kinds,
        clock_steps: 0,
        steps_back: 0,
        clock_step: 20,
        copies: 1,
        wakeups: 3,
        plant: None,
        quiet_one_in: 1,
    };

    /// A lease's length.
    #[must_use]
    pub fn ttl(&self) -> Micros {
        self.ttl * TICK
    }

    /// How long a client is patient with the store.
    #[must_use]
    pub fn patience(&self) -> Micros {
        2 * self.ttl()
    }

    /// The longest delay of an item, in ticks.
    #[must_use]
    pub fn longest_delay(&self) -> u64 {
        let delays = self.items.iter().map(|spec| spec.delay);
        delays.max().unwrap_or(0).max(LATER)
    }
}

/// How long "later" is, in ticks.
pub const LATER: u64 = 2;
