//! Requests about a name that are not about a permit of ours, such as `inspect`. Keeps the callers
//! that wait for the answers, and the time until which they wait.

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
            // If the future was dropped, no receiver is left.
            let _ = reply.send(answer);
        }
    }

    /// A question whose answer is overdue.
    pub(super) fn overdue(&self, now: Micros) -> Option<AskId> {
        self.overdue_at.first().filter(|(at, _)| *at <= now).map(|(_, ask)| *ask)
    }

    pub(super) fn next_overdue(&self) -> Option<Micros> {
        self.overdue_at.first().map(|(at, _)| *at)
    }

    /// Forgets all callers, because the connection was closed. Each caller learns so when its
    /// channel ends.
    pub(super) fn close(&mut self) {
        *self = Self::default();
    }
}
