//! The tickets that this client holds and waits for. They are needed to repeat a proposal, to mend
//! a node that has forgotten, and to ask again.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use seinpaal_proto::{
    Acquire, Batch, Cause, LeaseId, Name, Permits, Reply, Request, Slots, Ticket, TicketReply, Whom,
};
use tokio::time::Instant;

/// For how many tickets ends are counted. Beyond that number the counting begins anew.
const MOST_ENDS: usize = 10_000;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_millis(2000);

type TicketKey = (Name, Ticket);
type EndReports = BTreeMap<usize, Instant>;

#[derive(Debug, Default)]
pub(super) struct TicketTable {
    held: HashMap<TicketKey, HeldGrant>,
    waiting: BTreeMap<TicketKey, WaitingRequest>,
    /// The nodes that have said that a ticket has ended, and when each report was heard. A renewal
    /// by a majority removes the reports that are older than its request.
    ends: HashMap<TicketKey, EndReports>,
    arrivals: u64,
}

/// A grant of this client.
#[derive(Clone, Debug)]
pub(super) struct HeldGrant {
    pub(super) want: Acquire,
    /// The lease under which the ticket stands. A renewal by ticket may have moved it.
    pub(super) lease: LeaseId,
    pub(super) slots: Slots,
    pub(super) fence: u64,
}

/// A request of this client that waits.
#[derive(Debug)]
struct WaitingRequest {
    want: Acquire,
    arrival: u64,
    due: Instant,
    polls: u32,
}

impl TicketTable {
    pub(super) fn held(&self, name: &Name, ticket: Ticket) -> Option<&HeldGrant> {
        self.held.get(&(name.clone(), ticket))
    }

    /// Every grant under one lease.
    pub(super) fn under(&self, name: &Name, lease: LeaseId) -> Vec<HeldGrant> {
        let is_under =
            |(key, held): &(&TicketKey, &HeldGrant)| key.0 == *name && held.lease == lease;
        self.held.iter().filter(is_under).map(|(_, held)| held.clone()).collect()
    }

    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn waits(&self, name: &Name, ticket: Ticket) -> Option<&Acquire> {
        self.waiting.get(&(name.clone(), ticket)).map(|place| &place.want)
    }

    pub(super) fn grant(&mut self, name: &Name, held: HeldGrant) {
        let key = (name.clone(), held.want.ticket);
        self.waiting.remove(&key);
        self.ends.remove(&key);
        self.held.insert(key, held);
    }

    /// Takes note that a ticket waits, and has it asked for again before long.
    pub(super) fn wait(&mut self, name: &Name, want: &Acquire, share: f64) {
        self.arrivals += 1;
        let arrival = self.arrivals;
        let place = self.waiting.entry((name.clone(), want.ticket)).or_insert_with(|| {
            WaitingRequest { want: want.clone(), arrival, due: Instant::now(), polls: 0 }
        });
        // At most 5 doublings, because pauses of more than 2 s are cut below in any case.
        let pause = FIRST_PAUSE * 2u32.pow(place.polls.min(5));
        place.polls += 1;
        // The pause is drawn at random each time, so that clients that lost to each other do not
        // meet again.
        place.due = Instant::now() + pause.min(LONGEST_PAUSE).mul_f64(0.5 + share);
        // The deadline was for the first sending. The table asks again for as long as the client
        // wants the place.
        place.want = Acquire { not_after: None, ..want.clone() };
    }

    pub(super) fn forget(&mut self, name: &Name, ticket: Ticket) {
        let key = (name.clone(), ticket);
        self.held.remove(&key);
        self.waiting.remove(&key);
    }

    /// Takes note that a ticket has changed hands. Ends that nodes report from now on are about its
    /// present grant.
    pub(super) fn hand_over(&mut self, name: &Name, ticket: Ticket) {
        self.forget(name, ticket);
        self.ends.remove(&(name.clone(), ticket));
    }

    /// Takes a hint that this ticket's turn may have come.
    pub(super) fn hurry(&mut self, name: &Name, ticket: Ticket) {
        if let Some(place) = self.waiting.get_mut(&(name.clone(), ticket)) {
            place.due = Instant::now();
        }
    }

    pub(super) fn hurry_all(&mut self) {
        self.waiting.values_mut().for_each(|place| place.due = Instant::now());
    }

    /// The instant of the next question.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.waiting.values().map(|place| place.due).min()
    }

    /// Tickets of one name that are due. The tickets that have waited longest come first.
    pub(super) fn due(&self, most: usize) -> Option<(Name, Vec<Ticket>)> {
        let now = Instant::now();
        let first = self.waiting.iter().filter(|(_, place)| place.due <= now);
        let ((name, _), _) = first.min_by_key(|(_, place)| place.due)?;
        let from = (name.clone(), Ticket(0));
        let of_name = self.waiting.range(from..).take_while(|((other, _), _)| other == name);
        let mut due: Vec<_> = of_name.filter(|(_, place)| place.due <= now).collect();
        due.sort_by_key(|(_, place)| place.arrival);
        let tickets = due.into_iter().take(most).map(|((_, ticket), _)| *ticket).collect();
        Some((name.clone(), tickets))
    }

    /// Takes note that a node said that a ticket has ended. Returns `true` once, when a majority
    /// has said so since the ticket was last proved.
    pub(super) fn ends(
        &mut self,
        name: &Name,
        ticket: Ticket,
        node: usize,
        majority: usize,
    ) -> bool {
        if self.ends.len() > MOST_ENDS {
            self.ends.clear();
        }
        let nodes = self.ends.entry((name.clone(), ticket)).or_default();
        nodes.insert(node, Instant::now()).is_none() && nodes.len() == majority
    }

    /// Takes note that a majority has renewed a ticket, in answer to a request that was sent at
    /// `sent`. Earlier reports of single nodes that the ticket has ended no longer count: such a
    /// node was away, or lost its memory. A later report counts, because the node may have renewed
    /// the ticket first and ended it then.
    fn prove(&mut self, key: &TicketKey, sent: Instant) {
        if self.ends.get_mut(key).is_some_and(|reports| !has_since(reports, sent)) {
            self.ends.remove(key);
        }
    }

    /// As [`prove`](Self::prove), for all tickets under a lease.
    fn prove_all(&mut self, name: &Name, lease: LeaseId, sent: Instant) {
        let (held, waiting) = (&self.held, &self.waiting);
        let is_under = |key: &TicketKey| {
            held.get(key).is_some_and(|held| held.lease == lease)
                || waiting.get(key).is_some_and(|place| place.want.ticket.place() == lease)
        };
        let is_proved = |key: &TicketKey| key.0 == *name && is_under(key);
        self.ends.retain(|key, reports| !is_proved(key) || has_since(reports, sent));
    }

    /// Takes note that a ticket is written again to these nodes, which had lost it. Their reports
    /// that it has ended are about what they had before.
    pub(super) fn mend(&mut self, name: &Name, ticket: Ticket, nodes: &[usize]) {
        if let Some(reports) = self.ends.get_mut(&(name.clone(), ticket)) {
            reports.retain(|node, _| !nodes.contains(node));
        }
    }

    /// Takes note of the changes that a batch has made, which was sent at `sent`.
    pub(super) fn note(&mut self, batch: &Batch, request: &Request, reply: &Reply, sent: Instant) {
        let name = &batch.name;
        match (request, reply) {
            (Request::Release { ticket, slots: Some(slots) }, Reply::Released { left, .. })
                if *left > 0 =>
            {
                self.shrink(name, *ticket, slots, *left);
            }
            // A ticket without an owner is no longer ours.
            (
                Request::Release { ticket, .. }
                | Request::Cancel { ticket, .. }
                | Request::Detach { ticket, .. },
                _,
            ) => {
                self.forget(name, *ticket);
            }
            (Request::Evict { ticket }, Reply::Evicted { .. }) => self.forget(name, *ticket),
            (Request::Renew(renew), Reply::Renewed { .. }) => {
                self.prove_all(name, renew.lease, sent);
            }
            (Request::Renew(renew), Reply::Tickets { tickets, .. }) => {
                let Whom::Tickets(asked) = &renew.whom else { return };
                for (ticket, found) in asked.iter().zip(tickets) {
                    if matches!(found, TicketReply::Held { .. }) {
                        self.prove(&(name.clone(), *ticket), sent);
                    }
                    match (found, self.held.get_mut(&(name.clone(), *ticket))) {
                        (TicketReply::Held { .. }, Some(held)) if batch.inbox.is_some() => {
                            (held.lease, held.want.ttl) = (renew.lease, renew.ttl);
                        }
                        (TicketReply::Waiting, _) | (_, None) => {}
                        _ => self.forget(name, *ticket),
                    }
                }
            }
            _ => {}
        }
    }

    fn shrink(&mut self, name: &Name, ticket: Ticket, given: &Slots, left: u32) {
        if let Some(held) = self.held.get_mut(&(name.clone(), ticket)) {
            held.slots.take(given);
            if let Ok(permits) = Permits::new(left) {
                held.want.permits = permits;
            }
        }
    }
}

/// Removes the reports from before this instant. Returns whether there are later ones.
fn has_since(reports: &mut EndReports, sent: Instant) -> bool {
    reports.retain(|_, heard| *heard >= sent);
    !reports.is_empty()
}

/// The cause of a ticket's end, if the reply says that the ticket has ended for good.
pub(super) fn cause_of_end(reply: &Reply) -> Option<Cause> {
    match reply {
        Reply::Ended { cause, .. } => Some(*cause),
        Reply::TooMany { .. } => Some(Cause::TooMany),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
