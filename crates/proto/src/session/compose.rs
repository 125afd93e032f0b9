//! Composing the next call about a name from everything that is due.

use alloc::{collections::VecDeque, string::String, vec::Vec};

use super::{
    Session,
    desk::{Desk, LeaseDesk, digest},
    event::{AskId, Call, CallId},
    record::{Exit, Phase, Record},
    renewal::MOST_MOVED,
};
use crate::{
    id::{Inbox, LeaseId, Ticket},
    name::Name,
    planted::{Bug, planted},
    request::{Acquire, Attach, Batch, Renew, Request, Whom},
    slots::Slots,
    time::{Micros, SECOND},
};

/// The most calls under way that overtake others. On a way that works each is there for a moment.
pub(super) const MOST_OVERTAKING: usize = 64;

/// A call under way: what each of its requests was for.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) at: Micros,
    pub(super) name: Name,
    pub(super) items: Vec<BatchPart>,
    /// It was sent while another call about the name was under way.
    pub(super) overtakes: bool,
}

impl Sent {
    /// Whether what stands under a lease depends on whether it was executed.
    fn changes_leases(&self) -> bool {
        let is_renewal = |item: &BatchPart| {
            use BatchPart::{Ask, Lease, Places, Proof, Tickets};
            matches!(item, Lease { .. } | Tickets { .. } | Proof { .. } | Places | Ask(_))
        };
        !self.items.iter().all(is_renewal)
    }
}

#[derive(Clone, Debug, Hash)]
pub(super) enum BatchPart {
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
    /// Tickets under a lease that the program does not have yet.
    Proof {
        lease: LeaseId,
        tickets: Vec<Ticket>,
    },
    /// All places in the queue.
    Places,
    Acquire(Ticket),
    Attach(Ticket, LeaseId),
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
    items: Vec<BatchPart>,
    requests: Vec<Request>,
}

impl Draft {
    fn push(&mut self, item: BatchPart, request: Request) {
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
        if desk.retry_at.is_some_and(|at| at > now) {
            return None;
        }
        let overdue = self.overdue(now, name);
        if desk.under_way.is_some() {
            return self.overtake(now, name, overdue);
        }
        let (draft, as_nobody) = self.draft_in_turn(now, name);
        let desk = self.desk(name);
        desk.nobodys_turn = !as_nobody;
        if draft.requests.is_empty() && !desk.must_settle {
            return None;
        }
        desk.must_settle = false;
        let call = self.send(now, name, draft, overdue, (!as_nobody).then_some(self.inbox));
        self.desk(name).under_way = Some(call.id);
        Some(call)
    }

    /// A renewal does not wait for the answer to another call: that may never come.
    fn overtake(&mut self, now: Micros, name: &Name, overdue: Option<Micros>) -> Option<Call> {
        if self.overtaking >= MOST_OVERTAKING {
            return None;
        }
        let mut draft = Draft::default();
        self.draft_proofs(now, name, &mut draft, |lease| lease.proofs.is_overdue(now));
        self.draft_renewals(now, name, &mut draft);
        if draft.requests.is_empty() {
            return None;
        }
        self.overtaking += 1;
        let call = self.send(now, name, draft, overdue, Some(self.inbox));
        if let Some(sent) = self.calls.get_mut(&call.id) {
            sent.overtakes = true;
        }
        Some(call)
    }

    /// A call is not under way any more, however it went.
    pub(super) fn has_ended(&mut self, sent: &Sent) {
        if sent.overtakes {
            self.overtaking -= 1;
        } else {
            self.desk(&sent.name).under_way = None;
        }
    }

    /// How long a renewal, or the call before it, should have taken at most, if one has taken longer.
    fn overdue(&self, now: Micros, name: &Name) -> Option<Micros> {
        let desk = self.desks.get(name)?;
        let under_way = desk.under_way.and_then(|call| self.calls.get(&call));
        let is_late = |of: &LeaseDesk| {
            let sent_at = under_way.map_or(now, |sent| sent.at);
            !of.held.is_empty() && (of.is_overdue(now) || sent_at + self.pause(of) <= now)
        };
        desk.leases.values().filter(|of| is_late(of)).map(|of| self.pause(of)).min()
    }

    /// Between a renewal and its repetition.
    fn pause(&self, lease: &LeaseDesk) -> Micros {
        self.config.schedule(lease.ttl).repeat()
    }

    /// Ours, or what must not carry our inbox: in turn, where there is both. So no number of requests as nobody holds up
    /// a renewal by more than one call.
    fn draft_in_turn(&mut self, now: Micros, name: &Name) -> (Draft, bool) {
        let nobody_is_first = self.desk(name).nobodys_turn;
        if nobody_is_first {
            let draft = self.draft_as_nobody(name);
            if !draft.requests.is_empty() {
                return (draft, true);
            }
        }
        let draft = self.draft(now, name);
        if !draft.requests.is_empty() || nobody_is_first {
            return (draft, false);
        }
        let draft = self.draft_as_nobody(name);
        let as_nobody = !draft.requests.is_empty();
        (draft, as_nobody)
    }

    fn send(
        &mut self,
        now: Micros,
        name: &Name,
        draft: Draft,
        overdue: Option<Micros>,
        inbox: Option<Inbox>,
    ) -> Call {
        self.last_call += 1;
        let id = CallId(self.last_call);
        let Draft { items, requests } = draft;
        self.calls.insert(id, Sent { at: now, name: name.clone(), items, overtakes: false });
        let fence_seen = self.fence_seen;
        let batch = Batch { name: name.clone(), inbox, fence_seen, requests };
        Call { id, batch, overdue }
    }

    /// Requests that must not carry our inbox: they are an operator's.
    fn draft_as_nobody(&mut self, name: &Name) -> Draft {
        let desk = self.desk(name);
        let mut draft = Draft::default();
        let asks = core::mem::take(&mut desk.asks);
        let (nobodys, ours): (VecDeque<_>, VecDeque<_>) = asks.into_iter().partition(|ask| ask.2);
        desk.asks = ours;
        for (ask, request, as_nobody) in nobodys {
            if draft.is_full() {
                desk.asks.push_back((ask, request, as_nobody));
            } else {
                draft.push(BatchPart::Ask(ask), request);
            }
        }
        draft
    }

    /// Renewals first: what stands under a lease is then as it was when the last reply came.
    fn draft(&mut self, now: Micros, name: &Name) -> Draft {
        let mut draft = Draft::default();
        self.draft_proofs(now, name, &mut draft, |_| true);
        self.draft_renewals(now, name, &mut draft);
        self.draft_places(now, name, &mut draft);
        self.draft_tickets(now, name, &mut draft);
        let desk = self.desk(name);
        let asks = core::mem::take(&mut desk.asks);
        for (ask, request, as_nobody) in asks {
            if as_nobody || draft.is_full() {
                desk.asks.push_back((ask, request, as_nobody));
            } else {
                draft.push(BatchPart::Ask(ask), request);
            }
        }
        draft
    }

    /// What was granted and is not proved: somebody waits for it.
    fn draft_proofs(
        &mut self,
        now: Micros,
        name: &Name,
        draft: &mut Draft,
        is_wanted: impl Fn(&LeaseDesk) -> bool,
    ) {
        let config = self.config.clone();
        for (&lease, of) in self.desk(name).leases.iter_mut() {
            if of.unproved.is_empty() || !is_wanted(of) {
                continue;
            }
            let (ttl, margin) = (of.ttl, config.stated_margin(of.ttl));
            let unproved: Vec<Ticket> = of.unproved.iter().copied().collect();
            for some in unproved.chunks(Batch::MOST_TICKETS) {
                if draft.is_full() {
                    return;
                }
                let tickets = some.to_vec();
                let whom = Whom::Tickets(tickets.clone());
                let renew = Request::Renew(Renew { lease, ttl, margin, whom });
                draft.push(BatchPart::Proof { lease, tickets }, renew);
            }
            of.proofs.sent(now, config.schedule(ttl).repeat());
        }
    }

    fn draft_renewals(&mut self, now: Micros, name: &Name, draft: &mut Draft) {
        let config = self.config.clone();
        let under_way = self.desk(name).under_way.and_then(|call| self.calls.get(&call));
        let is_in_doubt = under_way.is_some_and(Sent::changes_leases);
        let desk = self.desk(name);
        let is_certain = !is_in_doubt && desk.uncertain.is_empty();
        let joined = desk.leases_to_join();
        let Desk { leases, records, .. } = desk;
        for (&lease, of) in leases.iter_mut() {
            // Too many to name in one call are renewed as a whole, whatever is in doubt.
            let as_a_whole = !of.by_ticket && (is_certain || of.held.len() > MOST_MOVED);
            // What is granted under an old lease would have to be renewed on its own before it is handed over.
            let is_joined = as_a_whole && joined.contains(&lease) && of.is_worth_renewing(now);
            // Those nearly due go along, so that a client's leases are renewed together.
            let soon = now + of.ttl / 12;
            let is_overdue = of.renewals.is_overdue(now);
            let is_due = is_joined || is_overdue || of.due.is_some_and(|due| due <= soon);
            let calls = if as_a_whole { 1 } else { of.held.len().div_ceil(Batch::MOST_TICKETS) };
            if !is_due || !draft.has_room_for(calls) {
                continue;
            }
            of.renewal_is_sent(now, config.schedule(of.ttl).repeat());
            let (ttl, margin) = (of.ttl, config.stated_margin(of.ttl));
            let renew = |whom| Request::Renew(Renew { lease, ttl, margin, whom });
            if as_a_whole {
                let members = u32::try_from(of.held.len()).unwrap_or(u32::MAX);
                let whom = Whom::All { members, digest: digest(of.held.iter()) };
                let tickets = of.held.iter().copied().collect();
                draft.push(BatchPart::Lease { lease, tickets }, renew(whom));
                continue;
            }
            let is_held = |t: &&Ticket| records.get(t).is_some_and(|r| r.phase == Phase::Held);
            let held: Vec<Ticket> = of.held.iter().filter(is_held).copied().collect();
            for some in held.chunks(Batch::MOST_TICKETS) {
                let tickets = some.to_vec();
                let whom = Whom::Tickets(tickets.clone());
                draft.push(BatchPart::Tickets { lease, tickets }, renew(whom));
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
        draft.push(BatchPart::Places, Request::Renew(renew));
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
) -> (BatchPart, Request) {
    let ticket = record.ticket;
    let ttl = record.wish.ttl;
    let not_after = store_now.map(|store_now| store_now + life(ttl));
    match (record.phase, record.exit) {
        (Phase::Leaving, Exit::Release) => {
            (BatchPart::Release(ticket, None), Request::Release { ticket, slots: None })
        }
        (Phase::Leaving, Exit::Detach) => {
            let (ttl, margin) = (record.full_ttl, config.stated_margin(record.full_ttl));
            (BatchPart::Detach(ticket), Request::Detach { ticket, ttl, margin })
        }
        (Phase::Leaving, Exit::Cancel) => {
            let is_unsure = record.is_attaching && record.granted.is_none();
            let attach = is_unsure.then_some(record.lease);
            (BatchPart::Cancel(ticket), Request::Cancel { ticket, remember: ttl, attach })
        }
        (Phase::Held, _) if !record.giving.is_empty() => {
            let slots = Some(record.giving.clone());
            (BatchPart::Release(ticket, slots.clone()), Request::Release { ticket, slots })
        }
        _ if record.is_attaching => {
            let (lease, margin) = (record.lease, config.stated_margin(ttl));
            let about = String::from(&*record.wish.about);
            let attach = Attach { ticket, lease, ttl, margin, not_after, about };
            (BatchPart::Attach(ticket, lease), Request::Attach(attach))
        }
        _ => (
            BatchPart::Acquire(ticket),
            Request::Acquire(Acquire {
                ticket,
                kind: record.wish.kind,
                permits: record.wish.permits,
                wishes: record.wish.wishes.clone(),
                limit: record.wish.limit,
                enqueue: record.wish.enqueue,
                priority: record.wish.priority,
                lease: record.lease,
                ttl,
                margin: config.stated_margin(ttl),
                waiter_lease,
                waiter_ttl: config.waiter_ttl,
                not_after,
                about: String::from(&*record.wish.about),
            }),
        ),
    }
}
