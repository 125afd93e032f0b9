//! Tickets with something to send, in the order in which it is to be sent. A call takes from the
//! front what it has room for, so its cost does not grow with what waits behind.

use super::{
    few::Few,
    record::{Phase, Record},
};
use crate::id::Ticket;

/// Requests that free permits go before those that ask for some: they may let a request of the same
/// client in.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Urgency {
    Leave,
    Request,
}

/// Within one urgency tickets are sent in the order in which they were asked for. No two tickets of
/// a session have the same number.
type OutboxKey = (Urgency, u64);

#[derive(Clone, Debug, Default)]
pub(super) struct Outbox(Few<OutboxKey, Ticket>);

impl Outbox {
    /// Puts a ticket in, at the place that its record gives it now.
    pub(super) fn insert(&mut self, record: &Record) {
        // The record may stand here already, at the place of a phase that it has left since.
        self.remove(record);
        self.0.insert((urgency(record), record.number), record.ticket);
    }

    pub(super) fn remove(&mut self, record: &Record) {
        // Its phase may have changed since it was put in.
        for urgency in [Urgency::Leave, Urgency::Request] {
            self.0.remove(&(urgency, record.number));
        }
    }

    pub(super) fn pop(&mut self) -> Option<Ticket> {
        self.0.pop_first().map(|(_, ticket)| ticket)
    }

    /// The tickets, from the front.
    pub(super) fn tickets(&self) -> impl Iterator<Item = Ticket> + '_ {
        self.0.values().copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn urgency(record: &Record) -> Urgency {
    match record.phase {
        Phase::Leaving => Urgency::Leave,
        _ => Urgency::Request,
    }
}
