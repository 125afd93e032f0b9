//! A store keeps queues, or refuses requests about them. The cases in queue.rs test how a store
//! keeps their items.

use seinpaal::store::{Certainty, StoreErrorKind};
use seinpaal_proto::{Inbox, queue::Batch};

use crate::{Ability, CaseStage};

pub async fn a_store_keeps_queues_or_says_that_it_keeps_none(stage: &CaseStage) {
    let client = stage.client().await;
    let (name, session) = (stage.name().clone(), Inbox(1));
    let batch = Batch { name, session, number: 0, not_after: 0, seen: 0, requests: vec![] };
    let (called, listed) =
        (client.store().call_queue(&batch).await, client.store().list_queues("").await);
    if stage.lacks(&[Ability::KeepsQueues]).is_none() {
        assert!(called.is_ok() && listed.is_ok());
        return;
    }
    for refused in [called.unwrap_err(), listed.unwrap_err()] {
        let known = (StoreErrorKind::Misconfigured, Certainty::NotExecuted);
        assert_eq!((refused.kind(), refused.certainty()), known);
        assert!(refused.to_string().contains("file:"), "{refused} does not say where to go");
    }
}
