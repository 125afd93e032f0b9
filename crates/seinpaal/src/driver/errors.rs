//! The errors that no store gives, because it was silent, gone or wrong.

use super::Driver;
use crate::{
    error::AcquireError,
    store::{Certainty, StoreError, StoreErrorKind},
};

impl Driver {
    /// The error for a caller whose request failed: what the store said last.
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

/// The connection was closed, or its driver has ended with the runtime that it was started on.
pub(crate) fn is_closed() -> StoreError {
    StoreError::new(StoreErrorKind::Closed, Certainty::Unknown, "the connection is closed")
}

/// The store at this address has not answered in time.
pub(super) fn silence(address: &str) -> StoreError {
    let message = format!("{address} did not answer in time: is it running and reachable?");
    StoreError::new(StoreErrorKind::Unreachable, Certainty::Unknown, message)
}

/// The store gave an answer of another kind than the request has: a mistake in the store.
pub(crate) fn misfit() -> StoreError {
    internal_text("the store gave an answer that does not fit")
}
