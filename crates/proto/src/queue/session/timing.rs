//! Decides when the session looks, when it sends, when it tries again, and when the store counts as
//! silent.

use super::{Session, event::PopId};
use crate::{
    queue::ledger::PLACE_TTL,
    time::{MILLISECOND, Micros, SECOND},
};

/// A store that leaves a call unanswered for this long counts as silent. For a want that could not
/// even be sent, a tenth of this time is enough.
const SILENCE: Micros = SECOND;

impl Session {
    pub(super) fn next_call_at(&self) -> Option<Micros> {
        let retry_at = self.retry_at.unwrap_or(0);
        match &self.sent {
            Some(sent) if sent.call.is_some() => Some(sent.over_at),
            Some(sent) => Some(retry_at.min(sent.over_at)),
            None if self.has_to_send() => Some(retry_at),
            None => self.work.next_renewal().map(|at| at.max(retry_at)),
        }
    }

    pub(super) fn has_to_send(&self) -> bool {
        !self.one_offs.is_empty()
            || !self.finishes.is_empty()
            || self.must_settle
            || self.must_find
            || (self.pop_due && self.poppers.want_any())
            || (self.in_line && !self.poppers.want_any())
    }

    /// Plans a look for `at`, unless an earlier one is planned.
    pub(super) fn look_by(&mut self, at: Micros) {
        // Without a place, and without a batch that may have asked for one, the call is about a
        // place that is gone.
        if self.in_line || self.sent.is_some() {
            self.look_at = Some(self.look_at.map_or(at, |earlier| earlier.min(at)));
        }
    }

    /// Notes that the store has given this session a place in line, or has renewed it.
    pub(super) fn stand_in_line(&mut self, now: Micros) {
        let draw = self.draw();
        // A call or a request to watch may have come while the answer was under way. The earlier
        // look that it asked for stays planned. Otherwise the session looks after a third of the
        // time, so that a failed look leaves time for more. The draw spreads the looks of workers
        // that began together.
        self.look_by(now + PLACE_TTL / 3 - PLACE_TTL / 30 * draw / 1024);
    }

    /// Returns whether the store, and not the lack of items, kept a want waiting until its
    /// deadline.
    pub(super) fn is_store_silent(&self, now: Micros, pop: PopId) -> bool {
        let unanswered_for = self.sent.as_ref().map_or(0, |sent| now.saturating_sub(sent.first_at));
        let Some(popper) = self.poppers.get(pop) else { return false };
        let was_never_answered = popper.is_asked && !popper.is_answered;
        let long = if popper.is_asked { SILENCE } else { SILENCE / 10 };
        was_never_answered || self.failures > 0 || unanswered_for >= long
    }

    /// Returns how long to wait before the next try: never longer than a delivery in hand can bear.
    pub(super) fn pause(&mut self) -> Micros {
        self.failures += 1;
        let pause = ((25 * MILLISECOND) << self.failures.min(6)).min(SECOND);
        let most = self.work.shortest_ttl().map(|ttl| self.config.schedule(ttl).repeat());
        let pause = most.map_or(pause, |most| pause.min(most));
        pause / 2 + pause / 2 * self.draw() / 1024
    }
}
