//! The requests that change something: those of tickets, and others about the name.

use alloc::{collections::VecDeque, string::String};

use super::{
    super::{
        Session, SessionConfig,
        event::Want,
        record::{Phase, Record, TicketExit},
        sent::BatchPart,
    },
    Draft,
};
use crate::{
    id::Fence,
    name::Name,
    request::{Acquire, Attach, Request},
    time::{Micros, SECOND, UNBOUNDED},
};

impl Session {
    /// Drafts the requests that must not carry our inbox, because they are an operator's.
    pub(super) fn draft_as_nobody(&mut self, name: &Name) -> Draft {
        let desk = self.desk(name);
        let mut draft = Draft::default();
        let one_offs = core::mem::take(&mut desk.one_offs);
        let (nobodys, ours): (VecDeque<_>, VecDeque<_>) =
            one_offs.into_iter().partition(|one_off| one_off.2);
        desk.one_offs = ours;
        for (one_off, request, as_nobody) in nobodys {
            if draft.is_full() {
                desk.one_offs.push_back((one_off, request, as_nobody));
            } else {
                draft.push(BatchPart::OneOff(one_off), request);
            }
        }
        draft
    }

    /// Drafts a request for each ticket in the outbox, as far as the batch has room.
    pub(super) fn draft_tickets(&mut self, now: Micros, name: &Name, draft: &mut Draft) {
        // Only answers tell the store's clock, so requests before the first answer have no
        // deadline.
        let store_now = self.store_clock.map(|(clock, sent)| clock + (now - sent));
        let config = self.config.clone();
        let desk = self.desk(name);
        while !draft.is_full()
            && let Some(ticket) = desk.outbox.pop()
        {
            let Some(record) = desk.records.get_mut(&ticket) else { continue };
            // From the first request on, the store may know of the ticket.
            if record.sent_at.is_none() {
                record.sent_at = Some(now);
            }
            let (item, request) = request_for(record, &config, store_now);
            draft.push(item, request);
        }
    }
}

/// Returns the request that a ticket's record calls for, and the note by which its answer will be
/// read.
fn request_for(
    record: &Record,
    config: &SessionConfig,
    store_now: Option<Micros>,
) -> (BatchPart, Request) {
    let ticket = record.ticket;
    let ttl = record.want.ttl;
    let not_after = store_now.map(|store_now| store_now + life(ttl));
    match (record.phase, record.exit) {
        (Phase::Leaving, TicketExit::Release) => {
            (BatchPart::Release(ticket, None), Request::Release { ticket, slots: None })
        }
        (Phase::Leaving, TicketExit::Detach) => {
            let (ttl, margin) = (record.full_ttl, config.stated_margin(record.full_ttl));
            let fence = record.granted.as_ref().map_or(Fence(UNBOUNDED), |granted| granted.fence);
            (BatchPart::Detach(ticket), Request::Detach { ticket, fence, ttl, margin })
        }
        (Phase::Leaving, TicketExit::Cancel) => {
            // Nobody knows whether the attach was executed. The store is to end the ticket only if
            // it was, and to refuse the attach if it still arrives.
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
            let about = String::from(&*record.want.about);
            let attach = Attach { ticket, lease, ttl, margin, not_after, about };
            (BatchPart::Attach(ticket, lease), Request::Attach(attach))
        }
        _ => {
            let acquire = acquire_of(record, config, not_after);
            (BatchPart::Acquire(ticket), Request::Acquire(acquire))
        }
    }
}

fn acquire_of(record: &Record, config: &SessionConfig, not_after: Option<Micros>) -> Acquire {
    let Want { permits, kind, wishes, limit, enqueue, priority, ttl, about, .. } = &record.want;
    Acquire {
        ticket: record.ticket,
        kind: *kind,
        permits: *permits,
        wishes: wishes.clone(),
        limit: *limit,
        enqueue: *enqueue,
        priority: *priority,
        ttl: *ttl,
        margin: config.stated_margin(*ttl),
        waiter_ttl: config.waiter_ttl,
        not_after,
        about: String::from(&**about),
    }
}

/// Returns how long a request may be on its way before the store refuses it (rule 16). A ticket is
/// remembered for a ttl after its end, and this is shorter. So a late copy of a request finds
/// either that memory or a refusal, and cannot make a lease that nobody holds.
fn life(ttl: Micros) -> Micros {
    (ttl / 2).min(10 * SECOND)
}
