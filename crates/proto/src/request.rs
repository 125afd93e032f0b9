//! The requests of a session to a store.

use alloc::{string::String, vec::Vec};

use crate::{
    count::{Limit, Permits, Priority},
    id::{Fence, Inbox, LeaseId, Ticket},
    kind::Kind,
    name::Name,
    slot_names::SlotNames,
    slots::Slots,
    time::Micros,
};

/// Requests of one session about one name, executed in order in one atomic step.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Batch {
    /// The name that all of them are about.
    pub name: Name,
    /// The inbox at which the sender listens. `None`: the sender does not listen and only looks now
    /// and then.
    pub inbox: Option<Inbox>,
    /// The highest fence that the sender has seen at this name, or 0. From it, a store that lost
    /// its memory learns which fences it must not give again.
    pub fence_seen: u64,
    /// The requests, at most [`Batch::MOST`]; none at all means "settle what is due".
    pub requests: Vec<Request>,
}

impl Batch {
    /// The most requests in one batch, so that no call takes long.
    pub const MOST: usize = 64;
    /// The most tickets that a client puts under one lease, and so names in one [`Renew`]. So a
    /// store reads and writes a bounded number of bytes for each request. With more tickets the
    /// client begins another series.
    pub const MOST_UNDER_A_LEASE: usize = 64;
}

/// One request. Each variant names its possible answers. All are idempotent, by ticket where there
/// is one.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Request {
    /// Take permits, join the queue, or learn how an earlier try went. Answers `Granted`, `Queued`,
    /// `Busy`, `OtherKind`, `OtherLimit`, `TooMany`, `NoSuchSlot`, `TooLate` or `Ended`.
    Acquire(Acquire),
    /// Extend a lease. Answers `Renewed`, `Differs`, `Gone` or `Tickets`.
    Renew(Renew),
    /// Become the holder of a ticket that holds. Answers `Granted`, `TooLate`, `Ended` or
    /// `Unknown`.
    Attach(Attach),
    /// Leave a permit of the sender's without an owner. From now on nobody owns its lease, which
    /// ends after `ttl` unless somebody renews it by ticket or attaches. Answers `Renewed`, `Ended`
    /// or `Unknown`.
    Detach {
        /// The ticket.
        ticket: Ticket,
        /// The fence of the grant that the sender has in hand. If somebody has attached to the
        /// ticket since (even the sender itself), this request is late and changes nothing.
        fence: Fence,
        /// How long its lease lasts from now on.
        ttl: Micros,
        /// As in [`Acquire::margin`].
        margin: Micros,
    },
    /// Give back the permits of a ticket, or only these slots of it. A sender without an inbox,
    /// such as an operator, gives back whole tickets of any holder, and the holder is told. Answers
    /// `Released`, `Ended` or `Unknown`.
    Release {
        /// The ticket whose permits go back.
        ticket: Ticket,
        /// The slots to give back; `None` for all. Slots that the ticket does not hold are ignored.
        slots: Option<Slots>,
    },
    /// Give up a ticket, whether it waits, holds or is over, and refuse it for the time of
    /// `remember` should it still arrive. A permit that another client has taken over stays with
    /// that client. Answers `Cancelled`.
    Cancel {
        /// The ticket.
        ticket: Ticket,
        /// How long the store refuses the ticket.
        remember: Micros,
        /// Give up only the grant that an [`Attach`] with this lease has got or may still get.
        attach: Option<LeaseId>,
    },
    /// End the lease or the place in the queue of any client. Answers `Evicted` or `Unknown`.
    Evict {
        /// The ticket to end.
        ticket: Ticket,
    },
    /// Change the settings stored with the name. Answers `Configured`, `OtherKind` if the request
    /// would change the limit of a mutex or a readers-writer lock, or `SlotsInUse`.
    Configure(Configure),
    /// Read everything about the name. Answers `Snapshot`.
    Inspect {
        /// The most holders, and the most waiters, to list. The totals always count all.
        rows: u32,
    },
}

/// A request for permits.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Acquire {
    /// The id of this request. A second request with the same ticket counts as a repetition.
    pub ticket: Ticket,
    /// The kind of lock that the caller takes the name for.
    pub kind: Kind,
    /// How many permits the caller wants, all at once.
    pub permits: Permits,
    /// The limit that the caller states. `None`: the stored limit is used, or 1 is stored if there
    /// is none.
    pub limit: Option<LimitRule>,
    /// Whether to join the queue if the permits cannot be had at once.
    pub enqueue: Enqueue,
    /// Rank among waiters.
    pub priority: Priority,
    /// The length without renewal of the lease that the permits will stand under. It is the lease
    /// of the ticket's [series](Ticket::lease), made if it is not there.
    pub ttl: Micros,
    /// By how much the ledger's clock may jump in one operation without hurting this caller. The
    /// caller stops believing in its lease that much before its end.
    /// [`UNBOUNDED`](crate::time::UNBOUNDED): the clock may jump by any amount.
    pub margin: Micros,
    /// The length without renewal of the lease that the place in the queue stands under, which is
    /// that of the [waiters](Ticket::place) of the ticket's series.
    pub waiter_ttl: Micros,
    /// The deadline on the store's clock, after which the request is refused. `None`: no deadline.
    pub not_after: Option<Micros>,
    /// The names of slots that must be among those granted, at most `permits` of them; none if any
    /// slots will do.
    pub wishes: SlotNames,
    /// The caller's description of itself, [encoded](crate::About::encode), for people to read.
    pub about: String,
}

/// A request to become the holder of a ticket that another client holds, or that was left without
/// an owner. An attach is a grant of its own: it gets a new fence, and ends the grant before it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Attach {
    /// The ticket.
    pub ticket: Ticket,
    /// The lease that the permits will stand under. It is also the id of this request: it is drawn
    /// for it and used once. A second request with the same lease counts as a repetition.
    pub lease: LeaseId,
    /// That lease's length without renewal.
    pub ttl: Micros,
    /// As in [`Acquire::margin`].
    pub margin: Micros,
    /// The deadline on the store's clock, after which the request is refused. `None`: no deadline.
    pub not_after: Option<Micros>,
    /// The new holder's description of itself, [encoded](crate::About::encode).
    pub about: String,
}

/// The limit that a caller states.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct LimitRule {
    /// That limit.
    pub limit: Limit,
    /// The rule for a stored limit that differs from this one.
    pub on_mismatch: OnMismatch,
}

/// The ways to treat a stored limit that differs from the stated one.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum OnMismatch {
    /// Refuse the request and tell both numbers if holders or waiters stated the stored limit. Use
    /// the stored limit if an operator pinned it.
    #[default]
    Refuse,
    /// Use the stored limit.
    Adopt,
    /// Replace the limit that holders or waiters stated by the caller's. A limit that an operator
    /// pinned stays in force.
    Set,
    /// Refuse the request and tell both numbers, even if an operator pinned the stored limit.
    Exact,
}

/// Whether a request joins the queue if permits cannot be had at once.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Enqueue {
    /// Answer `Busy`.
    No,
    /// Wait in line, unless this many tickets wait already.
    Yes {
        /// The most waiters that the caller accepts in the queue; `None` for any number.
        max_waiting: Option<u32>,
    },
}

/// A renewal of one lease.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Renew {
    /// The lease to renew.
    pub lease: LeaseId,
    /// The lease's length from now on. With 0 it is the ttl with which the tickets were acquired,
    /// the longest of them, and an end that is later stays. That is for [`Whom::Tickets`].
    pub ttl: Micros,
    /// As in [`Acquire::margin`]. With a ttl of 0 the ledger uses the default of the ttl in force.
    pub margin: Micros,
    /// The tickets under the lease.
    pub whom: Whom,
}

/// The tickets that a renewal is for.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Whom {
    /// All tickets under the lease, holders and waiters alike, if they are those that the sender
    /// believes to be there.
    All {
        /// The number of tickets.
        members: u32,
        /// The sum of their [`Ticket::digest`]s, modulo 2^48.
        digest: u64,
    },
    /// These held tickets of the sender's, under whatever lease they stand. Each moves under this
    /// lease. A ticket that changed hands is [over](crate::Cause::Attached) for the sender. A
    /// sender without an inbox renews tickets that have no owner, and leaves those of other clients
    /// alone, since only their clients renew them. Tickets that wait are left alone, too.
    Tickets(Vec<Ticket>),
}

/// A change of the settings stored with a name.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Configure {
    /// Pins the limit: it is in force, whatever callers state, until it is unset.
    Limit(Limit),
    /// Pins the limit at the number of these names, of which there must be at least one, and gives
    /// them to the slots in order. While anybody holds or waits, a name keeps its slot: then names
    /// may only be added at the end.
    Slots(SlotNames),
    /// Unsets a pinned limit, and the names of slots with it, at once. The limit that holders and
    /// waiters stated is in force again.
    Unpin,
    /// Admits nobody until resumed. Holders go on holding. The reason is for people to read.
    Pause(String),
    /// Admits waiters again.
    Resume,
}

impl Ticket {
    /// Returns the ticket's share of the digest in [`Whom::All`]. Digests of numbers in a row must
    /// have different sums, too, so the function is not linear in the number. Each step is exact in
    /// Lua's numbers.
    #[must_use]
    pub const fn digest(self) -> u64 {
        // The low bits of the series, because the series of one session differ there.
        let series = (self.0 >> 32) as u64 & DIGEST_WORD;
        let mixed = (self.number() as u64 * 69_069 + series) & DIGEST_WORD;
        mixed * ((mixed * mixed) & DIGEST_WORD)
    }
}

/// The factors of a digest are below this.
const DIGEST_WORD: u64 = (1 << 24) - 1;
/// Sums of digests wrap at 48 bits, because Lua's numbers are exact to 53.
pub(crate) const DIGEST_MASK: u64 = (1 << 48) - 1;
