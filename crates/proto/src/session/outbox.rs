//! The tickets with something to send, in the order of sending. A call takes as many from the front
//! as it has room for, so its cost does not grow with the number that waits behind them.

use super::{
    few::Few,
    record::{Phase, Record},
};
use crate::id::Ticket;

/// The order between requests. Requests that free permits go before those that ask for some,
/// because they may let in a request of the same client.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Urgency {
    Leave,
    Request,
}

/// The order of sending. Within one urgency, tickets are sent in the order in which the program
/// asked for them. No two tickets of a session have the same number.
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
        // The phase of the record may have changed since it was put in.
        for urgency in [Urgency::Leave, Urgency::Request] {
            self.0.remove(&(urgency, record.number));
        }
    }

    pub(super) fn pop(&mut self) -> Option<Ticket> {
        self.0.pop_first().map(|(_, ticket)| ticket)
    }

    /// Returns the tickets, from the front.
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
