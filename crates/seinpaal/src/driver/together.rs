//! Requests for several names that are made in one step.

use std::sync::Arc;

use seinpaal_proto::{
    Busy, Replies, Reply, Request as StoreRequest, Ticket,
    session::{Call, CallId},
};

use super::{Driver, EndedCall, errors::internal_text, figures};
use crate::store::{StoreError, Together};

impl Driver {
    /// Merges calls into one step if all requests of that step can go together. A request that was
    /// merged with others of its name, or must wait for them, goes by itself.
    pub(super) fn make_steps(&mut self, calls: &mut Vec<Call>) {
        for tickets in std::mem::take(&mut self.together) {
            let is_one = |call: &Call| asks_only(call).is_some_and(|t| tickets.contains(&t));
            // A step takes whole batches, so each request must have a batch of its own.
            if calls.iter().filter(|call| is_one(call)).count() == tickets.len() {
                let ones = calls.extract_if(.., |call| is_one(call)).collect();
                self.make_together(ones);
            }
        }
    }

    fn make_together(&mut self, calls: Vec<Call>) {
        let ids = calls.iter().filter_map(|call| Some((call.id, asks_only(call)?))).collect();
        let batches: Vec<_> = calls.into_iter().map(|call| call.batch).collect();
        let store = Arc::clone(&self.store);
        self.statistics.called();
        let asked = self.pulse.watch(async move {
            // `all.rs` asks whether there is such a step before it sends requests that go together.
            let step =
                store.one_step().ok_or_else(|| internal_text("this store has no such step"))?;
            let timing = figures::CallFigure::begin("permits");
            let result = step.call_together(&batches).await;
            timing.end(result.as_ref().err());
            result
        });
        self.under_way.push(Box::pin(async move { EndedCall::Together(ids, asked.await) }));
    }

    pub(super) fn take_together(
        &mut self,
        now: u64,
        calls: Vec<(CallId, Ticket)>,
        result: Result<Together, StoreError>,
    ) {
        match result {
            Ok(Together::Granted(replies)) => {
                self.store_has_answered();
                for ((id, _), replies) in calls.into_iter().zip(replies) {
                    self.session.handle_replies(now, id, replies);
                }
            }
            Ok(Together::Refused(at, refusal)) => {
                self.store_has_answered();
                for (place, (id, ticket)) in calls.into_iter().enumerate() {
                    let is_it = place == at;
                    let replies = if is_it { refusal.clone() } else { busy(&refusal, ticket) };
                    self.session.handle_replies(now, id, replies);
                }
            }
            Err(error) => self.take_error(now, calls.into_iter().map(|(id, _)| id), error),
        }
    }
}

/// The ticket, if a call asks for permits and for nothing else.
fn asks_only(call: &Call) -> Option<Ticket> {
    match call.batch.requests.as_slice() {
        [StoreRequest::Acquire(want)] => Some(want.ticket),
        _ => None,
    }
}

/// The answer for the other requests of a step if one of them was refused.
fn busy(refusal: &Replies, ticket: Ticket) -> Replies {
    let reply = Reply::Busy { ticket, why: Busy::Full, limit: 0, held: 0, waiting: 0 };
    Replies { now: refusal.now, replies: vec![reply], backlog: false, look_in: None }
}
