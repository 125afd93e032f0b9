//! The places at which this client waits, as far as it knows. They only hint where to watch the
//! holders.

use std::collections::{BTreeMap, BTreeSet};

use seinpaal_proto::{Batch, Name, Replies, Reply, Request, Ticket, Wakeup, queue};

/// A place in line.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum LineOf {
    /// A place in the line for permits of this name. The client watches the holders.
    Permits(Name),
    /// A place in the line for items of this queue. The client watches the workers.
    Items(Name),
}

/// The tickets of this client that wait, and the queues at which it is idle.
#[derive(Debug, Default)]
pub(super) struct WaitingHere {
    tickets: BTreeMap<Name, BTreeSet<Ticket>>,
    idle: BTreeSet<Name>,
}

impl WaitingHere {
    /// Learns from the answers to a batch. Returns whether this client waits at that name.
    pub(super) fn note(&mut self, batch: &Batch, replies: &Replies) -> bool {
        for (request, reply) in batch.requests.iter().zip(&replies.replies) {
            match (request, reply) {
                (Request::Acquire(_), Reply::Queued { ticket, .. }) => {
                    self.tickets.entry(batch.name.clone()).or_default().insert(*ticket);
                }
                (Request::Acquire(want), _) => self.remove(&batch.name, want.ticket),
                (Request::Release { ticket, .. } | Request::Cancel { ticket, .. }, _) => {
                    self.remove(&batch.name, *ticket);
                }
                _ => {}
            }
        }
        self.tickets.contains_key(&batch.name)
    }

    /// Learns from a wakeup. The first wakeup about a ticket, of any kind, ends its wait.
    pub(super) fn note_wakeup(&mut self, wakeup: &Wakeup) {
        self.remove(&wakeup.name, wakeup.ticket);
    }

    /// Learns from the answers to a batch about a queue. Returns whether this client is idle there
    /// now.
    pub(super) fn note_queue(&mut self, batch: &queue::Batch, replies: &queue::Replies) -> bool {
        for (request, reply) in batch.requests.iter().zip(&replies.replies) {
            match (request, reply) {
                (queue::Request::Pop(pop), queue::Reply::Popped { items, .. })
                    if pop.wait && items.len() < pop.items as usize =>
                {
                    self.idle.insert(batch.name.clone());
                }
                (queue::Request::Pop(_) | queue::Request::Leave, _) => {
                    self.idle.remove(&batch.name);
                }
                _ => {}
            }
        }
        self.idle.contains(&batch.name)
    }

    /// Learns from a wakeup about a queue. A worker that was called stands in line no longer.
    pub(super) fn note_queue_wakeup(&mut self, wakeup: &queue::Wakeup) {
        if wakeup.what == queue::What::Called {
            self.idle.remove(&wakeup.name);
        }
    }

    pub(super) fn has(&self, line_of: &LineOf) -> bool {
        match line_of {
            LineOf::Permits(name) => self.tickets.contains_key(name),
            LineOf::Items(name) => self.idle.contains(name),
        }
    }

    pub(super) fn lines(&self) -> Vec<LineOf> {
        let permits = self.tickets.keys().cloned().map(LineOf::Permits);
        permits.chain(self.idle.iter().cloned().map(LineOf::Items)).collect()
    }

    pub(super) fn waits_for_permits(&self) -> bool {
        !self.tickets.is_empty()
    }

    fn remove(&mut self, name: &Name, ticket: Ticket) {
        let Some(tickets) = self.tickets.get_mut(name) else { return };
        tickets.remove(&ticket);
        if tickets.is_empty() {
            self.tickets.remove(name);
        }
    }
}
