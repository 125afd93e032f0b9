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

/// The answer to a request about a queue, or the reason why there is none.
pub(crate) type QueueOneOffResult = Result<Reply, NotDone>;

/// The reason why a request has no answer.
#[derive(Clone, Debug)]
pub(crate) enum NotDone {
    /// The request was not done.
    Refused(StoreError),
    /// It is unknown whether the request was done.
    Unknown(StoreError),
}

/// A want for items.
pub(crate) struct WantedItems {
    /// The number by which the API names the want, to withdraw it.
    pub(crate) number: u64,
    pub(crate) items: u32,
    pub(crate) ttl: Option<Micros>,
    pub(crate) until: Until,
    pub(crate) drains: bool,
    pub(crate) about: String,
    /// The channel for the items.
    pub(crate) to: mpsc::UnboundedSender<Handed>,
}

/// The messages to a caller that wants items.
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
    /// Withdraws the want with this number, because the caller has dropped it.
    Unpop {
        number: u64,
    },
    Finish {
        delivery: Delivery,
        how: How,
        reply: Option<oneshot::Sender<DeliveryEnd>>,
    },
}
