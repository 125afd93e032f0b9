//! What a session asks of a store.

use alloc::{string::String, vec::Vec};

use crate::{
    count::{Limit, Permits, Priority},
    id::{Inbox, LeaseId, Ticket},
    kind::Kind,
    name::Name,
    slots::Slots,
    time::Micros,
};

/// Requests of one session about one name, executed in order in one atomic step.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Batch {
    /// The name that all of them are about.
    pub name: Name,
    /// Where the sender listens. `None`: nowhere, it only looks now and then.
    pub inbox: Option<Inbox>,
    /// The highest fence that the sender has seen at this name, or 0: a store that lost its memory
    /// will not repeat one.
    pub fence_seen: u64,
    /// The requests, at most [`Batch::MOST`]; none at all means "settle what is due".
    pub requests: Vec<Request>,
}

impl Batch {
    /// The most requests in one batch, so that no call takes long.
    pub const MOST: usize = 64;
    /// The most tickets in one [`Renew`].
    pub const MOST_TICKETS: usize = 500;
}

/// One request. What it answers is said beside each; all are idempotent, by ticket where there is one.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Request {
    /// Take permits, join the queue, or learn how an earlier try went.
    /// Answers `Granted`, `Queued`, `Busy`, `OtherKind`, `OtherLimit`, `TooMany`, `TooLate` or `Ended`.
    Acquire(Acquire),
    /// Extend a lease. Answers `Renewed`, `Differs`, `Gone` or `Tickets`.
    Renew(Renew),
    /// Give back the permits of a ticket, or only these slots of it.
    /// Answers `Released`, `Ended` or `Unknown`.
    Release {
        /// Whose permits.
        ticket: Ticket,
        /// Which of its slots; `None` for all. Slots it does not hold are passed over.
        slots: Option<Slots>,
    },
    /// Give up a ticket whatever has become of it, and refuse it for the time of `remember` should
    /// it still arrive. Answers `Cancelled`.
    Cancel {
        /// Which ticket.
        ticket: Ticket,
        /// How long to refuse it.
        remember: Micros,
    },
    /// End somebody's lease or place in the queue. Answers `Evicted` or `Unknown`.
    Evict {
        /// Whose.
        ticket: Ticket,
    },
    /// Change what is stored with the name. Answers `Configured`, or `OtherKind` where the limit of a
    /// mutex or a readers-writer lock was to be changed.
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
    /// The id of this request. The same ticket again is the same request.
    pub ticket: Ticket,
    /// Which lock the caller takes the name for.
    pub kind: Kind,
    /// How many, all at once.
    pub permits: Permits,
    /// What the caller believes the limit to be; `None`: whatever is stored, else 1.
    pub limit: Option<LimitRule>,
    /// What to do when they cannot be had at once.
    pub enqueue: Enqueue,
    /// Rank among waiters.
    pub priority: Priority,
    /// The lease that the permits will stand under, made if it is not there.
    pub lease: LeaseId,
    /// That lease's length without renewal.
    pub ttl: Micros,
    /// By how much the ledger's clock may jump in one operation without hurting this caller:
    /// it stops believing in its lease that much earlier. [`UNBOUNDED`](crate::time::UNBOUNDED): by any amount.
    pub margin: Micros,
    /// The lease that the place in the queue stands under.
    pub waiter_lease: LeaseId,
    /// That lease's length without renewal.
    pub waiter_ttl: Micros,
    /// Refuse this request if the store's clock is past this. `None`: never.
    pub not_after: Option<Micros>,
    /// [`About::encode`](crate::About::encode)d, for people to read.
    pub about: String,
}

/// What a caller believes the limit to be.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct LimitRule {
    /// That limit.
    pub limit: Limit,
    /// What to do when another one is stored.
    pub on_mismatch: OnMismatch,
}

/// What to do when the stored limit is another than the caller's.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum OnMismatch {
    /// Refuse the request and tell both numbers.
    #[default]
    Refuse,
    /// Use the stored one.
    Adopt,
    /// Store the caller's.
    Set,
}

/// What to do when permits cannot be had at once.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Enqueue {
    /// Answer `Busy`.
    No,
    /// Wait in line, unless this many wait already.
    Yes {
        /// `None`: however many wait.
        max_waiting: Option<u32>,
    },
}

/// A renewal of one lease.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Renew {
    /// Which lease.
    pub lease: LeaseId,
    /// Its length from now on.
    pub ttl: Micros,
    /// As in [`Acquire::margin`].
    pub margin: Micros,
    /// What stands under it.
    pub whom: Whom,
}

/// What a renewal is for.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Whom {
    /// Everything under the lease, if that is what the sender believes it to be. Holders and waiters alike.
    All {
        /// How many tickets.
        members: u32,
        /// The sum of their [`Ticket::digest`]s, modulo 2^48.
        digest: u64,
    },
    /// These held tickets, wherever they stand: each moves under this lease. Also how a permit is
    /// handed to another client. Tickets that wait are left alone.
    Tickets(Vec<Ticket>),
}

/// A change of what is stored with a name.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Configure {
    /// The limit, which then stays when the name falls idle.
    Limit(Limit),
    /// Let the limit go when the name falls idle.
    Unpin,
    /// Admit nobody until resumed; who holds, holds. The reason is for people to read.
    Pause(String),
    /// Admit again.
    Resume,
}

impl Ticket {
    /// What [`Whom::All`] sums up: the low 48 bits.
    #[must_use]
    pub fn digest(self) -> u64 {
        self.0 as u64 & DIGEST_MASK
    }
}

/// Sums of digests wrap here: 48 bits, because Lua's numbers are exact to 53.
pub(crate) const DIGEST_MASK: u64 = (1 << 48) - 1;
