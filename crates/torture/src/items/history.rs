//! The events of items, one on each line.

use serde::{Deserialize, Serialize};

/// The kinds of events. `n` is the number in the payload, and `id` the number that the store gave
/// to the item.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
#[allow(missing_docs)] // the docs of the type and of each variant describe the fields
pub enum ItemEvent {
    /// The store has answered that it has the item.
    Pushed { n: u64, id: u64, priority: i8 },
    /// The store has not got the item. With `may_be`, it has not answered.
    NotPushed { n: u64, may_be: bool, why: String },
    /// The handler has the item.
    Delivered { n: u64, id: u64, fence: u64, attempt: u32 },
    /// The handler is about to acknowledge the item.
    Acknowledging { id: u64, fence: u64 },
    /// The store has answered the acknowledgement.
    Acknowledged { id: u64, fence: u64 },
    /// The delivery had ended before (`is_lost`), or the store did not answer.
    NotAcknowledged { id: u64, fence: u64, is_lost: bool },
    /// The worker is about to give the delivery back, whether a handler has seen it or not.
    GivingBack { id: u64, fence: u64 },
    /// A worker lives.
    Started,
    /// The rig is about to kill a worker's life. This line and that of `Hangs` are the same as in
    /// [`crate::history`], because both rigs write them.
    Killing { life: String },
    /// The rig begins to break the store.
    Broken { fault: String },
    /// The store is up again.
    Whole,
    /// The numbers of items and dead letters that are left in the queue at the end.
    Left { items: u32, dead: u32 },
    /// Something did not happen in time.
    Hangs { what_hangs: String },
}
