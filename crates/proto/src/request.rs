//! The requests of a session to a store.

use alloc::{string::String, vec::Vec};

use crate::{
    about::HandOverAsk,
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

/// One request. What it answers is said beside each; all are idempotent, by ticket where there is
/// one.
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
    /// Leave a permit of the sender's to itself: its lease is nobody's from now on and ends after
    /// `ttl`, unless somebody renews it by ticket or attaches. Answers `Renewed`, `Ended` or
    /// `Unknown`.
    Detach {
        /// Which ticket.
        ticket: Ticket,
        /// Which grant of it. If somebody has attached to the ticket since, also the sender itself,
        /// this request is late and changes nothing.
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
        /// Which of its slots; `None` for all. Slots it does not hold are passed over.
        slots: Option<Slots>,
    },
    /// Give up a ticket whatever has become of it, and refuse it for the time of `remember` should
    /// it still arrive. A permit that is another's by now stays. Answers `Cancelled`.
    Cancel {
        /// Which ticket.
        ticket: Ticket,
        /// How long to refuse it.
        remember: Micros,
        /// Give up only what an [`Attach`] with this lease was granted or may still be granted.
        attach: Option<LeaseId>,
    },
    /// End somebody's lease or place in the queue. Answers `Evicted` or `Unknown`.
    Evict {
        /// The ticket to end.
        ticket: Ticket,
    },
    /// Ask a holder to hand over, and say why. It ends nothing: the holder is told, and decides.
    /// Answers `Asked`, `Queued` for a ticket that waits, `Ended` or `Unknown`.
    AskHolder(AskHolder),
    /// Change what is stored with the name. Answers `Configured`, `OtherKind` where the limit of a
    /// mutex or a readers-writer lock was to be changed, or `SlotsInUse`.
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
    /// The limit that the caller states. `None` takes the stored limit, or stores 1 if there is
    /// none.
    pub limit: Option<LimitRule>,
    /// What to do if the permits cannot be had at once.
    pub enqueue: Enqueue,
    /// Rank among waiters.
    pub priority: Priority,
    /// The lease that the permits will stand under, made if it is not there.
    pub lease: LeaseId,
    /// That lease's length without renewal.
    pub ttl: Micros,
    /// By how much the ledger's clock may jump in one operation without hurting this caller: it
    /// stops believing in its lease that much earlier. [`UNBOUNDED`](crate::time::UNBOUNDED): by
    /// any amount.
    pub margin: Micros,
    /// The lease that the place in the queue stands under.
    pub waiter_lease: LeaseId,
    /// That lease's length without renewal.
    pub waiter_ttl: Micros,
    /// Refuse this request if the store's clock is past this. `None`: never.
    pub not_after: Option<Micros>,
    /// The names of slots that must be among those granted, no more than `permits`; none: any
    /// slots.
    pub wishes: SlotNames,
    /// [`About::encode`](crate::About::encode)d, for people to read.
    pub about: String,
}

/// A request to become the holder of a ticket that another client holds, or that was left to
/// itself. It is a grant of its own: with a fence of its own, and at the end of what was granted
/// before.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Attach {
    /// Which ticket.
    pub ticket: Ticket,
    /// The lease that the permits will stand under. It is also the id of this request: drawn for
    /// it, and used once. The same lease again is the same request.
    pub lease: LeaseId,
    /// That lease's length without renewal.
    pub ttl: Micros,
    /// As in [`Acquire::margin`].
    pub margin: Micros,
    /// Refuse this request if the store's clock is past this. `None`: never.
    pub not_after: Option<Micros>,
    /// The new holder's description of itself, [encoded](crate::About::encode).
    pub about: String,
}

/// A request that a holder hand over. The same ask again is the same request.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct AskHolder {
    /// The ticket whose holder is asked.
    pub ticket: Ticket,
    /// A lease that nobody else has. The ticket stands under it until its grant ends.
    pub lease: LeaseId,
    /// The person who asks, and the reason.
    pub ask: HandOverAsk,
}

/// The limit that a caller states.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct LimitRule {
    /// That limit.
    pub limit: Limit,
    /// What to do if another limit is stored.
    pub on_mismatch: OnMismatch,
}

/// What to do if the stored limit differs from the stated one.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum OnMismatch {
    /// Refuse the request and tell both numbers, where the other one is by those who hold or wait.
    /// One that an operator pinned is used.
    #[default]
    Refuse,
    /// Use the stored one.
    Adopt,
    /// State the caller's in place of what those who hold or wait stated. One that an operator
    /// pinned stays in force.
    Set,
    /// Refuse the request and tell both numbers, whoever the other one is by.
    Exact,
}

/// What to do if permits cannot be had at once.
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
    /// The length from now on.
    pub ttl: Micros,
    /// As in [`Acquire::margin`].
    pub margin: Micros,
    /// The tickets under the lease.
    pub whom: Whom,
}

/// The tickets that a renewal is for.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Whom {
    /// Everything under the lease, if that is what the sender believes it to be. Holders and
    /// waiters alike.
    All {
        /// How many tickets.
        members: u32,
        /// The sum of their [`Ticket::digest`]s, modulo 2^48.
        digest: u64,
    },
    /// These held tickets of the sender's, wherever they stand. Each moves under this lease, but
    /// one that was asked for stays under its own, which is renewed. One that changed hands is
    /// [over](crate::Cause::Attached) for the sender. A sender without an inbox renews what
    /// was left to itself. What a client keeps is left alone, since only that client renews it, and
    /// so are tickets that wait.
    Tickets(Vec<Ticket>),
}

/// A change of what is stored with a name.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Configure {
    /// Pins the limit: it is in force, whatever callers state, until it is unset.
    Limit(Limit),
    /// Pins the limit at the number of these names, of which there is at least one, and gives them
    /// to the slots in order. While anybody holds or waits, a name keeps its slot: then names may
    /// only be added at the end.
    Slots(SlotNames),
    /// Lets go of a pinned limit, and of names for slots, at once: what those who hold or wait
    /// stated is in force.
    Unpin,
    /// Admit nobody until resumed. Holders go on holding. The reason is for people to read.
    Pause(String),
    /// Admit again.
    Resume,
}

impl Ticket {
    /// What [`Whom::All`] sums up. Sums over numbers in a row must differ, too, so it is no linear
    /// function of the number; and each step is exact in Lua's numbers.
    #[must_use]
    pub const fn digest(self) -> u64 {
        // The low bits of the series, because the series of one session differ there.
        let series = (self.0 >> 32) as u64 & DIGEST_WORD;
        let mixed = (self.number() as u64 * 69_069 + series) & DIGEST_WORD;
        mixed * ((mixed * mixed) & DIGEST_WORD)
    }
}

/// The numbers that a digest is a product of are below this.
const DIGEST_WORD: u64 = (1 << 24) - 1;
/// Sums of digests wrap here: 48 bits, because Lua's numbers are exact to 53.
pub(crate) const DIGEST_MASK: u64 = (1 << 48) - 1;
