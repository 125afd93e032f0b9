//! One step of the ledger, as the judge sees it.

use seinpaal_proto::{Batch, Entry, MemoryState, Reply, Request, Standing, Ticket};

/// A step of the ledger.
pub(super) struct Step<'a> {
    pub(super) before: &'a MemoryState,
    pub(super) after: &'a MemoryState,
    pub(super) batch: &'a Batch,
    pub(super) replies: &'a [Reply],
}

/// The fence of a ticket that holds.
pub(super) fn fence_of(entry: &Entry) -> Option<u64> {
    match &entry.standing {
        Standing::Holding { fence, .. } => Some(fence.0),
        Standing::Waiting { .. } => None,
    }
}

/// Returns whether a batch may end the grant of another client's ticket.
pub(super) fn is_ended_by(batch: &Batch, ticket: Ticket) -> bool {
    batch.requests.iter().any(|request| match request {
        Request::Attach(attach) => attach.ticket == ticket,
        Request::Release { ticket: named, .. } | Request::Evict { ticket: named } => {
            batch.inbox.is_none() && *named == ticket
        }
        _ => false,
    })
}
