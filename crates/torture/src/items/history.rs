//! What can happen to items, one line an event.

use serde::{Deserialize, Serialize};

/// What can happen. Items are named by the number `n` that was pushed and by the `id` that the store gave.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
#[allow(missing_docs)] // what they have in common is said once, above and at each variant
pub enum ItemEvent {
    /// The store has answered that it has the item.
    Pushed { n: u64, id: u64, priority: i8 },
    /// It has not, or has not said (`may_be`).
    NotPushed { n: u64, may_be: bool, why: String },
    /// The handler has the item.
    Delivered { n: u64, id: u64, fence: u64, attempt: u32 },
    /// It is about to be acknowledged.
    Acknowledging { id: u64, fence: u64 },
    /// The store has answered that.
    Acknowledged { id: u64, fence: u64 },
    /// The delivery was over before (`is_lost`), or the store did not answer.
    NotAcknowledged { id: u64, fence: u64, is_lost: bool },
    /// A worker lives.
    Started,
    /// The rig is about to kill a worker's life. Written as the other rig writes it, as `Hangs` is.
    Killing { life: String },
    /// The rig begins to break the store.
    Broken { fault: String },
    /// The store is up again.
    Whole,
    /// What the queue still has at the end.
    Left { items: u32, dead: u32 },
    /// Something did not come about in time.
    Hangs { what_hangs: String },
}
