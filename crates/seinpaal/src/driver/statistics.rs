//! The statistics of a connection, counted by its driver.

use std::sync::atomic::{AtomicU64, Ordering};

/// The counters that the driver changes.
#[derive(Debug, Default)]
pub(crate) struct Statistics {
    held: AtomicU64,
    waiting: AtomicU64,
    calls: AtomicU64,
    failed_calls: AtomicU64,
    grants: AtomicU64,
    renewals: AtomicU64,
    losses: AtomicU64,
    look_agains: AtomicU64,
}

/// The statistics of a connection since it was opened, read at one moment. See
/// [`Seinpaal::statistics`](crate::Seinpaal::statistics).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ConnectionStatistics {
    /// Grants that are held now. A grant of several permits counts once.
    pub held: u64,
    /// Requests for permits that wait for an answer now.
    pub waiting: u64,
    /// Requests for permits that were granted.
    pub grants: u64,
    /// Renewals, counted for each grant whose lease they extended.
    pub renewals: u64,
    /// Grants that were lost.
    pub losses: u64,
    /// Calls made to the store. A call about several names, which share a round trip, counts once.
    pub calls: u64,
    /// Calls that the store did not answer, or refused, at least in part.
    pub failed_calls: u64,
    /// How often wakeups may have been lost, because the connection had broken and was made again.
    pub reconnects: u64,
}

impl Statistics {
    pub(crate) fn read(&self) -> ConnectionStatistics {
        let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
        ConnectionStatistics {
            held: read(&self.held),
            waiting: read(&self.waiting),
            grants: read(&self.grants),
            renewals: read(&self.renewals),
            losses: read(&self.losses),
            calls: read(&self.calls),
            failed_calls: read(&self.failed_calls),
            reconnects: read(&self.look_agains),
        }
    }

    pub(super) fn stand(&self, held: usize, waiting: usize) {
        self.held.store(held as u64, Ordering::Relaxed);
        self.waiting.store(waiting as u64, Ordering::Relaxed);
    }

    pub(super) fn called(&self) {
        add_one(&self.calls);
    }

    pub(super) fn failed(&self) {
        add_one(&self.failed_calls);
    }

    pub(super) fn granted(&self) {
        add_one(&self.grants);
    }

    pub(super) fn renewed(&self) {
        add_one(&self.renewals);
    }

    pub(super) fn lost(&self) {
        add_one(&self.losses);
    }

    pub(super) fn looked_again(&self) {
        add_one(&self.look_agains);
    }
}

fn add_one(number: &AtomicU64) {
    number.fetch_add(1, Ordering::Relaxed);
}
