//! Queues: the ledger that decides which item is next and which worker gets it, and the ledger's
//! client.
//!
//! ```text
//!   push ─▶ delayed ─(due)─▶ ready ─(pop)─▶ in work ─(acknowledge)─▶ gone
//!                 ▲            ▲               │
//!                 └── later ───┴── at once ────┤ given back, failed, lease ended
//!                                              └─(no delivery left)─▶ dead
//! ```
//!
//! [`execute`] is the specification of every store, as [`crate::execute`] is for semaphores.
//! docs/decisions/queues.md says how a request takes effect once, how items are ordered and
//! how idle workers are called.

mod contradictions;
mod fingerprint;
mod item;
mod ledger;
mod line;
mod listing;
mod memory;
mod reply;
mod request;
mod row;
pub mod session;
mod sound;
mod state;

pub use fingerprint::View;
pub use item::{
    Delivery, DeliveryHistory, Ending, FailureReason, Item, ItemId, MAX_DELIVERIES,
    MAX_PAYLOAD_BYTES, MAX_REASON_BYTES, PastDelivery, Standing, Work,
};
pub use ledger::{AGING, CALL_WAIT, MOST_PAYLOAD, Outcome, PLACE_TTL, execute};
pub use line::BadReplyLine;
pub use listing::{BadItemPosition, BadItemState, ItemPosition, ItemState};
pub use memory::MemoryQueue;
pub use reply::{Popped, Replies, Reply, Snapshot, Wakeup, What};
pub use request::{
    Batch, Configure, Dedup, Due, How, MAX_WINDOW, Pop, Purge, Push, Renew, Request,
};
pub use row::{GroupRow, ItemRow, RowState, WorkRow};
pub use state::{Dedupped, Group, Head, Place, SessionRecord, State, WorkerCall};
