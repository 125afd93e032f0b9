//! Requests about a name that are not about a permit of ours, such as `inspect`: the callers that
//! wait for the answers, and until when.

use std::collections::{BTreeSet, HashMap};

use seinpaal_proto::{Reply, session::OneOffId, time::Micros};
use tokio::sync::oneshot;

use super::OneOffResult;
use crate::store::StoreError;

#[derive(Default)]
pub(super) struct OneOffs {
    replies: HashMap<OneOffId, (Micros, oneshot::Sender<OneOffResult>)>,
    overdue_at: BTreeSet<(Micros, OneOffId)>,
}

impl OneOffs {
    pub(super) fn add(
        &mut self,
        one_off: OneOffId,
        answer_by: Micros,
        reply: oneshot::Sender<OneOffResult>,
    ) {
        self.replies.insert(one_off, (answer_by, reply));
        self.overdue_at.insert((answer_by, one_off));
    }

    pub(super) fn answer(&mut self, one_off: OneOffId, answer: Result<Reply, StoreError>) {
        if let Some((answer_by, reply)) = self.replies.remove(&one_off) {
            self.overdue_at.remove(&(answer_by, one_off));
            // If the future was dropped, nobody listens.
            let _ = reply.send(answer);
        }
    }

    /// A one-off request that should have been answered by now.
    pub(super) fn overdue(&self, now: Micros) -> Option<OneOffId> {
        self.overdue_at.first().filter(|(at, _)| *at <= now).map(|(_, one_off)| *one_off)
    }

    pub(super) fn next_overdue(&self) -> Option<Micros> {
        self.overdue_at.first().map(|(at, _)| *at)
    }

    /// The connection was closed. Each caller that waits learns so because its channel ends.
    pub(super) fn close(&mut self) {
        *self = Self::default();
    }
}
