//! One server that loses its memory again and again: it is flushed and restarted without data, in
//! turn.

use std::{
    fmt,
    time::{Duration, Instant},
};

use seinpaal_rig::{RedisServer, until};

use super::{
    field::BusyField,
    load::ClientLoad,
    tally::{FieldTally, SortedTimes},
};

/// The ttl of permits. The guard of a run must be a quarter longer.
const TTL: Duration = Duration::from_secs(1);

/// The plan of a run.
#[derive(Clone, Debug)]
pub struct AmnesiaPlan {
    /// How many clients, each with a connection of its own.
    pub clients: usize,
    /// How many permits they share.
    pub limit: u32,
    /// How often the server forgets.
    pub mishaps: u32,
    /// The store option, such as `restart-guard=1250ms`; empty for none.
    pub option: String,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// The results of a run.
#[derive(Clone, Debug, Default)]
pub struct AmnesiaReport {
    /// The figures of the clients.
    pub tally: FieldTally,
    /// For each mishap, the time until the next grant.
    pub pauses: SortedTimes,
}

impl fmt::Display for AmnesiaReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pauses = self.pauses.seconds(&[("after", 0.5), ("worst", 1.0)]);
        write!(f, "{} | next grant {pauses}", self.tally)
    }
}

/// Runs the plan on a server of its own.
///
/// # Panics
/// If the server does not start or the clients do not recover within a minute.
#[must_use]
pub fn run(plan: &AmnesiaPlan) -> AmnesiaReport {
    let mut server = RedisServer::start();
    let field = BusyField::start(load(plan), &server.url(&format!("?{}", plan.option)));
    let mut pauses = SortedTimes::default();
    for mishap in 0..plan.mishaps {
        // Waits until all clients are back, and then somewhat longer, so that the mishap meets
        // leases of different ages.
        field.until_grants(plan.clients as u64 + field.draw(20));
        if mishap % 2 == 0 {
            server.say(&["FLUSHALL"]).expect("it answers");
        } else {
            server.start_again();
        }
        let (forgot, grants) = (Instant::now(), field.tally().grants);
        until("somebody is let in", || field.tally().grants > grants);
        pauses.add([forgot.elapsed()]);
    }
    AmnesiaReport { tally: field.end().0, pauses }
}

fn load(plan: &AmnesiaPlan) -> ClientLoad {
    ClientLoad {
        clients: plan.clients,
        names: vec![("under fire".to_owned(), plan.limit)],
        ttl: Some(TTL),
        wait: None,
        hold: |_, _, drawn| Duration::from_millis(1 + drawn % 400),
        rest: Duration::ZERO,
        seed: plan.seed,
    }
}
