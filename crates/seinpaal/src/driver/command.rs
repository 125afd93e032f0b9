//! The commands that the API sends to the driver.

use std::{fmt, sync::Arc, time::Duration};

use seinpaal_proto::{
    Enqueue, Fence, Inbox, Kind, LimitRule, Name, Permits, Priority, Reply,
    Request as StoreRequest, SlotNames, Slots, Ticket, time::Micros,
};
use tokio::sync::oneshot;

use super::{GrantInHand, QueueCommand, RequestFigure};
use crate::{
    error::{AcquireError, ReleaseError},
    store::{BoxFuture, NewsSender, Store, StoreError},
};

/// Opens the store, on the driver's thread.
pub(crate) type OpenStore = Box<
    dyn FnOnce(Inbox, NewsSender) -> BoxFuture<'static, Result<Arc<dyn Store>, StoreError>> + Send,
>;

/// A task with the store, for the driver's runtime. The task itself passes its result on.
pub(crate) type StoreTask = Box<dyn FnOnce(Arc<dyn Store>) -> BoxFuture<'static, ()> + Send>;

/// The answer to a one-off request, or the reason why there is none.
pub(crate) type OneOffResult = Result<Reply, StoreError>;

/// How long a detached ticket lasts. `None` means without limit.
pub(crate) type DetachResult = Result<Option<Micros>, ReleaseError>;

/// The permits that an acquire asks for.
#[derive(Clone, Debug)]
pub(crate) struct WantedPermits {
    pub(crate) name: Name,
    pub(crate) kind: Kind,
    pub(crate) permits: Permits,
    /// The slots that must be among them.
    pub(crate) wishes: SlotNames,
    pub(crate) limit: Option<LimitRule>,
    pub(crate) enqueue: Enqueue,
    pub(crate) priority: Priority,
    pub(crate) ttl: Option<Micros>,
    /// When to stop waiting, on the connection's clock.
    pub(crate) deadline: Option<Micros>,
    pub(crate) about: Arc<str>,
    /// The ticket to attach to, instead of asking for new permits.
    pub(crate) attach: Option<Ticket>,
}

/// What a caller wants to be told while its request waits.
#[derive(Default)]
pub(crate) struct WaitCallbacks {
    /// Takes the number of requests that wait, once.
    pub(crate) on_queued: Option<Box<dyn FnOnce(u32) + Send>>,
    /// Takes the position of the request.
    pub(crate) on_position: Option<Arc<dyn Fn(u32) + Send + Sync>>,
}

impl fmt::Debug for WaitCallbacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("functions")
    }
}

/// One acquire of the API.
pub(crate) struct AcquireRequest {
    pub(crate) number: u64,
    pub(crate) wanted: WantedPermits,
    pub(crate) callbacks: WaitCallbacks,
    /// For metrics.
    pub(crate) asked: RequestFigure,
    /// The caller's span. What becomes of the request is logged inside it.
    pub(crate) span: tracing::Span,
    pub(crate) reply: oneshot::Sender<Result<Arc<GrantInHand>, AcquireError>>,
}

/// The receiver of the answer to a release.
pub(crate) type ReleaseReply = oneshot::Sender<Result<(), ReleaseError>>;

/// The slots that a caller gives back.
pub(crate) struct Giving {
    pub(crate) ticket: Ticket,
    pub(crate) fence: Fence,
    pub(crate) slots: Slots,
    /// How long the store may take to confirm the release.
    pub(crate) timeout: Duration,
    pub(crate) reply: Option<ReleaseReply>,
}

/// A command of the API. Large commands are in a box, but a release is not: very many releases wait
/// in the channel at once, and a box for each would cost more than the room.
pub(crate) enum DriverCommand {
    Acquire(Box<AcquireRequest>),
    /// Requests for different names that do not wait. They go in one step if the store has one for
    /// them.
    #[allow(clippy::vec_box, reason = "the driver keeps each of them in its box")]
    AcquireTogether(Vec<Box<AcquireRequest>>),
    /// Gives up the request whose future was dropped.
    Abandon {
        number: u64,
    },
    Release(Giving),
    Detach {
        ticket: Ticket,
        fence: Fence,
        reply: oneshot::Sender<DetachResult>,
    },
    OneOff {
        name: Name,
        request: Box<StoreRequest>,
        as_nobody: bool,
        timeout: Duration,
        reply: oneshot::Sender<OneOffResult>,
    },
    /// A command about a queue.
    Queue {
        name: Name,
        command: Box<QueueCommand>,
    },
    /// Work with the store that does not concern the session.
    StoreTask(StoreTask),
    Close {
        reply: ReleaseReply,
    },
}
