//! What passes between the session, its driver and the program: wants, calls, failures and events.

use alloc::sync::Arc;

use crate::{
    about::HandOverAsk,
    count::{Permits, Priority},
    id::{Fence, Ticket},
    kind::Kind,
    reply::{Busy, Cause, Reply},
    request::{Batch, Enqueue, LimitRule},
    slot_names::SlotNames,
    slots::Slots,
    time::Micros,
};

/// A program's want for permits.
#[derive(Clone, Debug)]
pub struct Want {
    /// How many.
    pub permits: Permits,
    /// Which lock it takes the name for.
    pub kind: Kind,
    /// The names of slots that must be among those granted.
    pub wishes: SlotNames,
    /// The limit that the program states.
    pub limit: Option<LimitRule>,
    /// What to do if the permits cannot be had at once.
    pub enqueue: Enqueue,
    /// Rank among waiters.
    pub priority: Priority,
    /// How long the lease lasts without renewal. Permits of the same ttl share a lease.
    pub ttl: Micros,
    /// When to stop waiting.
    pub deadline: Option<Micros>,
    /// The program's description of itself, encoded.
    pub about: Arc<str>,
}

impl Want {
    /// A want for one permit of a semaphore, without anything else.
    pub(super) fn plain(ttl: Micros) -> Self {
        Self {
            permits: Permits::ONE,
            kind: Kind::Semaphore,
            wishes: SlotNames::none(),
            limit: None,
            enqueue: Enqueue::No,
            priority: Priority::default(),
            ttl,
            deadline: None,
            about: Arc::from(""),
        }
    }
}

/// The number of a call.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct CallId(pub u64);

/// The number of a one-off request, sent with [`Session::one_off`](super::Session::one_off).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct OneOffId(pub u64);

/// A call to make.
#[derive(Clone, Debug)]
pub struct Call {
    /// The call's id, which comes back with its result.
    pub id: CallId,
    /// For the store.
    pub batch: Batch,
    /// A renewal at this name should have been answered this long after it was sent, and was not.
    /// The connection may be dead. A store that has several connections, or can open a new one,
    /// should not trust one that was silent for so long.
    pub overdue: Option<Micros>,
}

/// How a call failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CallFailure {
    /// Whether the batch may have been executed.
    pub maybe_executed: bool,
    /// Whether trying again later can help.
    pub is_passing: bool,
    /// Whether the store has no room. Then new requests fail at once. Held permits are still
    /// renewed, and releases are sent again until there is room.
    pub is_full: bool,
}

/// The events that the program is told.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Event {
    /// The ticket stands in line now.
    Queued {
        /// Which ticket.
        ticket: Ticket,
        /// How many requests stand in line, this one among them.
        waiting: u32,
    },
    /// From now on the request goes on under another ticket, because a later one had overtaken the
    /// first when the store heard of it. No further event is about the first ticket.
    Renumbered {
        /// The ticket that was.
        from: Ticket,
        /// The ticket that is.
        to: Ticket,
    },
    /// The permits are held.
    Acquired {
        /// Which ticket.
        ticket: Ticket,
        /// The number of the grant.
        fence: Fence,
        /// The slots.
        slots: Slots,
        /// Their names, in their order, where they have some.
        names: SlotNames,
        /// The limit in force.
        limit: u32,
        /// Until when to believe it; `None`: as long as the process lives.
        valid_until: Option<Micros>,
    },
    /// The permits are certain until a later moment than was said before, and are not in danger.
    Renewed {
        /// Which ticket.
        ticket: Ticket,
        /// Until when; `None`: as long as the process lives.
        valid_until: Option<Micros>,
    },
    /// The lease was not renewed and ends soon: time to stop.
    Danger {
        /// Which ticket.
        ticket: Ticket,
    },
    /// The permits are not held any more.
    Lost {
        /// Which ticket.
        ticket: Ticket,
        /// The cause of the loss.
        loss: Loss,
    },
    /// Somebody asks the holder to hand over. The holder decides; nothing ends by the ask.
    Asked {
        /// Which ticket.
        ticket: Ticket,
        /// The person who asks, and the reason.
        ask: HandOverAsk,
    },
    /// The request got nothing, and is over.
    Refused {
        /// Which ticket.
        ticket: Ticket,
        /// Why.
        refusal: AcquireRefusal,
    },
    /// A release was answered.
    Released {
        /// Which ticket.
        ticket: Ticket,
        /// Whether the permit was still held.
        was_held: bool,
        /// How many permits of it are left.
        left: u32,
        /// Which slots were given back; `None`: all, and this is the last event about the ticket.
        given: Option<Slots>,
    },
    /// The store did not answer a release or a detach, and will not any more. Nobody can say
    /// whether it has executed it.
    Unanswered {
        /// Which ticket.
        ticket: Ticket,
        /// Which slots were to go back; `None`: all, and this is the last event about the ticket.
        given: Option<Slots>,
    },
    /// A ticket was detached. It lasts this long if nobody renews it or attaches to it.
    Detached {
        /// Which ticket.
        ticket: Ticket,
        /// How long.
        valid_for: Option<Micros>,
    },
    /// The answer to a one-off request; `None` if the call failed.
    Answer {
        /// Which one-off request.
        one_off: OneOffId,
        /// The answer.
        reply: Option<Reply>,
    },
}

/// Why a request got no permits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AcquireRefusal {
    /// Others hold the permits, too many requests wait, or nobody is admitted at the moment.
    Busy(Busy),
    /// The deadline came first, and others held the permits as far as the store was heard from.
    TimedOut,
    /// The deadline came first, and the store did not say by then how the request stands.
    Silence,
    /// The name is in use as another kind of lock.
    OtherKind {
        /// The stored kind.
        stored: Kind,
        /// The kind that the caller states.
        stated: Kind,
    },
    /// Another limit is stored.
    OtherLimit {
        /// The stored one.
        stored: u32,
        /// The caller's.
        stated: u32,
        /// Whether an operator pinned the stored one. If not, those who hold or wait stated it.
        is_pinned: bool,
    },
    /// The request is for more permits than exist.
    TooMany {
        /// Asked for.
        permits: u32,
        /// The limit.
        limit: u32,
    },
    /// A slot was wished for by a name that no slot has.
    NoSuchSlot {
        /// The names there are; none: the slots have no names.
        there: SlotNames,
    },
    /// The ticket came to an end while it waited.
    Ended(Cause),
    /// There is no such ticket (to attach to).
    Unknown,
    /// The store was silent for longer than the session's patience, or refuses the request.
    Store,
}

/// How a held ticket was lost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Loss {
    /// The store ended it.
    Ended(Cause),
    /// The store does not know the ticket, because it lost its memory.
    Forgotten,
    /// The store did not confirm it in time.
    Silence,
}
