//! Batches about several names in one step, for stores that execute the ledger themselves.

use seinpaal_proto::{Acquire, Batch, Replies, Reply, Request};

/// The result of executing batches together.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Together {
    /// Every request was granted. The replies stand in the order of the batches.
    Granted(Vec<Replies>),
    /// At least one request was not granted, so no ticket holds or waits. The index of the first
    /// such batch, and its replies.
    Refused(usize, Replies),
}

/// Executes batches of one acquire each. Unless all are granted, cancels those that were. The
/// caller must keep other batches out meanwhile.
pub fn execute<E>(
    batches: &[Batch],
    mut execute: impl FnMut(&Batch) -> Result<Replies, E>,
) -> Result<Together, E> {
    let mut granted = Vec::with_capacity(batches.len());
    for batch in batches {
        let replies = execute(batch)?;
        if !is_granted(&replies) {
            for batch in &batches[..granted.len()] {
                execute(&undoing(batch))?;
            }
            return Ok(Together::Refused(granted.len(), replies));
        }
        granted.push(replies);
    }
    Ok(Together::Granted(granted))
}

fn is_granted(replies: &Replies) -> bool {
    replies.replies.iter().all(|reply| matches!(reply, Reply::Granted(_)))
}

/// Returns the batch that cancels the acquires of a batch.
pub fn undoing(batch: &Batch) -> Batch {
    let cancel = |request: &Request| match request {
        Request::Acquire(Acquire { ticket, ttl, .. }) => {
            Some(Request::Cancel { ticket: *ticket, remember: *ttl, attach: None })
        }
        _ => None,
    };
    Batch { requests: batch.requests.iter().filter_map(cancel).collect(), ..batch.clone() }
}
