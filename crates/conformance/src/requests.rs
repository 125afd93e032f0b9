//! The requests of the cases. Every field that a case does not name has one ordinary value.

use std::time::Duration;

use seinpaal_proto::{
    Acquire, Attach, Configure, Enqueue, Fence, Kind, LeaseId, Limit, LimitRule, OnMismatch,
    Permits, Priority, Renew, Request, Ticket, Whom,
    time::{Micros, UNBOUNDED, WAITER_TTL, margin, micros},
};

/// The ttl of every request that names none.
pub(crate) const TTL: Duration = Duration::from_secs(30);
/// That ttl, as requests carry it.
pub(crate) const TTL_MICROS: Micros = 30_000_000;

/// A request for one permit, by a client that waits.
pub(crate) fn want(ticket: Ticket) -> Acquire {
    Acquire {
        ticket,
        kind: Kind::Semaphore,
        permits: Permits::ONE,
        wishes: seinpaal_proto::SlotNames::none(),
        limit: None,
        enqueue: Enqueue::Yes { max_waiting: None },
        priority: Priority::default(),
        ttl: TTL_MICROS,
        margin: margin(TTL_MICROS),
        waiter_ttl: WAITER_TTL,
        not_after: None,
        about: String::new(),
    }
}

/// As [`want`], by a client that does not wait.
pub(crate) fn want_now(ticket: Ticket) -> Acquire {
    Acquire { enqueue: Enqueue::No, ..want(ticket) }
}

/// As [`want`], for this many permits.
pub(crate) fn permits(ticket: Ticket, count: u32) -> Acquire {
    Acquire { permits: Permits::new(count).unwrap(), ..want(ticket) }
}

/// As [`want`], with a ttl. The clock may jump over the ttl in one step.
pub(crate) fn lasting(ticket: Ticket, ttl: Duration) -> Acquire {
    Acquire { ttl: micros(ttl), margin: UNBOUNDED, ..want(ticket) }
}

/// As [`want`], with a priority.
pub(crate) fn ranked(ticket: Ticket, priority: i32) -> Acquire {
    Acquire { priority: Priority::new(priority).unwrap(), ..want(ticket) }
}

/// As [`want_now`], stating a limit.
pub(crate) fn stating(ticket: Ticket, limit: u32, on_mismatch: OnMismatch) -> Acquire {
    let limit = Limit::new(limit).unwrap();
    Acquire { limit: Some(LimitRule { limit, on_mismatch }), ..want_now(ticket) }
}

pub(crate) fn acquire(want: &Acquire) -> Request {
    Request::Acquire(want.clone())
}

pub(crate) fn release(ticket: Ticket) -> Request {
    Request::Release { ticket, slots: None }
}

pub(crate) fn release_slots(ticket: Ticket, slots: &str) -> Request {
    Request::Release { ticket, slots: Some(slots.parse().unwrap()) }
}

pub(crate) fn cancel(ticket: Ticket) -> Request {
    Request::Cancel { ticket, remember: TTL_MICROS, attach: None }
}

/// A request that makes its sender the holder of the ticket, under this lease.
pub(crate) fn attach(ticket: Ticket, lease: LeaseId) -> Request {
    let (ttl, about) = (TTL_MICROS, String::new());
    Request::Attach(Attach { ticket, lease, ttl, margin: margin(ttl), not_after: None, about })
}

/// Gives up an attach under this lease.
pub(crate) fn give_up_attach(ticket: Ticket, lease: LeaseId) -> Request {
    Request::Cancel { ticket, remember: TTL_MICROS, attach: Some(lease) }
}

/// A request that leaves its sender's permit without an owner, whichever grant of the ticket is the
/// present one.
pub(crate) fn detach(ticket: Ticket) -> Request {
    detach_grant(ticket, Fence(UNBOUNDED))
}

/// As [`detach`], but only if the ticket has no later grant than this one.
pub(crate) fn detach_grant(ticket: Ticket, fence: Fence) -> Request {
    Request::Detach { ticket, fence, ttl: TTL_MICROS, margin: UNBOUNDED }
}

pub(crate) fn evict(ticket: Ticket) -> Request {
    Request::Evict { ticket }
}

pub(crate) fn renew(lease: LeaseId, tickets: &[Ticket]) -> Request {
    renewal(lease, Whom::Tickets(tickets.to_vec()))
}

pub(crate) fn renew_all(lease: LeaseId, tickets: &[Ticket]) -> Request {
    let digest = tickets.iter().map(|ticket| ticket.digest()).sum::<u64>() & ((1 << 48) - 1);
    renewal(lease, Whom::All { members: tickets.len() as u32, digest })
}

fn renewal(lease: LeaseId, whom: Whom) -> Request {
    Request::Renew(Renew { lease, ttl: TTL_MICROS, margin: UNBOUNDED, whom })
}

pub(crate) fn limit(limit: u32) -> Request {
    Request::Configure(Configure::Limit(Limit::new(limit).unwrap()))
}

pub(crate) fn pause(reason: &str) -> Request {
    Request::Configure(Configure::Pause(reason.to_owned()))
}

pub(crate) fn resume() -> Request {
    Request::Configure(Configure::Resume)
}
