//! The bounds of a world of a queue that is explored.

use seinpaal_proto::time::Micros;

use super::plant::Plant;
use crate::bounds::{ModelFault, TICK};

/// An item that is pushed.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The priority. Higher priorities go first.
    pub priority: i8,
    /// The number of ticks after which the item is due. 0 means at once.
    pub delay: u64,
    /// The group whose limit the item counts against.
    pub group: Option<&'static str>,
    /// The largest number of deliveries of the item.
    pub most: u32,
}

impl Spec {
    /// An item without a priority, a delay or a group.
    pub const PLAIN: Self = Self { priority: 0, delay: 0, group: None, most: 3 };
}

/// The end of a delivery.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum PlayedEnd {
    /// The worker acknowledges the item.
    Acknowledge,
    /// The worker gives the item back, and another worker may have it at once.
    GiveBack,
    /// The worker gives the item back, and another worker may have it later.
    GiveBackLater,
    /// The worker fails the item.
    Fail,
    /// The worker fails the item, which is tried again later.
    FailLater,
}

/// The bounds of a model of a queue: its workers, items, ends and faults.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The model's name.
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
    /// How many deliveries may end in one of `ends`.
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
    /// How many times the store's clock may step back.
    pub steps_back: u8,
    /// The length of a step of the store's clock, in ticks.
    pub clock_step: u64,
    /// The largest number of requests under way whose answers nobody waits for.
    pub copies: usize,
    /// How many wakeups may be under way. Further ones are lost.
    pub wakeups: usize,
    /// A mistake that is put in on purpose, to show that the model finds it.
    pub plant: Option<Plant>,
    /// The quiet schedule runs from one in this many states.
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

/// The delay of an item that is given back or fails for later, in ticks.
pub const LATER: u64 = 2;
