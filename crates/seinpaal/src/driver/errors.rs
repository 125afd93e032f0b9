//! The errors for a store that was silent, gone or wrong, and so gave none.

use super::Driver;
use crate::{
    error::AcquireError,
    store::{Certainty, StoreError, StoreErrorKind},
};

impl Driver {
    /// The error for a caller whose request failed: the last error of the store.
    pub(super) fn error(&self) -> StoreError {
        self.last_error.clone().unwrap_or_else(misfit)
    }

    pub(super) fn refused_by_store(&self) -> AcquireError {
        self.error().into()
    }

    /// The error for a request that the store has not answered in time.
    pub(super) fn silence(&self) -> StoreError {
        // A refusal is an answer, so it does not explain a silence.
        let last_error = self.last_error.clone().filter(StoreError::is_passing);
        last_error.unwrap_or_else(|| silence(&self.address))
    }
}

pub(crate) fn internal(
    what: &str,
    error: impl std::error::Error + Send + Sync + 'static,
) -> StoreError {
    internal_text(&format!("{what}: {error}")).caused_by(error)
}

pub(super) fn internal_text(what: &str) -> StoreError {
    StoreError::new(crate::store::StoreErrorKind::Internal, Certainty::NotExecuted, what)
}

/// The error of a connection that was closed, or whose driver has ended with its runtime.
pub(crate) fn is_closed() -> StoreError {
    StoreError::new(StoreErrorKind::Closed, Certainty::Unknown, "the connection is closed")
}

/// The error of the store at this address if it has not answered in time.
pub(super) fn silence(address: &str) -> StoreError {
    let message = format!("{address} did not answer in time: is it running and reachable?");
    StoreError::new(StoreErrorKind::Unreachable, Certainty::Unknown, message)
}

/// The error for an answer of another kind than the request has, which is a mistake in the store.
pub(crate) fn misfit() -> StoreError {
    internal_text("the store gave an answer that does not fit")
}
