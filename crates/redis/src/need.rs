//! What an answer needs of the replicas before it counts.

use seinpaal_proto::Reply;

/// What an answer needs of the replicas before it counts.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum ReplicaNeed {
    /// A fail-over that undoes it takes no permit from anybody.
    Nothing,
    /// Replicas are asked, and the request is repeated if the master is gone before it could
    /// answer. Otherwise a permit that was given back there and is still held on the next master
    /// would be nobody's for a ttl.
    Asked,
    /// Enough replicas must have it, because the caller relies on it.
    Confirmed,
}

pub(super) fn need_of(reply: &Reply) -> ReplicaNeed {
    match reply {
        Reply::Granted(_)
        | Reply::Renewed { .. }
        | Reply::Tickets { .. }
        | Reply::Configured { .. } => ReplicaNeed::Confirmed,
        // If a fail-over undid this, the slots that were given back would stand under a lease that
        // goes on being renewed.
        Reply::Released { left: 1.., .. } => ReplicaNeed::Confirmed,
        Reply::Released { .. } | Reply::Cancelled { .. } | Reply::Evicted { .. } => {
            ReplicaNeed::Asked
        }
        _ => ReplicaNeed::Nothing,
    }
}
