//! The bounds of a world of a queue that is explored.

use seinpaal_proto::time::Micros;

use super::plant::Plant;
use crate::bounds::{ModelFault, TICK};

/// An item that is pushed.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The priority. Higher priorities go first.
    pub priority: i8,
    /// After how many ticks it is due. 0 is at once.
    pub delay: u64,
    /// The group whose limit it counts against.
    pub group: Option<&'static str>,
    /// How many deliveries it is allowed.
    pub most: u32,
}

impl Spec {
    /// An item like any other.
    pub const PLAIN: Self = Self { priority: 0, delay: 0, group: None, most: 3 };
}

/// The end of a delivery.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum PlayedEnd {
    /// The worker acknowledges it.
    Acknowledge,
    /// The worker gives it back for another, at once.
    GiveBack,
    /// The worker gives it back for another, later.
    GiveBackLater,
    /// The worker fails it.
    Fail,
    /// The worker fails it, and the item is tried again later.
    FailLater,
}

/// What a model of a queue allows to happen.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// What the model is called.
    pub name: &'static str,
    /// How many workers there are, beside the client that pushes.
    pub workers: usize,
    /// The items that are pushed, in this order.
    pub items: &'static [Spec],
    /// How many items may be in work.
    pub limit: Option<u32>,
    /// How many items of a group may be in work.
    pub group_limit: Option<u32>,
    /// How many wants each worker may have, one after the other.
    pub pops: u8,
    /// How many items a want asks for.
    pub at_once: u32,
    /// Whether a worker that has finished an item gets more.
    pub goes_on: bool,
    /// The ends that deliveries may have besides an acknowledgement.
    pub ends: &'static [PlayedEnd],
    /// How many deliveries may end like that.
    pub returns: u8,
    /// How many items may be cancelled.
    pub cancels: u8,
    /// How long a lease lasts, in ticks.
    pub ttl: u64,
    /// How many faults of any kind one history may have.
    pub faults: u8,
    /// The kinds of faults.
    pub kinds: &'static [ModelFault],
    /// How many times the store's clock may step forward in one history.
    pub clock_steps: u8,
    /// How many times it may step back.
    pub steps_back: u8,
    /// The length of such a step, in ticks.
    pub clock_step: u64,
    /// How many copies of requests whose answer nobody waits for may be under way.
    pub copies: usize,
    /// How many wakeups may be under way. Further ones are lost.
    pub wakeups: usize,
    /// A mistake that is put in on purpose, to show that the model finds it.
    pub plant: Option<Plant>,
    /// The quiet schedule is run from one in this many states.
    pub quiet_one_in: u64,
}

impl Bounds {
    /// One client pushes, two work, and there are two items. Everything may go wrong, once.
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

    /// The length of a lease.
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
