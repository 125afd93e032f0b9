//! What a history of one name consists of.

use seinpaal_proto::{Acquire, Attach, Configure, Inbox, LeaseId, Slots, Ticket};

/// What happens next.
#[derive(Clone, Debug)]
pub enum Event {
    /// Somebody subscribes to this inbox.
    Listen(Inbox),
    /// Nobody listens at this inbox any more.
    Hush(Inbox),
    /// The server loses the marker of its restart guard, as if it had lost everything.
    LoseMarker,
    /// The clock moves by so many microseconds, and a batch arrives.
    Call { step: i64, inbox: Option<Inbox>, fence: FenceSeen, asks: Vec<Ask> },
}

/// What the sender claims to have seen.
#[derive(Clone, Copy, Debug)]
pub enum FenceSeen {
    None,
    /// So far from the clock.
    Near(i64),
    /// More than can be believed.
    Absurd,
}

/// A request; what depends on the state or the clock is filled in when it is sent.
#[derive(Clone, Debug)]
pub enum Ask {
    /// `not_after` is relative to the clock.
    Acquire {
        acquire: Acquire,
        not_after: Option<i64>,
    },
    /// With the members and the digest that the ledger has, changed by so much.
    RenewAll {
        lease: LeaseId,
        ttl: u64,
        margin: u64,
        wrong: u64,
    },
    RenewTickets {
        lease: LeaseId,
        ttl: u64,
        margin: u64,
        tickets: Vec<Ticket>,
    },
    /// `not_after` is relative to the clock.
    Attach {
        attach: Attach,
        not_after: Option<i64>,
    },
    Detach {
        ticket: Ticket,
        ttl: u64,
        margin: u64,
    },
    Release {
        ticket: Ticket,
        slots: Option<Slots>,
    },
    Cancel {
        ticket: Ticket,
        remember: u64,
        attach: Option<LeaseId>,
    },
    Evict {
        ticket: Ticket,
    },
    /// Somebody asks the holder to hand over.
    HandOver {
        ticket: Ticket,
        lease: LeaseId,
        by: &'static str,
    },
    Configure(Configure),
    Inspect {
        rows: u32,
    },
}
