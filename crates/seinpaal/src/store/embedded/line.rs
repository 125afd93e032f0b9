//! Where this client waits, as far as it has been told. Only a hint to watch holders there.

use std::collections::{BTreeMap, BTreeSet};

use seinpaal_proto::{Batch, Name, Replies, Reply, Request, Ticket, Wakeup};

/// The tickets of this client that wait.
#[derive(Debug, Default)]
pub(super) struct Line(BTreeMap<Name, BTreeSet<Ticket>>);

impl Line {
    /// Learns from the answers to a batch. Whether it waits at that name.
    pub(super) fn note(&mut self, batch: &Batch, replies: &Replies) -> bool {
        for (request, reply) in batch.requests.iter().zip(&replies.replies) {
            match (request, reply) {
                (_, Reply::Queued { ticket, .. }) => {
                    self.0.entry(batch.name.clone()).or_default().insert(*ticket);
                }
                (Request::Acquire(ask), _) => self.remove(&batch.name, ask.ticket),
                (Request::Release { ticket, .. } | Request::Cancel { ticket, .. }, _) => {
                    self.remove(&batch.name, *ticket);
                }
                _ => {}
            }
        }
        self.0.contains_key(&batch.name)
    }

    /// Every wakeup there is ends the waiting.
    pub(super) fn note_wakeup(&mut self, wakeup: &Wakeup) {
        self.remove(&wakeup.name, wakeup.ticket);
    }

    pub(super) fn names(&self) -> Vec<Name> {
        self.0.keys().cloned().collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn remove(&mut self, name: &Name, ticket: Ticket) {
        let Some(tickets) = self.0.get_mut(name) else { return };
        tickets.remove(&ticket);
        if tickets.is_empty() {
            self.0.remove(name);
        }
    }
}
