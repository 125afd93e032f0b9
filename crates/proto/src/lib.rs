//! The two pure state machines of Seinpaal.
//!
//! The **ledger** decides who holds and who waits at one name: state, the store's clock and a batch
//! of requests go in; state, replies and wakeups come out. The **session** is one client: its
//! requests, its permits, its renewals, and the moments at which it must report a loss. Neither
//! waits, reads a clock or draws a random number. The crate is `no_std` and has no dependencies, so
//! it has no means to.
//!
//! ```text
//!   session ── Batch of Requests ──▶ store: ledger(state, now) ──▶ Replies
//!      ▲                                   │
//!      └────────────── Wakeup ◀────────────┘   (a hint; it may be lost)
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod about;
mod contradictions;
mod count;
mod fingerprint;
mod head;
mod hold_times;
mod id;
mod kind;
mod kinds;
mod ledger;
mod memory;
mod name;
#[doc(hidden)]
pub mod queue;
mod recent_holds;
mod reply;
mod request;
pub mod session;
mod slot_names;
mod slots;
mod snapshot;
mod state;
pub mod time;
pub mod why;

pub use about::{About, MAX_ABOUT_BYTES, RenewalPromise};
pub use count::{BadCount, Limit, MAX_LIMIT, MOST_READERS, Permits, Priority};
pub use fingerprint::Lens;
pub use head::{Field, ReadHead};
pub use hold_times::{EndedHold, HoldLengths, HoldSeen, HoldTimes};
pub use id::{Fence, Inbox, LeaseId, Series, Ticket, TicketSource};
pub use kind::Kind;
pub use ledger::{Contact, Contacts, Outcome, execute};
pub use memory::MemoryState;
pub use name::{BadName, MAX_NAME_BYTES, Name};
pub use recent_holds::RecentHolds;
pub use reply::{Busy, Cause, Grant, Replies, Reply, TicketReply, Wakeup, What};
pub use request::{
    Acquire, Attach, Batch, Configure, Enqueue, LimitRule, OnMismatch, Renew, Request, Whom,
};
pub use slot_names::{BadSlotNames, SlotNames};
pub use slots::Slots;
pub use snapshot::{HolderRow, Snapshot, WaiterRow};
pub use state::{Entry, Head, Lease, Memory, Standing, State};
