//! A load of items. One task fills a queue, and worker processes empty it. The rig kills workers
//! all the time.
//!
//! [`queue`](crate::queue) judges the beliefs of workers under every kind of fault. This module
//! judges items by their numbers, so it can count many more items. No item may be lost, done twice,
//! or out of order.

pub mod args;
pub mod check;
mod give_backs;
pub mod history;
pub mod report;
pub mod rig;
pub mod store;
pub mod worker;

use std::{fmt, path::PathBuf, time::Duration};

use check::ItemRules;
use store::{ItemStore, StoreFault};

/// The queue.
pub const NAME: &str = "torture";

/// The plan of a run.
#[derive(Clone, Debug)]
pub struct ItemPlan {
    /// The store.
    pub kind: ItemStore,
    /// How many items are pushed.
    pub items: u64,
    /// How many worker processes there are.
    pub workers: usize,
    /// How many items each worker takes at a time.
    pub concurrency: u32,
    /// How often a worker is killed and replaced. `None` kills none.
    pub kill_every: Option<Duration>,
    /// The fault of the store, and how often it happens.
    pub faults: (StoreFault, u32),
    /// The seed of all random numbers.
    pub seed: u64,
    /// The ttl of leases.
    pub ttl: Duration,
    /// The file that the history goes to.
    pub history: PathBuf,
    /// The program to start as a worker.
    pub program: PathBuf,
}

impl ItemPlan {
    /// Returns the rules of this run.
    #[must_use]
    pub fn rules(&self) -> ItemRules {
        let may_forget = self.kind.may_forget() && self.faults.1 > 0;
        ItemRules { ttl: self.ttl, concurrency: self.concurrency, may_forget }
    }
}

impl fmt::Display for ItemPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, items, workers, concurrency, seed, ttl, .. } = self;
        write!(
            f,
            "store {kind}, {items} items, {workers} workers, {concurrency} at once each, ttl {ttl:?}, "
        )?;
        match self.kill_every {
            Some(every) => write!(f, "a kill every {every:?}, ")?,
            None => write!(f, "no kills, ")?,
        }
        let (fault, times) = self.faults;
        if times > 0 {
            write!(f, "{times} times {fault}, ")?;
        }
        write!(f, "seed {seed}")
    }
}
