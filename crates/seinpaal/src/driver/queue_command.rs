//! The commands of the API about a queue, and the answers to them.

use std::sync::Arc;

use seinpaal_proto::{
    queue::{
        Delivery, How, Popped, Reply, Request,
        session::{DeliveryEnd, Until},
    },
    time::Micros,
};
use tokio::sync::{mpsc, oneshot};

use super::LeaseInHand;
use crate::store::StoreError;

/// The answer to a request about a queue, or why there is none.
pub(crate) type QueueOneOffResult = Result<Reply, NotDone>;

/// Why a request has no answer.
#[derive(Clone, Debug)]
pub(crate) enum NotDone {
    /// The request was not done.
    Refused(StoreError),
    /// Nobody can say whether it was done.
    Unknown(StoreError),
}

/// A want for items.
pub(crate) struct WantedItems {
    /// The number by which the API names the want, to take it back.
    pub(crate) number: u64,
    pub(crate) items: u32,
    pub(crate) ttl: Option<Micros>,
    pub(crate) until: Until,
    pub(crate) drains: bool,
    pub(crate) about: String,
    /// Where to tell what comes of it.
    pub(crate) to: mpsc::UnboundedSender<Handed>,
}

/// What a caller that wants items is handed.
pub(crate) enum Handed {
    Items(Vec<(Popped, Arc<LeaseInHand>)>),
    Drained,
    TimedOut,
    Failed(StoreError),
}

pub(crate) enum QueueCommand {
    /// Requests that go together if they fit into one batch.
    OneOffs(Vec<(Request, oneshot::Sender<QueueOneOffResult>)>),
    Pop(WantedItems),
    /// The caller has dropped this want.
    Unpop {
        number: u64,
    },
    Finish {
        delivery: Delivery,
        how: How,
        reply: Option<oneshot::Sender<DeliveryEnd>>,
    },
}
