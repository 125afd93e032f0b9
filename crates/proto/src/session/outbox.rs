//! Tickets with something to send, in the order in which it is to be sent. A call takes from the front
//! what it has room for, so its cost does not grow with what waits behind.

use alloc::collections::{BTreeMap, BTreeSet};

use super::record::{Phase, Record};
use crate::id::Ticket;

/// What frees permits goes before what asks for them.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Urgency {
    Leave,
    Ask,
}

/// Within a urgency, in the order in which the tickets were asked for.
type OutboxKey = (Urgency, u64, Ticket);

#[derive(Clone, Debug, Default)]
pub(super) struct Outbox {
    line: BTreeSet<OutboxKey>,
    /// Where each ticket stands in the line.
    places: BTreeMap<Ticket, OutboxKey>,
}

impl Outbox {
    /// Puts a ticket in, at the place that its record gives it now.
    pub(super) fn insert(&mut self, record: &Record) {
        self.remove(record.ticket);
        let place = (urgency(record), record.number, record.ticket);
        self.line.insert(place);
        self.places.insert(record.ticket, place);
    }

    pub(super) fn remove(&mut self, ticket: Ticket) {
        if let Some(place) = self.places.remove(&ticket) {
            self.line.remove(&place);
        }
    }

    pub(super) fn pop(&mut self) -> Option<Ticket> {
        let (_, _, ticket) = self.line.pop_first()?;
        self.places.remove(&ticket);
        Some(ticket)
    }

    /// Who is in the line, from the front.
    pub(super) fn tickets(&self) -> impl Iterator<Item = Ticket> + '_ {
        self.line.iter().map(|(_, _, ticket)| *ticket)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.line.is_empty()
    }
}

fn urgency(record: &Record) -> Urgency {
    match record.phase {
        Phase::Leaving => Urgency::Leave,
        _ => Urgency::Ask,
    }
}
