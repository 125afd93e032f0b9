//! At most N at once, everywhere, first come first served, and you are told when you have lost your place.
//!
//! ```
//! use std::time::Duration;
//! use seinpaal::Seinpaal;
//!
//! # futures_executor::block_on(async {
//! # async fn train(_slot: u32) {}
//! let seinpaal = Seinpaal::connect("memory:").await?; // or "file:", or "redis://localhost"
//! let gpus = seinpaal.semaphore("gpus").limit(4);
//!
//! let permit = gpus.acquire().timeout(Duration::from_secs(10)).await?;
//! permit.while_held(train(permit.slot())).await?; // dropped if the permit is lost
//! permit.release().await?; // or simply drop it
//! # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
//! ```
//!
//! # When not to use this
//! Within one process tokio's semaphore is cheaper. Nothing here makes an effect happen exactly once, and no lock
//! service can stop a process that is paused: give the [fence](Permit::fence) to the resource.
#![forbid(unsafe_code)]

mod acquire;
mod all;
pub mod blocking;
mod boottime;
mod driver;
mod error;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod guarded;
mod inspect;
mod mutex;
mod permit;
#[cfg(feature = "planted")]
#[doc(hidden)]
pub mod planted;
mod queue;
mod rwlock;
mod seinpaal;
mod semaphore;
pub mod store;
mod store_error;

pub use acquire::{Acquire, Attach, TryAcquire};
pub use all::{AcquireAll, AcquireAllError, PermitSet, TryAcquireAll};
pub use error::{AcquireError, AdminError, BadSetting, ConnectError, Ended, ReleaseError};
pub use guarded::{BadGroup, Group, GuardedError, GuardedWrite, Value};
pub use inspect::{Holder, Snapshot, Waiter};
pub use mutex::Mutex;
pub use permit::{Detached, Lost, Permit, PermitState};
pub use queue::{
    BackOff, Counts, DeadLetter, Failed, FinishError, GiveBack, GroupCount, InWork, Item, Pop,
    PopError, PopMany, Push, PushAll, PushError, PushRequest, Pushed, Queue, QueueError,
    QueueSnapshot, Spread, TryPop, WorkError, Worker,
};
pub use rwlock::RwLock;
pub use seinpaal::{Builder, Seinpaal};
pub use seinpaal_proto as proto;
pub use seinpaal_proto::queue::{Ending, ItemId, MAX_PAYLOAD_BYTES, Was};
pub use seinpaal_proto::{About, BadCount, BadName, Fence, Kind, Name, OnMismatch, Slots, Ticket};
pub use semaphore::Semaphore;

/// The README's code, tested.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
