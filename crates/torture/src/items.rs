//! A load of items: a queue is filled, and worker processes that are killed all the time empty it.
//!
//! [`queue`](crate::queue) judges what workers believe while everything goes wrong. This judges items by their
//! numbers, so it can count many more: none may be lost, done twice, or out of order.

pub mod args;
pub mod check;
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

/// A run.
#[derive(Clone, Debug)]
pub struct ItemPlan {
    /// The store.
    pub kind: ItemStore,
    /// How many items are pushed.
    pub items: u64,
    /// How many worker processes there are.
    pub workers: usize,
    /// How many items each works on at once.
    pub concurrency: u32,
    /// A worker is killed, and replaced, this often; `None`: never.
    pub kill_every: Option<Duration>,
    /// What happens to the store, and how often.
    pub faults: (StoreFault, u32),
    /// What is left to chance.
    pub seed: u64,
    /// The ttl of leases.
    pub ttl: Duration,
    /// The file to write to.
    pub history: PathBuf,
    /// The program that is a worker when told so.
    pub program: PathBuf,
}

impl ItemPlan {
    /// What is judged in such a run.
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
