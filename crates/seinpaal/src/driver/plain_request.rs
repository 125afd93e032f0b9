//! A request for one permit, as the tests of the driver send it.

use std::sync::Arc;

use seinpaal_proto::{Enqueue, Kind, Name, Permits, Priority, SlotNames};
use tokio::sync::oneshot;

use super::{AcquireRequest, GrantInHand, RequestFigure, WaitCallbacks, WantedPermits};
use crate::error::AcquireError;

pub(super) type PlainAnswer = oneshot::Receiver<Result<Arc<GrantInHand>, AcquireError>>;

/// Asks for one permit of a semaphore, and does not wait in line.
pub(super) fn plain_request(name: &str, number: u64) -> (Box<AcquireRequest>, PlainAnswer) {
    let wanted = WantedPermits {
        name: Name::new(name).expect("a name"),
        kind: Kind::Semaphore,
        permits: Permits::ONE,
        wishes: SlotNames::none(),
        limit: None,
        enqueue: Enqueue::No,
        priority: Priority::default(),
        ttl: None,
        deadline: None,
        about: "".into(),
        attach: None,
    };
    let (reply, answer) = oneshot::channel();
    let asked = RequestFigure::new(&wanted.name);
    (
        Box::new(AcquireRequest {
            number,
            wanted,
            callbacks: WaitCallbacks::default(),
            asked,
            span: tracing::Span::none(),
            reply,
        }),
        answer,
    )
}
