//! Notes whether the store answers, so that a waiting program can tell its user.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use seinpaal_proto::time::Micros;

use crate::{
    boottime::ClientClock,
    store::{BoxFuture, StoreError},
};

/// A time in which the store does not answer, or has no room: see
/// [`Seinpaal::outage`](crate::Seinpaal::outage).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outage {
    /// How long the store has not answered, counted from the first request that got no answer, or
    /// from the last answer if that came later.
    pub lasted: Duration,
    /// The error that came instead of the last answer. `None` means that neither an answer nor an
    /// error has come yet.
    pub error: Option<StoreError>,
}

/// Notes of the driver that the API reads.
#[derive(Debug)]
pub(crate) struct Pulse {
    clock: ClientClock,
    beat: Mutex<Beat>,
}

#[derive(Debug, Default)]
struct Beat {
    under_way: u32,
    /// Since when no call was answered, on the client's clock.
    since: Option<Micros>,
    error: Option<StoreError>,
    /// When the failure was logged of which the end is still to be logged: the begin of the outage.
    logged: Option<Micros>,
}

impl Pulse {
    pub(super) fn new(clock: ClientClock) -> Self {
        Self { clock, beat: Mutex::default() }
    }

    /// Makes a call, and notes its beginning and its end.
    pub(super) fn watch<T: 'static>(
        self: &Arc<Self>,
        call: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        let pulse = Arc::clone(self);
        pulse.ask(pulse.clock.now());
        Box::pin(async move {
            let result = call.await;
            pulse.hear(pulse.clock.now(), result.as_ref().err());
            result
        })
    }

    pub(crate) fn outage(&self) -> Option<Outage> {
        let beat = self.beat();
        let since = beat.since?;
        let lasted = Duration::from_micros(self.clock.now().saturating_sub(since));
        Some(Outage { lasted, error: beat.error.clone() })
    }

    pub(super) fn ask(&self, now: Micros) {
        let mut beat = self.beat();
        beat.under_way += 1;
        beat.since.get_or_insert(now);
    }

    pub(super) fn hear(&self, now: Micros, error: Option<&StoreError>) {
        let mut beat = self.beat();
        beat.under_way = beat.under_way.saturating_sub(1);
        match error.filter(|error| error.is_passing()) {
            Some(error) => {
                beat.error = Some(error.clone());
                let since = beat.since.unwrap_or(now);
                let is_first = beat.logged.is_none();
                beat.logged.get_or_insert(since);
                drop(beat);
                if is_first {
                    tracing::warn!(target: "seinpaal", kind = ?error.kind(), %error, "the store does not answer");
                }
            }
            // A refusal is also an answer.
            None => {
                beat.error = None;
                // The store answered just now, so the other calls are unanswered from now on at the
                // earliest.
                beat.since = (beat.under_way > 0).then_some(now);
                let logged = beat.logged.take();
                drop(beat);
                if let Some(since) = logged {
                    let lasted = Duration::from_micros(now.saturating_sub(since));
                    tracing::warn!(target: "seinpaal", ?lasted, "the store answers again");
                }
            }
        }
    }

    /// A poisoned lock does no harm, since nothing here panics while it has the lock.
    fn beat(&self) -> MutexGuard<'_, Beat> {
        self.beat.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Certainty, StoreErrorKind};

    fn error(kind: StoreErrorKind) -> StoreError {
        StoreError::new(kind, Certainty::Unknown, "no")
    }

    #[test]
    fn an_outage_lasts_from_the_first_request_without_an_answer_to_the_next_answer() {
        let pulse = Pulse::new(ClientClock::Machine);
        assert!(pulse.outage().is_none());
        pulse.ask(10);
        pulse.hear(20, Some(&error(StoreErrorKind::Unreachable)));
        pulse.ask(30);
        let outage = pulse.outage().unwrap();
        assert!(outage.error.is_some());
        assert_eq!(pulse.beat().since, Some(10));
        pulse.hear(40, None);
        assert!(pulse.outage().is_none());
    }

    #[test]
    fn a_store_that_answers_one_of_two_requests_has_been_silent_since_that_answer() {
        let pulse = Pulse::new(ClientClock::Machine);
        pulse.ask(10);
        pulse.ask(10);
        pulse.hear(20, None);
        assert_eq!(pulse.beat().since, Some(20));
    }

    #[test]
    fn a_store_that_refuses_has_answered() {
        let pulse = Pulse::new(ClientClock::Machine);
        pulse.ask(10);
        pulse.hear(20, Some(&error(StoreErrorKind::Forbidden)));
        assert!(pulse.outage().is_none());
    }
}
