//! The effect of each mistake on the machines.

use seinpaal_proto::{
    Batch, Configure, Limit, Memory, MemoryState, Outcome, Replies, Reply, Request, SlotNames,
    Standing, State, Ticket, What, Whom, time::UNBOUNDED,
};

use crate::{
    bounds::{Bounds, TICK},
    plant::Plant,
};

impl Plant {
    /// Returns the batch as it arrives with the mistake.
    pub(crate) fn request(self, batch: &Batch, ledger: &MemoryState) -> Batch {
        let mut batch = batch.clone();
        let asker = batch.inbox;
        let others = ledger.entries().find(|entry| {
            entry.inbox == asker && matches!(entry.standing, Standing::Holding { .. })
        });
        let held = others.map(|entry| entry.ticket);
        for request in &mut batch.requests {
            self.rewrite(request, held);
        }
        batch
    }

    fn rewrite(self, request: &mut Request, held: Option<Ticket>) {
        match (self, request) {
            (Self::ByClient, Request::Release { ticket, .. } | Request::Cancel { ticket, .. }) => {
                *ticket = held.unwrap_or(*ticket);
            }
            (Self::NoDeadline, Request::Acquire(want)) => want.not_after = None,
            (Self::WishLost, Request::Acquire(want)) => want.wishes = SlotNames::none(),
            (Self::OneTooMany, Request::Acquire(want)) => {
                let one_more = |rule: &mut seinpaal_proto::LimitRule| {
                    rule.limit = Limit::new(rule.limit.get() + 1).unwrap_or(rule.limit);
                };
                want.limit.iter_mut().for_each(one_more);
            }
            _ => {}
        }
    }

    /// Changes the ledger before it executes a batch.
    pub(crate) fn before(self, ledger: &mut MemoryState) {
        let Ok(mut head) = ledger.head();
        match self {
            Self::ForgetsPast => {
                head.past -= forget_what_is_over(ledger);
            }
            Self::FreeClock => head.bound = UNBOUNDED,
            Self::FenceIsClock => head.fence = 0,
            Self::LastFirst => return last_comes_first(ledger),
            _ => return,
        }
        if !ledger.is_empty() {
            let Ok(()) = ledger.set_head(&head);
        }
    }

    /// Changes the ledger after it has executed a batch.
    pub(crate) fn after(self, ledger: &mut MemoryState, batch: &Batch) {
        if self == Self::ForgetsFence && ledger.is_at_rest() && ledger.memories().next().is_none() {
            let Ok(()) = ledger.clear();
        }
        if let (Self::RenamesInUse, [Request::Configure(Configure::Slots(names))]) =
            (self, &batch.requests[..])
        {
            let Ok(mut head) = ledger.head();
            (head.names, head.pinned) = (names.clone(), Some(names.count()));
            let Ok(()) = ledger.set_head(&head);
        }
        self.change_head(ledger, batch);
        if self != Self::ShortensAll {
            return;
        }
        let Ok(head) = ledger.head();
        let tickets: Vec<Ticket> = ledger.entries().map(|entry| entry.ticket).collect();
        for ticket in tickets {
            if let Some(mut lease) = ledger.lease_under(ticket).cloned()
                && lease.inbox != batch.inbox
            {
                lease.ends = lease.ends.min(head.clock + 3 * TICK);
                let Ok(()) = ledger.put_lease(&lease);
            }
        }
    }

    fn change_head(self, ledger: &mut MemoryState, batch: &Batch) {
        let Ok(mut head) = ledger.head();
        let pins = |request: &Request| matches!(request, Request::Configure(Configure::Limit(_)));
        match self {
            Self::PinForgotten if batch.requests.iter().any(pins) => head.pinned = None,
            Self::Miscounted if !ledger.is_empty() => head.past += 1,
            _ => return,
        }
        let Ok(()) = ledger.set_head(&head);
    }

    /// Changes what the store returns.
    pub(crate) fn outcome(self, bounds: &Bounds, batch: &Batch, outcome: &mut Outcome) {
        if self == Self::EndUntold {
            outcome.wakeups.retain(|wakeup| !matches!(wakeup.what, What::Ended(_)));
        }
        if self != Self::NoSecondLook {
            return;
        }
        outcome.replies.look_in = None;
        outcome.wakeups.clear();
        for (request, reply) in batch.requests.iter().zip(&mut outcome.replies.replies) {
            if let Request::Renew(renew) = request
                && matches!(renew.whom, Whom::All { .. })
                && renew.ttl == bounds.place()
            {
                *reply = Reply::Renewed { valid_for: Some(renew.ttl) };
            }
        }
    }

    /// Changes the replies as the session takes them.
    pub(crate) fn replies(self, bounds: &Bounds, replies: &mut Replies) {
        if self == Self::GrantDenied {
            replies.replies.iter_mut().for_each(deny);
        }
        if self != Self::NoMargin {
            return;
        }
        let more = bounds.ttl() / 4 + bounds.ttl() / 100;
        for reply in &mut replies.replies {
            match reply {
                Reply::Granted(grant) => grant.valid_for.iter_mut().for_each(|t| *t += more),
                Reply::Renewed { valid_for } | Reply::Tickets { valid_for, .. } => {
                    valid_for.iter_mut().for_each(|t| *t += more);
                }
                _ => {}
            }
        }
    }
}

fn deny(reply: &mut Reply) {
    if let Reply::Granted(grant) = reply {
        *reply = Reply::TooMany { ticket: grant.ticket, permits: 1, limit: 1 };
    }
}

/// Forgets every ticket that is over. Returns the number of series that are forgotten with them.
fn forget_what_is_over(ledger: &mut MemoryState) -> u32 {
    let memories: Vec<Memory> = ledger.memories().cloned().collect();
    let mut forgotten = 0;
    for mut memory in memories {
        let held = ledger.entries().filter(|entry| {
            entry.ticket.series() == memory.series
                && matches!(entry.standing, Standing::Holding { .. })
        });
        if let Some(last) = held.map(|entry| entry.ticket.number()).max() {
            (memory.last, memory.ends) = (last, Vec::new());
            let Ok(()) = ledger.put_memory(&memory);
        } else {
            let Ok(()) = ledger.remove_memory(memory.series);
            forgotten += 1;
        }
    }
    forgotten
}

/// Puts the last waiter before the first.
fn last_comes_first(ledger: &mut MemoryState) {
    let rank_of = |entry: &seinpaal_proto::Entry| match entry.standing {
        Standing::Waiting { rank, .. } => rank,
        Standing::Holding { .. } => 0,
    };
    let Ok(first) = ledger.first_waiter();
    let last = ledger.line().last().cloned();
    if let (Some(first), Some(mut last)) = (first, last)
        && let Standing::Waiting { rank, .. } = &mut last.standing
    {
        *rank = rank_of(&first) - 1;
        let Ok(()) = ledger.put_entry(&last);
    }
}
