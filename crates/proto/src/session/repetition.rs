//! Decides when a renewal that is not answered is sent again. The repetition does not wait for the
//! first renewal to fail, because a connection that broke without notice fails long after a short
//! lease has ended. Renewals may arrive twice, and in any order.

use crate::time::Micros;

/// The most repetitions of a renewal. A lease has hardly time for more between its renewal and its
/// loss.
const MOST: u32 = 16;

/// Renewals that are on their way.
#[derive(Clone, Debug, Default)]
pub(super) struct Repetition {
    /// When to send a renewal again.
    pub(super) at: Option<Micros>,
    /// The number of renewals sent since one was answered.
    pub(super) sent: u32,
}

impl Repetition {
    /// Returns whether an answer should have come by now.
    pub(super) fn is_overdue(&self, now: Micros) -> bool {
        self.at.is_some_and(|at| at <= now)
    }

    /// Notes that a renewal goes out. It is sent again after this `pause`.
    pub(super) fn sent(&mut self, now: Micros, pause: Micros) {
        self.sent += 1;
        self.at = (self.sent <= MOST).then_some(now + pause);
    }

    /// Notes that a renewal waits for the answer to another call. After this `pause` it is sent
    /// without waiting any longer.
    pub(super) fn is_held_up(&mut self, now: Micros, pause: Micros) {
        self.at.get_or_insert(now + pause);
    }

    pub(super) fn answered(&mut self) {
        *self = Self::default();
    }
}
