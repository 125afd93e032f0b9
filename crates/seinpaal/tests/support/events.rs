//! The events of a history of one name.

use seinpaal_proto::{Acquire, Attach, Configure, Inbox, LeaseId, Slots, Ticket};

/// An event.
#[derive(Clone, Debug)]
pub enum Event {
    /// A client subscribes to this inbox.
    Listen(Inbox),
    /// No client listens at this inbox any more.
    Hush(Inbox),
    /// The server loses the marker of its restart guard, as if it had lost all its data.
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
    /// A fence that is too high to be believed.
    Absurd,
}

/// A request. The parts that depend on the state or the clock are filled in when it is sent.
#[derive(Clone, Debug)]
pub enum Sketch {
    /// `not_after` is relative to the clock.
    Acquire {
        acquire: Acquire,
        not_after: Option<i64>,
    },
    /// A renewal with the members and the digest of the ledger, changed by this much.
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
    /// `is_late` means that the request is about a grant before the present one.
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
    Configure(Configure),
    Inspect {
        rows: u32,
    },
}
