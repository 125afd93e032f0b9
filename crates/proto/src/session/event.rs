//! The messages between the session, its driver and the program: wants, calls, failures and
//! events.

use alloc::sync::Arc;

use crate::{
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
    /// How many permits the program wants.
    pub permits: Permits,
    /// The kind of lock that the program takes the name for.
    pub kind: Kind,
    /// The names of slots that must be among those granted.
    pub wishes: SlotNames,
    /// The limit that the program states.
    pub limit: Option<LimitRule>,
    /// Whether to join the queue if the permits cannot be had at once.
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
    /// Makes a want for one permit of a semaphore, without any conditions.
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
    /// The requests for the store.
    pub batch: Batch,
    /// Set if a renewal at this name should have been answered by now: the time after which it
    /// should have been. The connection may be dead. A store that has several connections, or can
    /// open a new one, should not trust one that was silent for so long.
    pub overdue: Option<Micros>,
}

/// The way in which a call failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CallFailure {
    /// Whether the batch may have been executed.
    pub maybe_executed: bool,
    /// Whether another try later can help.
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
        /// The ticket.
        ticket: Ticket,
        /// How many requests stand in line, this one among them.
        waiting: u32,
    },
    /// The ticket still waits. Of tickets that share a place in line, one is told.
    Waits {
        /// The ticket.
        ticket: Ticket,
        /// Its position in the queue, from 1.
        position: u32,
    },
    /// The request goes on under another ticket, because a later ticket had overtaken the first one
    /// when the store heard of it. No further event is about the first ticket.
    Renumbered {
        /// The former ticket.
        from: Ticket,
        /// The new ticket.
        to: Ticket,
    },
    /// The permits are held.
    Acquired {
        /// The ticket.
        ticket: Ticket,
        /// The number of the grant.
        fence: Fence,
        /// The slots.
        slots: Slots,
        /// The names of the slots, in their order; none if the slots have no names.
        names: SlotNames,
        /// The limit in force.
        limit: u32,
        /// The end of the certain time; `None`: as long as the process lives.
        valid_until: Option<Micros>,
    },
    /// The permits are certain until a later moment than before, and are not in danger.
    Renewed {
        /// The ticket.
        ticket: Ticket,
        /// The end of the certain time; `None`: as long as the process lives.
        valid_until: Option<Micros>,
    },
    /// The lease was not renewed and ends soon, so the holder should stop.
    Danger {
        /// The ticket.
        ticket: Ticket,
    },
    /// The permits are not held any more.
    Lost {
        /// The ticket.
        ticket: Ticket,
        /// The cause of the loss.
        loss: Loss,
    },
    /// The request got no permits, and is over.
    Refused {
        /// The ticket.
        ticket: Ticket,
        /// The reason.
        refusal: AcquireRefusal,
    },
    /// A release was answered.
    Released {
        /// The ticket.
        ticket: Ticket,
        /// Whether the permit was still held.
        was_held: bool,
        /// How many permits of it are left.
        left: u32,
        /// The slots that were given back; `None`: all, and this is the last event about the
        /// ticket.
        given: Option<Slots>,
    },
    /// The store did not answer a release or a detach, and the session has given up asking. Nobody
    /// can say whether the store has executed the request.
    Unanswered {
        /// The ticket.
        ticket: Ticket,
        /// The slots that were to go back; `None`: all, and this is the last event about the
        /// ticket.
        given: Option<Slots>,
    },
    /// A ticket was detached. It ends after `valid_for` if nobody renews it or attaches to it.
    Detached {
        /// The ticket.
        ticket: Ticket,
        /// How long the lease lasts.
        valid_for: Option<Micros>,
    },
    /// The answer to a one-off request; `None` if the call failed.
    Answer {
        /// The question.
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
    /// The deadline came first. As far as the store was heard from, others held the permits.
    TimedOut,
    /// The deadline came first, and by then the store had not said whether the request waits or
    /// holds.
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
        /// The stored limit.
        stored: u32,
        /// The caller's limit.
        stated: u32,
        /// Whether an operator pinned the stored limit. If not, holders or waiters stated it.
        is_pinned: bool,
    },
    /// The request is for more permits than exist.
    TooMany {
        /// The permits that the request asked for.
        permits: u32,
        /// The limit.
        limit: u32,
    },
    /// The request wants for a slot by a name that no slot has.
    NoSuchSlot {
        /// The names of the slots; none if the slots have no names.
        there: SlotNames,
    },
    /// The ticket came to an end while it waited.
    Ended(Cause),
    /// The store knows no such ticket to attach to.
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
    /// The store did not confirm the ticket in time.
    Silence,
}
