//! The common answer of several nodes to one request, as pure functions.

mod snapshot;

use seinpaal_proto::{Cause, Reply, Request, SlotNames, Ticket, TicketReply, time::Micros};

use super::{
    answer::{NodeAnswer, NodeReply},
    settings::QuorumSettings,
};

/// The answers of the nodes to one request, from a majority at least, and how many nodes there are.
#[derive(Clone, Copy)]
pub(super) struct ReplyTally<'a> {
    pub(super) answers: &'a [(&'a NodeAnswer, &'a NodeReply)],
    pub(super) nodes: usize,
}

impl<'a> ReplyTally<'a> {
    fn majority(&self) -> usize {
        self.nodes / 2 + 1
    }

    fn silent(&self) -> usize {
        self.nodes - self.answers.len()
    }

    fn replies(&self) -> impl Iterator<Item = &'a Reply> + Clone {
        self.answers.iter().filter_map(|(_, reply)| match reply {
            NodeReply::Plain(reply) => Some(reply),
            _ => None,
        })
    }

    fn count(&self, is: impl Fn(&Reply) -> bool) -> usize {
        self.replies().filter(|reply| is(reply)).count()
    }

    /// The reply of the quorum. `None` if nodes gave answers that their scripts never give. Such
    /// answers say nothing about a ticket or a lease, so the caller gets an error.
    pub(super) fn reply(&self, request: &Request) -> Option<Reply> {
        match request {
            Request::Renew(_) => self.renewed(),
            Request::Detach { ticket, .. } => Some(self.detached(*ticket)),
            Request::Release { ticket, .. } => Some(self.released(*ticket)),
            Request::Cancel { ticket, .. } => {
                let cancelled = self.count(|reply| matches!(reply, Reply::Cancelled { .. }));
                (cancelled >= self.majority()).then_some(Reply::Cancelled { ticket: *ticket })
            }
            Request::Evict { ticket } => Some(self.evicted(*ticket)),
            Request::Inspect { rows } => Some(Reply::Snapshot(self.snapshot(*rows as usize))),
            _ => None,
        }
    }

    /// A lease is renewed once a majority has renewed it.
    fn renewed(&self) -> Option<Reply> {
        if self.replies().any(|reply| matches!(reply, Reply::Tickets { .. })) {
            return self.tickets();
        }
        if let Some(valid_for) = self.renewed_for() {
            return Some(Reply::Renewed { valid_for: Some(valid_for) });
        }
        let gone = self.count(|reply| matches!(reply, Reply::Gone));
        // After `Differs` the session asks ticket by ticket, which tells which tickets are left.
        Some(if gone >= self.majority() { Reply::Gone } else { Reply::Differs })
    }

    /// The time for which every node of some majority has renewed the lease at least.
    fn renewed_for(&self) -> Option<Micros> {
        let valid = self.replies().filter_map(|reply| match reply {
            Reply::Renewed { valid_for } => *valid_for,
            _ => None,
        });
        let mut valid: Vec<Micros> = valid.collect();
        valid.sort_unstable_by(|a, b| b.cmp(a));
        // The longest come first: a majority of nodes has renewed the lease for this time or
        // longer.
        valid.get(self.majority() - 1).copied()
    }

    fn detached(&self, ticket: Ticket) -> Reply {
        let causes = self.replies().filter_map(|reply| match reply {
            Reply::Ended { cause, .. } => Some(*cause),
            _ => None,
        });
        match (self.renewed_for(), weightiest(&causes.collect::<Vec<_>>())) {
            (Some(valid_for), _) => Reply::Renewed { valid_for: Some(valid_for) },
            (None, Some(cause)) => Reply::Ended { ticket, cause },
            (None, None) => Reply::Unknown { ticket },
        }
    }

    fn tickets(&self) -> Option<Reply> {
        let mut valid = Vec::new();
        let mut columns: Vec<Vec<&TicketReply>> = Vec::new();
        for reply in self.replies() {
            let Reply::Tickets { valid_for, tickets } = reply else { return None };
            valid.extend(*valid_for);
            columns.resize(tickets.len(), Vec::new());
            columns.iter_mut().zip(tickets).for_each(|(column, ticket)| column.push(ticket));
        }
        let tickets = columns.iter().map(|column| self.ticket(column)).collect();
        // One time stands for all tickets, and each ticket may have another majority. So the
        // shortest time counts.
        Some(Reply::Tickets { valid_for: valid.into_iter().min(), tickets })
    }

    fn ticket(&self, column: &[&TicketReply]) -> TicketReply {
        if let Some(held) = self.held(column) {
            return held;
        }
        let causes: Vec<Cause> = column
            .iter()
            .filter_map(|reply| match reply {
                TicketReply::Ended(cause) => Some(*cause),
                _ => None,
            })
            .collect();
        let waiting = column.iter().any(|reply| matches!(reply, TicketReply::Waiting));
        match weightiest(&causes) {
            Some(cause) => TicketReply::Ended(cause),
            None if waiting => TicketReply::Waiting,
            None => TicketReply::Unknown,
        }
    }

    /// Returns the reply `held` if a majority has the ticket under the same fence. Slots that one
    /// of these nodes has taken back already are left out.
    fn held(&self, column: &[&TicketReply]) -> Option<TicketReply> {
        let votes = || {
            column.iter().filter_map(|reply| match reply {
                TicketReply::Held { fence, slots, .. } => Some((*fence, slots)),
                _ => None,
            })
        };
        let count = |fence| votes().filter(|vote| vote.0 == fence).count();
        let fence = votes().map(|vote| vote.0).find(|fence| count(*fence) >= self.majority())?;
        let mut of_fence = votes().filter(|vote| vote.0 == fence);
        let mut slots = of_fence.next()?.1.clone();
        of_fence.for_each(|(_, others)| slots = slots.take(others));
        Some(TicketReply::Held { fence, slots, names: SlotNames::none() })
    }

    fn released(&self, ticket: Ticket) -> Reply {
        let mut left: Vec<u32> = self
            .replies()
            .filter_map(|reply| match reply {
                Reply::Released { left, .. } => Some(*left),
                _ => None,
            })
            .collect();
        let causes: Vec<Cause> = self
            .replies()
            .filter_map(|reply| match reply {
                Reply::Ended { cause, .. } => Some(*cause),
                _ => None,
            })
            .collect();
        // The least number counts: a slot that one node has taken back is not held any more.
        left.sort_unstable();
        match (left.first(), weightiest(&causes)) {
            (Some(left), None) => Reply::Released { ticket, left: *left },
            (Some(first), Some(_)) if left.len() >= self.majority() => {
                Reply::Released { ticket, left: *first }
            }
            (_, Some(cause)) => Reply::Ended { ticket, cause },
            (None, None) => Reply::Unknown { ticket },
        }
    }

    fn evicted(&self, ticket: Ticket) -> Reply {
        let any = self.count(|reply| matches!(reply, Reply::Evicted { .. })) > 0;
        if any { Reply::Evicted { ticket } } else { Reply::Unknown { ticket } }
    }
}

/// Chooses the cause to report if nodes do not agree on how a ticket has ended. Some causes may be
/// wrong: a node may have waited for the ticket too long, or may have given a vote that came too
/// late and was taken back. Any other cause was seen where it happened.
pub(super) fn weightiest(causes: &[Cause]) -> Option<Cause> {
    let doubt = |cause: &&Cause| match cause {
        Cause::Expired => 2,
        Cause::Cancelled => 1,
        _ => 0,
    };
    causes.iter().min_by_key(doubt).copied()
}

#[cfg(test)]
mod tests;
