//! Requests about a name that are not about a permit of ours, such as `inspect`: the callers that
//! wait for the answers, and until when.

use std::collections::{BTreeSet, HashMap};

use seinpaal_proto::{Reply, session::AskId, time::Micros};
use tokio::sync::oneshot;

use super::AskResult;
use crate::store::StoreError;

#[derive(Default)]
pub(super) struct Asks {
    replies: HashMap<AskId, (Micros, oneshot::Sender<AskResult>)>,
    overdue_at: BTreeSet<(Micros, AskId)>,
}

impl Asks {
    pub(super) fn add(&mut self, ask: AskId, answer_by: Micros, reply: oneshot::Sender<AskResult>) {
        self.replies.insert(ask, (answer_by, reply));
        self.overdue_at.insert((answer_by, ask));
    }

    pub(super) fn answer(&mut self, ask: AskId, answer: Result<Reply, StoreError>) {
        if let Some((answer_by, reply)) = self.replies.remove(&ask) {
            self.overdue_at.remove(&(answer_by, ask));
            // If the future was dropped, nobody listens.
            let _ = reply.send(answer);
        }
    }

    /// A question that should have been answered by now.
    pub(super) fn overdue(&self, now: Micros) -> Option<AskId> {
        self.overdue_at.first().filter(|(at, _)| *at <= now).map(|(_, ask)| *ask)
    }

    pub(super) fn next_overdue(&self) -> Option<Micros> {
        self.overdue_at.first().map(|(at, _)| *at)
    }

    /// The connection was closed. Each caller that waits learns so because its channel ends.
    pub(super) fn close(&mut self) {
        *self = Self::default();
    }
}
