//! When a renewal that is not answered is sent again. The repetition does not wait for the first
//! renewal to fail: a connection that died without a word fails long after a short lease has ended.
//! Renewals may arrive twice, and in any order.

use crate::time::Micros;

/// From its renewal until it is lost a lease has time for no more than eight repetitions.
const MOST: u32 = 8;

/// Renewals that are on their way.
#[derive(Clone, Debug, Default)]
pub(super) struct Repetition {
    /// When to send one again.
    pub(super) at: Option<Micros>,
    /// How many were sent since one was answered.
    pub(super) sent: u32,
}

impl Repetition {
    /// Whether one should have been answered by now.
    pub(super) fn is_overdue(&self, now: Micros) -> bool {
        self.at.is_some_and(|at| at <= now)
    }

    /// One goes out. It is sent again after this `pause`.
    pub(super) fn sent(&mut self, now: Micros, pause: Micros) {
        self.sent += 1;
        self.at = (self.sent <= MOST).then_some(now + pause);
    }

    /// One goes out with a call that waits for another. It is sent by itself after this `pause`.
    pub(super) fn is_held_up(&mut self, now: Micros, pause: Micros) {
        self.at.get_or_insert(now + pause);
    }

    pub(super) fn answered(&mut self) {
        *self = Self::default();
    }
}
