//! The events of a history of one name.

use seinpaal_proto::{Acquire, Attach, Configure, Inbox, LeaseId, Slots, Ticket};

/// An event.
#[derive(Clone, Debug)]
pub enum Event {
    /// Somebody subscribes to this inbox.
    Listen(Inbox),
    /// Nobody listens at this inbox any more.
    Hush(Inbox),
    /// The server loses the marker of its restart guard, as if it had lost everything.
    LoseMarker,
    /// The clock moves by this many microseconds, and a batch arrives.
    Call { step: i64, inbox: Option<Inbox>, fence: FenceSeen, sketches: Vec<Sketch> },
}

/// The fence that the sender claims to have seen.
#[derive(Clone, Copy, Debug)]
pub enum FenceSeen {
    None,
    /// At this distance from the clock.
    Near(i64),
    /// More than can be believed.
    Absurd,
}

/// A request; what depends on the state or the clock is filled in when it is sent.
#[derive(Clone, Debug)]
pub enum Sketch {
    /// `not_after` is relative to the clock.
    Acquire {
        acquire: Acquire,
        not_after: Option<i64>,
    },
    /// The members and the digest of the ledger, changed by this much.
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
    /// `is_late`: it means a grant before the one that there is.
    Detach {
        ticket: Ticket,
        is_late: bool,
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
