//! Composing the next call about a name from everything that is due.

use alloc::{collections::VecDeque, vec::Vec};

use super::{
    Session,
    desk::{Desk, LeaseDesk, digest},
    event::{AskId, Call, CallId},
    record::{Exit, Phase, Record},
    renewal::MOST_MOVED,
};
use crate::{
    id::{LeaseId, Ticket},
    name::Name,
    planted::{Bug, planted},
    request::{Acquire, Batch, Renew, Request, Whom},
    slots::Slots,
    time::{Micros, SECOND},
};

/// A call under way: what each of its requests was for.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) at: Micros,
    pub(super) name: Name,
    pub(super) items: Vec<Item>,
}

#[derive(Clone, Debug, Hash)]
pub(super) enum Item {
    /// A whole lease, with the tickets that were believed to stand under it.
    Lease {
        lease: LeaseId,
        tickets: Vec<Ticket>,
    },
    /// A lease, ticket by ticket.
    Tickets {
        lease: LeaseId,
        tickets: Vec<Ticket>,
    },
    /// All places in the queue.
    Places,
    Acquire(Ticket),
    Attach(Ticket),
    Release(Ticket, Option<Slots>),
    Cancel(Ticket),
    Detach(Ticket),
    Ask(AskId),
}

/// How long a request may be on its way before the store refuses it: no longer than a ticket is
/// remembered after its end, so that a late copy of it finds either that memory or a refusal.
fn life(ttl: Micros) -> Micros {
    (ttl / 2).min(10 * SECOND)
}

/// Requests of one batch, with what they are for.
#[derive(Default)]
struct Draft {
    items: Vec<Item>,
    requests: Vec<Request>,
}

impl Draft {
    fn push(&mut self, item: Item, request: Request) {
        self.items.push(item);
        self.requests.push(request);
    }

    fn is_full(&self) -> bool {
        !self.has_room_for(1)
    }

    fn has_room_for(&self, requests: usize) -> bool {
        self.requests.len() + requests <= Batch::MOST
    }
}

impl Session {
    pub(super) fn compose(&mut self, now: Micros, name: &Name) -> Option<Call> {
        let desk = self.desks.get(name)?;
        if desk.under_way.is_some() || desk.retry_at.is_some_and(|at| at > now) {
            return None;
        }
        let mut draft = self.draft_as_nobody(name);
        let as_nobody = !draft.requests.is_empty();
        if !as_nobody {
            draft = self.draft(now, name);
        }
        let desk = self.desk(name);
        if draft.requests.is_empty() && !desk.must_settle {
            return None;
        }
        desk.must_settle = false;
        Some(self.send(now, name, draft, as_nobody))
    }

    fn send(&mut self, now: Micros, name: &Name, draft: Draft, as_nobody: bool) -> Call {
        self.last_call += 1;
        let id = CallId(self.last_call);
        let Draft { items, requests } = draft;
        self.calls.insert(id, Sent { at: now, name: name.clone(), items });
        self.desk(name).under_way = Some(id);
        let inbox = (!as_nobody).then_some(self.inbox);
        let fence_seen = self.fence_seen;
        Call { id, batch: Batch { name: name.clone(), inbox, fence_seen, requests } }
    }

    /// Requests that must not carry our inbox: what they leave behind is nobody's.
    fn draft_as_nobody(&mut self, name: &Name) -> Draft {
        let config = self.config.clone();
        let desk = self.desk(name);
        let mut draft = Draft::default();
        while !draft.is_full()
            && let Some(ticket) = desk.outbox.pop_detach()
        {
            let Some(record) = desk.records.get(&ticket) else { continue };
            let whom = Whom::Tickets([ticket].into());
            let (ttl, lease) = (record.full_ttl, LeaseId::from(ticket));
            let margin = config.stated_margin(ttl);
            draft.push(Item::Detach(ticket), Request::Renew(Renew { lease, ttl, margin, whom }));
        }
        let asks = core::mem::take(&mut desk.asks);
        let (nobodys, ours): (VecDeque<_>, VecDeque<_>) = asks.into_iter().partition(|ask| ask.2);
        desk.asks = ours;
        for (ask, request, as_nobody) in nobodys {
            if draft.is_full() {
                desk.asks.push_back((ask, request, as_nobody));
            } else {
                draft.push(Item::Ask(ask), request);
            }
        }
        draft
    }

    /// Renewals first: what stands under a lease is then as it was when the last reply came.
    fn draft(&mut self, now: Micros, name: &Name) -> Draft {
        let mut draft = Draft::default();
        self.draft_renewals(now, name, &mut draft);
        self.draft_places(now, name, &mut draft);
        self.draft_tickets(now, name, &mut draft);
        let desk = self.desk(name);
        while !draft.is_full()
            && let Some((ask, request, _)) = desk.asks.pop_front()
        {
            draft.push(Item::Ask(ask), request);
        }
        draft
    }

    fn draft_renewals(&mut self, now: Micros, name: &Name, draft: &mut Draft) {
        let config = self.config.clone();
        let desk = self.desk(name);
        let is_certain = desk.uncertain.is_empty();
        let Desk { leases, records, .. } = desk;
        for (&lease, of) in leases.iter_mut() {
            // Those nearly due go along, so that a client's leases are renewed together.
            let is_due = of.due.is_some_and(|due| due <= now + of.ttl / 12);
            // Too many to name in one call are renewed as a whole, whatever is in doubt.
            let as_a_whole = !of.by_ticket && (is_certain || of.held.len() > MOST_MOVED);
            let calls = if as_a_whole { 1 } else { of.held.len().div_ceil(Batch::MOST_TICKETS) };
            if !is_due || !draft.has_room_for(calls) {
                continue;
            }
            of.due = None;
            let (ttl, margin) = (of.ttl, config.stated_margin(of.ttl));
            let renew = |whom| Request::Renew(Renew { lease, ttl, margin, whom });
            if as_a_whole {
                let members = u32::try_from(of.held.len()).unwrap_or(u32::MAX);
                let whom = Whom::All { members, digest: digest(of.held.iter()) };
                let tickets = of.held.iter().copied().collect();
                draft.push(Item::Lease { lease, tickets }, renew(whom));
                continue;
            }
            let is_held = |t: &&Ticket| records.get(t).is_some_and(|r| r.phase == Phase::Held);
            let held: Vec<Ticket> = of.held.iter().filter(is_held).copied().collect();
            for some in held.chunks(Batch::MOST_TICKETS) {
                let tickets = some.to_vec();
                let whom = Whom::Tickets(tickets.clone());
                draft.push(Item::Tickets { lease, tickets }, renew(whom));
            }
        }
    }

    fn draft_places(&mut self, now: Micros, name: &Name, draft: &mut Draft) {
        let ttl = self.config.waiter_ttl;
        let desk = self.desk(name);
        if planted(Bug::WaitsForWakeups) {
            desk.waiters_due = None;
        }
        if desk.waiters_due.is_none_or(|due| due > now + ttl / 12) || draft.is_full() {
            return;
        }
        desk.waiters_due = None;
        let members = u32::try_from(desk.places.len()).unwrap_or(u32::MAX);
        let whom = Whom::All { members, digest: digest(desk.places.iter()) };
        let renew = Renew { lease: desk.waiter_lease, ttl, margin: ttl / 2, whom };
        draft.push(Item::Places, Request::Renew(renew));
    }

    fn draft_tickets(&mut self, now: Micros, name: &Name, draft: &mut Draft) {
        let store_now = self.store_clock.map(|(clock, sent)| clock + (now - sent));
        let config = self.config.clone();
        let desk = self.desk(name);
        let waiter_lease = desk.waiter_lease;
        while !draft.is_full()
            && let Some(ticket) = desk.outbox.pop()
        {
            let Some(record) = desk.records.get_mut(&ticket) else { continue };
            if record.sent_at.is_none() {
                record.sent_at = Some(now);
                let (lease, ttl) = (record.lease, record.wish.ttl);
                desk.leases.entry(lease).or_insert_with(|| LeaseDesk::new(ttl)).may_appear(now);
            }
            let (item, request) = request_for(record, &config, waiter_lease, store_now);
            draft.push(item, request);
        }
    }
}

fn request_for(
    record: &Record,
    config: &super::Config,
    waiter_lease: LeaseId,
    store_now: Option<Micros>,
) -> (Item, Request) {
    let ticket = record.ticket;
    let ttl = record.wish.ttl;
    match (record.phase, record.exit) {
        (Phase::Leaving, Exit::Release) => {
            (Item::Release(ticket, None), Request::Release { ticket, slots: None })
        }
        (Phase::Leaving, _) => (Item::Cancel(ticket), Request::Cancel { ticket, remember: ttl }),
        (Phase::Held, _) if !record.giving.is_empty() => {
            let slots = Some(record.giving.clone());
            (Item::Release(ticket, slots.clone()), Request::Release { ticket, slots })
        }
        _ if record.is_attaching => {
            let (lease, margin) = (record.lease, config.stated_margin(ttl));
            let whom = Whom::Tickets([ticket].into());
            (Item::Attach(ticket), Request::Renew(Renew { lease, ttl, margin, whom }))
        }
        _ => (
            Item::Acquire(ticket),
            Request::Acquire(Acquire {
                ticket,
                kind: record.wish.kind,
                permits: record.wish.permits,
                limit: record.wish.limit,
                enqueue: record.wish.enqueue,
                priority: record.wish.priority,
                lease: record.lease,
                ttl,
                margin: config.stated_margin(ttl),
                waiter_lease,
                waiter_ttl: config.waiter_ttl,
                not_after: store_now.map(|store_now| store_now + life(ttl)),
                about: record.wish.about.clone(),
            }),
        ),
    }
}
