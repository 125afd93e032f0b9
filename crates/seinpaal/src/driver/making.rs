//! Making the calls that are due. Calls about different names share a round trip if the store can
//! do that (docs/decisions/driver.md).

use std::{sync::Arc, time::Duration};

use seinpaal_proto::{Batch, Replies, Request, session::Call};

use super::{Driver, EndedCall, figures};
use crate::store::{Store, StoreError};

/// The most requests in one round trip, which is the most of a single call. So other clients of the
/// server wait no longer for a bundle than for a call.
const MOST_REQUESTS: usize = Batch::MOST;

/// The most calls that share a round trip. Larger bundles cost the server hardly less, and while
/// the server works on one bundle, the client works on the answers to another.
const MOST_CALLS: usize = 16;

impl Driver {
    pub(super) fn make(&mut self, mut calls: Vec<Call>) {
        // Steps come first: their requests must stay in one call, and bundles are cut by size.
        self.make_steps(&mut calls);
        if calls.len() > 1 && self.store.bundles().is_some() {
            let bundles = bundles_of(calls.extract_if(.., |call| may_share(call)).collect());
            bundles.into_iter().for_each(|calls| self.make_bundle(calls));
        }
        calls.into_iter().for_each(|call| self.make_one(call));
    }

    fn make_one(&mut self, call: Call) {
        let (store, pulse, clock) = (Arc::clone(&self.store), Arc::clone(&self.pulse), self.clock);
        self.statistics.called();
        pulse.ask(clock.now());
        self.under_way.push(Box::pin(async move {
            let Call { id, batch, overdue } = call;
            if let Some(silence) = overdue.map(Duration::from_micros) {
                // The call before this one is overdue, so this call must not use the same dead
                // connection.
                store.reassure(&batch.name, silence).await;
            }
            let timing = figures::CallFigure::begin("permits");
            let result = store.call(&batch).await;
            timing.end(result.as_ref().err());
            pulse.hear(clock.now(), result.as_ref().err());
            EndedCall::Call(id, result)
        }));
    }

    fn make_bundle(&mut self, mut calls: Vec<Call>) {
        if calls.len() == 1 {
            return calls.drain(..).for_each(|call| self.make_one(call));
        }
        let (store, pulse, clock) = (Arc::clone(&self.store), Arc::clone(&self.pulse), self.clock);
        self.statistics.called();
        pulse.ask(clock.now());
        self.under_way.push(Box::pin(async move {
            let (ids, batches): (Vec<_>, Vec<_>) =
                calls.into_iter().map(|call| (call.id, call.batch)).unzip();
            let timing = figures::CallFigure::begin("permits");
            let outcomes = call_bundle(&*store, &batches).await;
            let errors: Vec<_> = outcomes.iter().filter_map(|it| it.as_ref().err()).collect();
            timing.end(errors.first().copied());
            // One answer shows that the store is there, even if other calls of the bundle failed.
            let has_answered = errors.len() < outcomes.len();
            pulse.hear(clock.now(), errors.first().copied().filter(|_| !has_answered));
            EndedCall::Bundle(ids.into_iter().zip(outcomes).collect())
        }));
    }
}

async fn call_bundle(store: &dyn Store, batches: &[Batch]) -> Vec<Result<Replies, StoreError>> {
    match store.bundles() {
        Some(bundles) => bundles.call_bundle(batches).await,
        None => unreachable!("looked at before these calls were put together"),
    }
}

/// Returns whether a call may go in a bundle. A single request of an operator may be much work for
/// the store.
fn may_share(call: &Call) -> bool {
    let is_small = |request: &Request| {
        matches!(
            request,
            Request::Acquire(_)
                | Request::Renew(_)
                | Request::Release { .. }
                | Request::Cancel { .. }
        )
    };
    call.overdue.is_none() && call.batch.requests.iter().all(is_small)
}

/// Puts calls together in bundles of like size. Calls that only ask for permits come first, because
/// a server without memory refuses them only until another request of the same script was executed.
fn bundles_of(mut calls: Vec<Call>) -> Vec<Vec<Call>> {
    // The sort is stable, so calls of one kind keep the order of the session.
    calls.sort_by_key(|call| !asks_only(call));
    let most = calls.len().div_ceil(calls.len().div_ceil(MOST_CALLS).max(1));
    let (mut bundles, mut requests) = (Vec::new(), 0);
    for call in calls {
        let more = call.batch.requests.len();
        // Two calls about the same name are not bundled: a renewal may overtake a call of the same
        // step.
        let is_other = |it: &Call| it.batch.name != call.batch.name;
        let has_room = |bundle: &Vec<Call>| {
            bundle.len() < most && requests + more <= MOST_REQUESTS && bundle.iter().all(is_other)
        };
        match bundles.last_mut().filter(|bundle| has_room(bundle)) {
            Some(bundle) => {
                bundle.push(call);
                requests += more;
            }
            None => {
                bundles.push(vec![call]);
                requests = more;
            }
        }
    }
    bundles
}

fn asks_only(call: &Call) -> bool {
    call.batch.requests.iter().all(|request| matches!(request, Request::Acquire(_)))
}
