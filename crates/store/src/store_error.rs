//! What a store says when it cannot answer.

use std::{error::Error, fmt, sync::Arc};

use seinpaal_proto::session::Failure;

/// A store could not answer. Contention is never one of these.
#[derive(Clone, Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    certainty: Certainty,
    message: String,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

/// What kind of trouble a store is in, and so what to do about it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// It cannot be reached, or is starting, failing over or busy: try again later.
    Unreachable,
    /// It refuses this user, or the directory's permissions do: ask for access.
    Forbidden,
    /// It is set up in a way that cannot work (network file system, wrong option, too old): change that.
    Misconfigured,
    /// It has no room (full disk, out of memory): make some.
    Full,
    /// What is kept there is not ours or is damaged.
    Corrupt,
    /// Another version of Seinpaal wrote it, and this one cannot read it: use that version, or
    /// another store.
    OtherVersion,
    /// This program closed the connection. Where an error has a variant `Closed`, that is what is returned.
    Closed,
    /// Our own mistake: please report it.
    Internal,
}

/// Whether the batch that failed was executed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Certainty {
    /// It was not.
    NotExecuted,
    /// It may have been. Sending the same tickets again is safe, and tells.
    Unknown,
}

impl StoreError {
    /// An error that says what happened and what to do, in one line without a full stop.
    pub fn new(kind: StoreErrorKind, certainty: Certainty, message: impl Into<String>) -> Self {
        Self { kind, certainty, message: message.into(), source: None }
    }

    /// The same with the error that caused it.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(Arc::from(source.into()));
        self
    }

    /// Returns whether the error is about one record only, so that others may be fine.
    pub fn is_about_what_is_kept(&self) -> bool {
        matches!(self.kind, StoreErrorKind::Corrupt | StoreErrorKind::OtherVersion)
    }

    /// What kind of trouble it is.
    #[must_use]
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// Returns whether the batch was executed.
    #[must_use]
    pub fn certainty(&self) -> Certainty {
        self.certainty
    }

    /// What the error means to a session.
    pub fn as_failure(&self) -> Failure {
        Failure {
            maybe_executed: self.certainty != Certainty::NotExecuted,
            is_passing: self.is_passing(),
            is_full: self.kind == StoreErrorKind::Full,
        }
    }

    /// Returns whether trying again later can help.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self.kind, StoreErrorKind::Unreachable | StoreErrorKind::Full)
    }
}
