//! The answers of a store, and its news.

use alloc::vec::Vec;

use crate::{
    about::HandOverAsk,
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
    /// Work is left over: send an empty batch soon.
    pub backlog: bool,
    /// Set when the head of the queue is the sender's: look again after this long at the latest.
    pub look_in: Option<Micros>,
}

/// One answer.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Reply {
    /// The permits are held.
    Granted(Grant),
    /// The ticket is in the queue.
    Queued {
        /// Which ticket.
        ticket: Ticket,
        /// How many wait, this one among them.
        waiting: u32,
        /// The limit in force.
        limit: u32,
    },
    /// Not to be had now, and the caller did not want to wait. Nothing was written but a limit that
    /// the caller stated first or wanted to be set.
    Busy {
        /// Which ticket.
        ticket: Ticket,
        /// Why.
        why: Busy,
        /// The limit in force.
        limit: u32,
        /// Permits held.
        held: u32,
        /// Tickets in the queue.
        waiting: u32,
    },
    /// The name is another lock than the caller takes it for. Nothing was written.
    OtherKind {
        /// Which ticket; `None` for what has none.
        ticket: Option<Ticket>,
        /// The stored kind.
        stored: Kind,
        /// The kind that the caller states.
        stated: Kind,
    },
    /// Another limit is stored than the caller stated. Nothing was written.
    OtherLimit {
        /// Which ticket.
        ticket: Ticket,
        /// The stored one.
        stored: u32,
        /// The caller's.
        stated: u32,
        /// Whether an operator pinned the stored one. If not, those who hold or wait stated it.
        is_pinned: bool,
    },
    /// More permits were asked for than exist. Nothing was written.
    TooMany {
        /// Which ticket.
        ticket: Ticket,
        /// How many were asked for.
        permits: u32,
        /// How many exist.
        limit: u32,
    },
    /// A slot was wished for by a name that no slot has. Nothing was written.
    NoSuchSlot {
        /// Which ticket.
        ticket: Ticket,
        /// The names there are; none: the slots have no names.
        there: SlotNames,
    },
    /// The request arrived after its deadline. Nothing was written; see [`Replies::now`].
    TooLate {
        /// Which ticket.
        ticket: Ticket,
    },
    /// The ticket is over, and this is why.
    Ended {
        /// Which ticket.
        ticket: Ticket,
        /// Why.
        cause: Cause,
    },
    /// No such ticket here (or no longer remembered), or one that waits where only a holder will
    /// do. Nothing was written.
    Unknown {
        /// Which ticket.
        ticket: Ticket,
    },
    /// The lease was extended.
    Renewed {
        /// How long it is valid from now; `None`: for as long as the holder's process lives.
        valid_for: Option<Micros>,
    },
    /// Other tickets stand under the lease than the sender believes. Nothing was written: renew by
    /// ticket.
    Differs,
    /// There is no such lease. Nothing was written: renew by ticket.
    Gone,
    /// A renewal by ticket: what became of each, in order.
    Tickets {
        /// As in `Renewed`, for those that are held: the least of what they have.
        valid_for: Option<Micros>,
        /// One answer a ticket.
        tickets: Vec<TicketReply>,
    },
    /// Given back; this many permits of the ticket are still held.
    Released {
        /// Which ticket.
        ticket: Ticket,
        /// Permits left.
        left: u32,
    },
    /// The ticket holds nothing and waits for nothing, and will be refused.
    Cancelled {
        /// Which ticket.
        ticket: Ticket,
    },
    /// The lease or the place in the queue is over, and its owner was told.
    Evicted {
        /// Which ticket.
        ticket: Ticket,
    },
    /// The holder is told, by its next renewal at the latest.
    Asked {
        /// Which ticket.
        ticket: Ticket,
    },
    /// The limit now in force.
    Configured {
        /// The limit.
        limit: u32,
    },
    /// The slots would have got other names, or none, and somebody holds or waits. Nothing was
    /// written.
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
    /// As many slots as permits.
    pub slots: Slots,
    /// The names of these slots, in their order; none where they have none.
    pub names: SlotNames,
    /// The limit in force at the time.
    pub limit: u32,
    /// How long the lease is valid from now; `None`: for as long as the holder's process lives.
    pub valid_for: Option<Micros>,
}

/// The answer of a renewal by ticket about one of its tickets.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum TicketReply {
    /// Held, and renewed if it is the sender's or nobody's.
    Held {
        /// The number of its grant.
        fence: Fence,
        /// The slots.
        slots: Slots,
        /// Their names, in their order, where they have some.
        names: SlotNames,
        /// The asks since the grant, the oldest first. Nearly always there are none.
        asks: Vec<HandOverAsk>,
    },
    /// Still in the queue; nothing was done.
    Waiting,
    /// Over.
    Ended(Cause),
    /// Not known here.
    Unknown,
}

/// Why permits cannot be had now.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Busy {
    /// They are held by others, or others came first.
    Full,
    /// As many wait already as the caller allowed.
    TooManyWaiting,
    /// The name is paused.
    Paused,
    /// The store may have forgotten leases, and admits nobody until they have ended.
    Guarded,
}

/// Why a ticket is over.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
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
    /// To whom.
    pub inbox: Inbox,
    /// About which name.
    pub name: Name,
    /// About which ticket.
    pub ticket: Ticket,
    /// The event.
    pub what: What,
}

/// The event that a wakeup tells. The names of slots are not in it: a client that hears of its
/// grant asks, and the answer has them.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
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
    /// Somebody asks the holder to hand over. A renewal by ticket says who, and why.
    Asked,
}
