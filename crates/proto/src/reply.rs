//! The answers of a store, and its news.

use alloc::vec::Vec;

use crate::{
    id::{Fence, Inbox, Ticket},
    kind::Kind,
    name::Name,
    slot_names::SlotNames,
    slots::Slots,
    snapshot::Snapshot,
    time::Micros,
};

/// The answers to one [`Batch`](crate::Batch).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Replies {
    /// The store's clock when it executed the batch.
    pub now: Micros,
    /// One answer a request, in order.
    pub replies: Vec<Reply>,
    /// Whether work is left over. If so, the sender sends an empty batch soon.
    pub backlog: bool,
    /// Set when the first waiter of the queue is the sender's: the sender looks again after this
    /// long at the latest.
    pub look_in: Option<Micros>,
}

/// One answer.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Reply {
    /// The permits are held.
    Granted(Grant),
    /// The ticket is in the queue.
    Queued {
        /// The ticket.
        ticket: Ticket,
        /// How many waiters the queue has, this one among them.
        waiting: u32,
        /// The limit in force.
        limit: u32,
    },
    /// The permits cannot be had now, and the caller did not want to wait. Nothing was written,
    /// except a limit that the caller was first to state or asked to set.
    Busy {
        /// The ticket.
        ticket: Ticket,
        /// The reason.
        why: Busy,
        /// The limit in force.
        limit: u32,
        /// Permits held.
        held: u32,
        /// Tickets in the queue.
        waiting: u32,
    },
    /// The name is in use as another kind of lock. Nothing was written.
    OtherKind {
        /// The ticket of the request; `None` if the request has none.
        ticket: Option<Ticket>,
        /// The stored kind.
        stored: Kind,
        /// The kind that the caller states.
        stated: Kind,
    },
    /// The stored limit differs from the one that the caller stated. Nothing was written.
    OtherLimit {
        /// The ticket.
        ticket: Ticket,
        /// The stored limit.
        stored: u32,
        /// The caller's limit.
        stated: u32,
        /// Whether an operator pinned the stored limit. If not, holders or waiters stated it.
        is_pinned: bool,
    },
    /// The caller asked for more permits than exist. Nothing was written.
    TooMany {
        /// The ticket.
        ticket: Ticket,
        /// The number of permits that the caller asked for.
        permits: u32,
        /// The number of permits that exist.
        limit: u32,
    },
    /// The caller wished for a slot by a name that no slot has. Nothing was written.
    NoSuchSlot {
        /// The ticket.
        ticket: Ticket,
        /// The names of the slots; none if the slots have no names.
        there: SlotNames,
    },
    /// The request arrived after its deadline. Nothing was written; see [`Replies::now`].
    TooLate {
        /// The ticket.
        ticket: Ticket,
    },
    /// The ticket is over.
    Ended {
        /// The ticket.
        ticket: Ticket,
        /// The reason.
        cause: Cause,
    },
    /// The store knows no such ticket, or no longer. Or the ticket waits, and the request needs one
    /// that holds. Nothing was written.
    Unknown {
        /// The ticket.
        ticket: Ticket,
    },
    /// The lease was extended.
    Renewed {
        /// How long it is valid from now; `None`: for as long as the holder's process lives.
        valid_for: Option<Micros>,
    },
    /// The places under the lease were extended.
    Waits {
        /// As in `Renewed`.
        valid_for: Option<Micros>,
        /// The position in the queue, from 1, of the waiter with the lowest ticket under the lease.
        position: u32,
    },
    /// The tickets under the lease are not those that the sender believes to be there. Nothing was
    /// written: renew by ticket.
    Differs,
    /// There is no such lease. Nothing was written: renew by ticket.
    Gone,
    /// The result of a renewal by ticket, ticket by ticket.
    Tickets {
        /// How long the leases of the held tickets are valid: the shortest of these times. As in
        /// `Renewed`.
        valid_for: Option<Micros>,
        /// One answer a ticket.
        tickets: Vec<TicketReply>,
    },
    /// The permits were given back.
    Released {
        /// The ticket.
        ticket: Ticket,
        /// The number of permits of the ticket that are still held.
        left: u32,
    },
    /// The ticket neither holds nor waits, and the store will refuse it.
    Cancelled {
        /// The ticket.
        ticket: Ticket,
    },
    /// The lease or the place in the queue was ended, and its owner was told.
    Evicted {
        /// The ticket.
        ticket: Ticket,
    },
    /// The limit now in force.
    Configured {
        /// The limit.
        limit: u32,
    },
    /// The change would give other names, or none, to slots while somebody holds or waits. Nothing
    /// was written.
    SlotsInUse {
        /// The names in force.
        names: SlotNames,
    },
    /// Everything about the name.
    Snapshot(Snapshot),
}

/// The result of a grant.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Grant {
    /// The ticket that was granted.
    pub ticket: Ticket,
    /// The number of this grant.
    pub fence: Fence,
    /// The slots, as many as permits.
    pub slots: Slots,
    /// The names of these slots, in their order; none if the slots have no names.
    pub names: SlotNames,
    /// The limit in force at the time.
    pub limit: u32,
    /// How long the lease is valid from now; `None`: for as long as the holder's process lives.
    pub valid_for: Option<Micros>,
}

/// The answer of a renewal by ticket about one of its tickets.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum TicketReply {
    /// The ticket holds. It was renewed, unless another client keeps it.
    Held {
        /// The number of its grant.
        fence: Fence,
        /// The slots.
        slots: Slots,
        /// The names of the slots, in their order; none if the slots have no names.
        names: SlotNames,
    },
    /// The ticket still waits. Nothing was done.
    Waiting,
    /// The ticket is over.
    Ended(Cause),
    /// The store does not know the ticket.
    Unknown,
}

/// Why permits cannot be had now.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Busy {
    /// Others hold the permits, or came first.
    Full,
    /// As many tickets wait already as the caller allowed.
    TooManyWaiting,
    /// The name is paused.
    Paused,
    /// The store may have forgotten leases, and admits nobody until they have ended.
    Guarded,
}

/// Why a ticket is over.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Cause {
    /// The ticket was released.
    Released,
    /// The ticket was cancelled.
    Cancelled,
    /// The ticket's lease ran out, or its holder's process is gone.
    Expired,
    /// Somebody evicted it.
    Evicted,
    /// The limit was lowered below what the ticket asked for while it waited.
    TooMany,
    /// The ticket changed hands: another client attached to it, or it was left without an owner.
    Attached,
}

/// A hint to one session. It may be lost, late or repeated; the ledger is the truth.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Wakeup {
    /// The session that the hint is for.
    pub inbox: Inbox,
    /// The name that it is about.
    pub name: Name,
    /// The ticket that it is about.
    pub ticket: Ticket,
    /// The event.
    pub what: What,
}

/// The event that a wakeup tells. It has no names of slots: a client that hears of its grant asks
/// the store, and the answer has them.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum What {
    /// The waiter holds its permits now.
    Granted {
        /// The number of the grant.
        fence: Fence,
        /// The slots.
        slots: Slots,
        /// The limit in force.
        limit: u32,
    },
    /// The ticket is over.
    Ended(Cause),
}
