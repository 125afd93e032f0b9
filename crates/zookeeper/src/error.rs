//! The errors of a server, and their meaning.

use zookeeper_client::Error;

use super::header::FORMAT;
use seinpaal_store::packed::Damaged;
use seinpaal_store::{
    Certainty::{self, NotExecuted, Unknown},
    StoreError,
    StoreErrorKind::{
        Corrupt, Forbidden, Full, Internal, Misconfigured, OtherVersion, Unreachable,
    },
};

/// The error of a request that writes nothing by itself, or of a write that was refused whole.
pub(super) fn of_read(error: &Error, shown: &str) -> StoreError {
    of(error, shown, NotExecuted)
}

/// The error of a write.
pub(super) fn of_write(error: &Error, shown: &str) -> StoreError {
    of(error, shown, if is_refusal(error) { NotExecuted } else { Unknown })
}

/// Returns whether the server looked at the request and did nothing.
fn is_refusal(error: &Error) -> bool {
    matches!(
        error,
        Error::NoNode
            | Error::NoAuth
            | Error::BadVersion
            | Error::NodeExists
            | Error::NotEmpty
            | Error::InvalidAcl
            | Error::NotReadOnly
            | Error::QuotaExceeded
            | Error::Throttled
            | Error::BadArguments(_)
    )
}

fn of(error: &Error, shown: &str, certainty: Certainty) -> StoreError {
    let (kind, what) = match error {
        Error::NoAuth | Error::AuthFailed | Error::InvalidAcl => (
            Forbidden,
            "this user may not do that: check user, password and chroot in the store URL, and that the ACLs there allow it to create, read, write and delete (cdrw)",
        ),
        Error::NoHosts | Error::Timeout => {
            (Unreachable, "no server answers: start the ensemble, or check hosts and ports")
        }
        Error::SessionExpired | Error::ClientClosed => {
            (Unreachable, "the session has expired: a new one is being opened")
        }
        Error::NotReadOnly => (Unreachable, "the server has lost its quorum: try again later"),
        Error::Throttled => (Unreachable, "the server is overloaded: try again later"),
        Error::QuotaExceeded => (Full, "a quota is used up: raise it or delete something"),
        Error::BadArguments(_) => (Misconfigured, "the chroot is no path that ZooKeeper accepts"),
        Error::Unimplemented => {
            (Misconfigured, "the server is older than ZooKeeper 3.5: upgrade it")
        }
        Error::NoNode => (Corrupt, "what this store keeps was deleted: connect again"),
        Error::UnmarshalError { .. } => (Internal, "the answer makes no sense: is it a ZooKeeper?"),
        _ => (
            Unreachable,
            "the connection was closed: the same request is sent again when it is back",
        ),
    };
    StoreError::new(kind, certainty, format!("{shown}: {what}")).caused_by(error.clone())
}

pub(super) fn no_answer(shown: &str, certainty: Certainty) -> StoreError {
    StoreError::new(Unreachable, certainty, format!("{shown} did not answer in time"))
}

pub(super) fn damaged(path: &str) -> StoreError {
    let what = format!(
        "what is kept at {path} is not ours or is damaged: use another chroot, or delete it"
    );
    StoreError::new(Corrupt, NotExecuted, what)
}

pub(super) fn other_version(path: &str, format: u8) -> StoreError {
    let what = format!(
        "what is kept at {path} was written by another version of Seinpaal (format {format}, this one has \
         {FORMAT}): use that version or another chroot"
    );
    StoreError::new(OtherVersion, NotExecuted, what)
}

/// An unreadable value, with the place where it is.
pub(super) trait DamagedAt {
    fn at(self, path: &str) -> StoreError;
}

impl DamagedAt for Damaged {
    fn at(self, path: &str) -> StoreError {
        damaged(path)
    }
}

pub(super) fn full(name: &str, most: usize) -> StoreError {
    let what = format!(
        "the name {name:?} is full: it has at most {} kB on ZooKeeper, and too many hold, wait or are remembered",
        most >> 10
    );
    StoreError::new(Full, NotExecuted, what)
}
