//! The same for queues: items pushed, worked on by processes that are killed all the time, and every step judged.

pub mod args;
pub mod check;
pub mod history;
pub mod place;
pub mod report;
pub mod rig;
pub mod worker;

use std::{fmt, path::PathBuf, time::Duration};

use check::Rules;
use place::{Fault, Kind};

/// The queue.
pub const NAME: &str = "torture";

/// A run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The store.
    pub kind: Kind,
    /// How many items are pushed.
    pub items: u64,
    /// How many worker processes there are.
    pub workers: u64,
    /// How many items each works on at once.
    pub concurrency: u32,
    /// A worker is killed, and replaced, this often; `None`: never.
    pub kill_every: Option<Duration>,
    /// What happens to the store, and how often.
    pub faults: (Fault, u32),
    /// What is left to chance.
    pub seed: u64,
    /// The ttl of leases.
    pub ttl: Duration,
    /// The file to write to.
    pub history: PathBuf,
    /// The program that is a worker when told so.
    pub program: PathBuf,
}

impl Plan {
    /// What is judged in such a run.
    #[must_use]
    pub fn rules(&self) -> Rules {
        let may_forget = self.kind.may_forget() && self.faults.1 > 0;
        Rules { ttl: self.ttl, concurrency: self.concurrency, may_forget }
    }
}

impl fmt::Display for Plan {
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
