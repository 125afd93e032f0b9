//! At most N at once, everywhere, first come first served, and you are told when you have lost your
//! place.
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
//! Within one process tokio's semaphore is cheaper. This crate cannot make an effect happen exactly
//! once, and no lock service can stop a process that is paused: give the [fence](Permit::fence) to
//! the resource.
//!
//! # One connection
//! Connect once in a process, and not for each request. A [`Seinpaal`] has a thread, a socket or
//! two, and one schedule for all renewals, and it is cheap to clone. [`Seinpaal::statistics`] has
//! counts of its work.
//!
//! # How long a permit lasts
//! A permit is renewed at an eighth of its ttl (30 s by default) for as long as it is kept. A permit
//! that was waited for is handed over with at least two thirds of its ttl certain. So a store that
//! falls silent at that moment does no more harm than at any other time. Without renewal a permit
//! is first in [danger](PermitState::Danger), then [lost](PermitState::Lost), and only then free
//! for others.
//!
//! # To end
//! A permit that is dropped goes back in the background, and [`Permit::release`] also reports the
//! result. [`Seinpaal::close`] ends everything: waiting requests fail with `Closed` at once, and
//! held permits go back. Dropping the last clone and the last permit has the same effect, without a
//! report. That drop does not wait, but its thread waits up to a second when it ends. If a program
//! is killed, its permits stay held until their leases end. On one machine (memory, embedded) they
//! are free at once.
//!
//! # After a fork
//! The connection still belongs to the parent. In the child every request on it fails with an error
//! that says so, drops do nothing, and the parent's leases go on without the child. A permit that
//! the child inherited still claims to be held for as long as it was certain at the fork, and the
//! child must not rely on that. Connect again in the child. With the embedded store and ZooKeeper,
//! do so only after `exec`: SQLite's descriptors and the event loop of ZooKeeper's client do not
//! survive a fork.
//!
//! # What is logged
//! Events are logged with [`tracing`](https://docs.rs/tracing), under the target `seinpaal` and its
//! modules. They never contain a payload, a value or a password. An event about a permit has the
//! fields `name` and `ticket` (hexadecimal, as everywhere), and an event about an item has `queue`
//! and `item`. `queued`, `acquired` and `refused` are logged inside the span in which the request
//! was made; other events come from the connection, and are in no span of the program.
//!
//! | level | what |
//! |---|---|
//! | warn | `lost`, `danger`, `not known to be released`, a pop that `failed`, a call that the store refused, `the store does not answer` once in an outage and `the store answers again` with its length, a name that is damaged |
//! | debug | each call that the store did not answer, `queued`, `renumbered`, `acquired`, `refused`, `released`, `detached`, `delivered` (with its size in bytes), `giving back`, `finished`, pops that `drained` or `timed out`, connections that fail |
//! | trace | `renewed`, `asked` |
//!
//! # To test one's own code
//! [`Seinpaal::in_memory`] gives each test a store of its own. [`Seinpaal::in_memory_here`] uses
//! the clock of the test's tokio runtime, so that with `start_paused` an hour passes at once, and
//! [`Seinpaal::in_memory_with_silence`] can also fall silent.
//!
#![doc = include_str!("features.md")]
#![doc = include_str!("metrics.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(unix))]
compile_error!(
    "the crate seinpaal needs a Unix system: its stores use sockets and clocks of one. On Windows use WSL"
);
#[cfg(all(
    feature = "embedded",
    not(any(target_os = "linux", all(target_vendor = "apple", seinpaal_untried)))
))]
compile_error!(
    "the feature \"embedded\" of the crate seinpaal needs Linux, by which it tells a dead process, a reboot and a \
     network file system. Leave the feature out: the other stores need any Unix"
);

mod acquire;
mod all;
pub mod blocking;
mod driver;
mod error;
mod hold_times;
mod inspect;
mod mutex;
mod permit;
mod permit_state;
mod queue;
mod request;
mod run;
mod rwlock;
mod schedule;
mod seinpaal;
mod semaphore;
pub mod store;

pub use acquire::{Acquire, Attach, TryAcquire};
pub use all::{AcquireAll, AcquireAllError, PermitSet, TryAcquireAll};
pub use driver::{ConnectionStatistics, Outage};
pub use error::{AcquireError, AdminError, BadSetting, ConnectError, Ended, ReleaseError};
pub use hold_times::{EndedHold, HoldTimes};
pub use inspect::{Holder, Snapshot, Waiter};
pub use mutex::Mutex;
pub use permit::{Detached, Permit, Release};
pub use permit_state::{Lost, PermitState};
#[cfg(feature = "serde")]
pub use queue::BadJson;
pub use queue::{
    BackOff, BadItemCursor, Counts, Failed, FinishError, GiveBack, GroupCount, InWork, Item,
    ItemCursor, ItemPage, ListedItem, ListedState, Pop, PopError, PopMany, Push, PushAll,
    PushError, PushRequest, Pushed, Queue, QueueError, QueueSnapshot, Spread, TryPop, WorkError,
    Worker,
};
pub use run::RunError;
pub use rwlock::RwLock;
pub use schedule::Schedule;
pub use seinpaal::{Builder, Seinpaal};
pub use seinpaal_proto::queue::{
    BadItemState, DeliveryHistory, Ending, FailureReason, ItemId, ItemState, MAX_DELIVERIES,
    MAX_PAYLOAD_BYTES, PastDelivery,
};
#[doc(inline)]
pub use seinpaal_proto::why;
pub use seinpaal_proto::{
    About, BadCount, BadName, Fence, Kind, MAX_LIMIT, MOST_READERS, Name, OnMismatch, Permits,
    SlotNames, Slots, Ticket,
};
pub use seinpaal_store::{
    Advice, BadGroup, Certainty, CommandGroup, Contradiction, Diagnosis, Examination, Fact,
    GuardedError, GuardedWrite, StoreError, StoreErrorKind, Value,
};
use seinpaal_store::{boottime, guarded, room};
pub use semaphore::Semaphore;

/// The shortest ttl that can be asked for: 100 ms.
pub const MIN_TTL: std::time::Duration =
    std::time::Duration::from_micros(seinpaal_proto::time::MIN_TTL);
/// The longest ttl that can be asked for: 24 h.
pub const MAX_TTL: std::time::Duration =
    std::time::Duration::from_micros(seinpaal_proto::time::MAX_TTL);

/// The README's code, tested.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The service guide's code, tested.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/service.md")]
struct ServiceGuide;

/// The code of the guide's page about the library, tested.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/library.md")]
struct LibraryGuide;

/// The code of the guide's page about queues, tested.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/queues.md")]
struct QueueGuide;

/// The code of the guide's page for users of other libraries, tested.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/coming-from.md")]
struct ComingFrom;
