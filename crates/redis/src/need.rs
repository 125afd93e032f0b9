//! The proof that a reply needs from the replicas before the caller may rely on it.

use seinpaal_proto::Reply;

/// The proof that a reply needs from the replicas.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum ReplicaNeed {
    /// None: a fail-over that undoes the request takes no permit from anybody.
    Nothing,
    /// Replicas are asked, and the request is repeated if the master is gone before it could
    /// answer. Otherwise a permit could be given back on the old master and still be held on the
    /// next one, where it would be lost to everybody for a ttl.
    Asked,
    /// Enough replicas must have the write, because the caller relies on it.
    Confirmed,
}

pub(super) fn need_of(reply: &Reply) -> ReplicaNeed {
    match reply {
        Reply::Granted(_)
        | Reply::Renewed { .. }
        | Reply::Waits { .. }
        | Reply::Tickets { .. }
        | Reply::Configured { .. } => ReplicaNeed::Confirmed,
        // If a fail-over undid this release, the slots would again be held under a lease that goes
        // on being renewed.
        Reply::Released { left: 1.., .. } => ReplicaNeed::Confirmed,
        Reply::Released { .. } | Reply::Cancelled { .. } | Reply::Evicted { .. } => {
            ReplicaNeed::Asked
        }
        _ => ReplicaNeed::Nothing,
    }
}
