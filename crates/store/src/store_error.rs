//! The error of a store that could not answer.

use std::{error::Error, fmt, sync::Arc};

use seinpaal_proto::session::CallFailure;

/// The error of a store that could not answer. Contention for permits is never an error.
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

/// The kind of a store's trouble, and the remedy.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The store cannot be reached, or is starting, failing over or busy. Try again later.
    Unreachable,
    /// The store or the permissions of its directory refuse this user. Ask for access.
    Forbidden,
    /// The store is set up in a way that cannot work: a network file system, a wrong option, an old
    /// version. Change the setup.
    Misconfigured,
    /// The store has no room, on its disk or in memory. Make room.
    Full,
    /// The store's data is damaged, or belongs to another program.
    Corrupt,
    /// Another version of Seinpaal wrote the data, and this version cannot read it. Use the other
    /// version, or another store.
    OtherVersion,
    /// This program closed the connection. A type of error that has a variant `Closed` reports it
    /// by that variant.
    Closed,
    /// Seinpaal made a mistake: please report it.
    Internal,
}

/// Whether the batch that failed was executed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Certainty {
    /// The batch was not executed.
    NotExecuted,
    /// The batch may have been executed. It is safe to send the same tickets again, and the answer
    /// tells.
    Unknown,
}

impl StoreError {
    /// Makes an error whose message says what happened and what to do, in one line without a full
    /// stop.
    pub fn new(kind: StoreErrorKind, certainty: Certainty, message: impl Into<String>) -> Self {
        Self { kind, certainty, message: message.into(), source: None }
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(Arc::from(source.into()));
        self
    }

    /// Returns whether the error is about one record only, so that other records may be fine.
    pub fn is_about_what_is_kept(&self) -> bool {
        matches!(self.kind, StoreErrorKind::Corrupt | StoreErrorKind::OtherVersion)
    }

    /// Returns the kind of the trouble.
    #[must_use]
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// Returns whether the batch was executed.
    #[must_use]
    pub fn certainty(&self) -> Certainty {
        self.certainty
    }

    /// Returns the error as a session sees it.
    pub fn as_failure(&self) -> CallFailure {
        CallFailure {
            maybe_executed: self.certainty != Certainty::NotExecuted,
            is_passing: self.is_passing(),
            is_full: self.kind == StoreErrorKind::Full,
        }
    }

    /// Returns whether another try later can help.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self.kind, StoreErrorKind::Unreachable | StoreErrorKind::Full)
    }
}
