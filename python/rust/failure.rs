//! The errors of the crate as exceptions of the package, with the texts of the crate.

use pyo3::{prelude::*, types::PyDict};
use seinpaal::{
    AcquireAllError, AcquireError, AdminError, ConnectError, FinishError, PopError, PushError,
    QueueError, ReleaseError,
    store::{StoreError, StoreErrorKind},
};

use crate::locked::check_none;

/// An exception of `seinpaal.errors`: its class, its text and its attributes.
pub(crate) struct Failure {
    class: &'static str,
    message: String,
    details: Vec<(&'static str, Detail)>,
}

enum Detail {
    Count(u32),
    Text(String),
    Seconds(Option<f64>),
    Word(&'static str),
}

impl Failure {
    pub(crate) fn new(class: &'static str, message: impl ToString) -> Self {
        Self { class, message: message.to_string(), details: Vec::new() }
    }

    fn with(mut self, key: &'static str, detail: Detail) -> Self {
        self.details.push((key, detail));
        self
    }

    /// Says which name the error is about.
    pub(crate) fn about(mut self, name: &str) -> Self {
        self.message = format!("{name}: {}", self.message);
        self.with("name", Detail::Text(name.to_owned()))
    }

    /// As [`about`](Self::about), but not of errors of the store, nor of bad numbers.
    pub(crate) fn of_name(self, name: &str) -> Self {
        let is_of_store = matches!(self.class, "StoreError" | "Closed");
        if is_of_store || self.class.starts_with("Bad") { self } else { self.about(name) }
    }

    fn store(error: &StoreError) -> Self {
        let failure = Self::new("StoreError", error);
        failure.with("kind", Detail::Word(word(error.kind())))
    }

    pub(crate) fn raise(self, py: Python<'_>) -> PyErr {
        self.exception(py).map_or_else(|error| error, PyErr::from_value)
    }

    fn exception(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let details = PyDict::new(py);
        for (key, detail) in self.details {
            match detail {
                Detail::Count(count) => details.set_item(key, count)?,
                Detail::Text(text) => details.set_item(key, text)?,
                Detail::Seconds(seconds) => details.set_item(key, seconds)?,
                Detail::Word(word) => details.set_item(key, word)?,
            }
        }
        let class = py.import("seinpaal.errors")?.getattr(self.class)?;
        class.call((self.message,), Some(&details))
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        check_none();
        Python::attach(|py| failure.raise(py))
    }
}

fn word(kind: StoreErrorKind) -> &'static str {
    match kind {
        StoreErrorKind::Unreachable => "unreachable",
        StoreErrorKind::Forbidden => "forbidden",
        StoreErrorKind::Misconfigured => "misconfigured",
        StoreErrorKind::Full => "full",
        StoreErrorKind::Corrupt => "corrupt",
        StoreErrorKind::OtherVersion => "other version",
        StoreErrorKind::Closed => "closed",
        _ => "internal",
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        match &error {
            ConnectError::Url(_) => Self::new("BadUrl", error),
            ConnectError::Setting(_) => Self::new("BadSetting", error),
            ConnectError::Store(store) => Self::store(store),
            _ => Self::new("Error", error),
        }
    }
}

impl From<AcquireError> for Failure {
    fn from(error: AcquireError) -> Self {
        match &error {
            AcquireError::Name(_) => Self::new("BadName", error),
            AcquireError::Count(_) => Self::new("BadCount", error),
            AcquireError::Setting(_) => Self::new("BadSetting", error),
            AcquireError::TimedOut | AcquireError::Paused { .. } => Self::new("TimedOut", error),
            AcquireError::Closed => Self::new("Closed", error),
            AcquireError::NamedTwice => Self::new("NamedTwice", error),
            AcquireError::TooManyWaiting => Self::new("TooManyWaiting", error),
            AcquireError::OtherKind { .. } => Self::new("OtherKind", error),
            AcquireError::OtherLimit { stored, stated, is_pinned } => {
                Self::new("OtherLimit", other_limit(*stored, *stated, *is_pinned))
                    .with("stored", Detail::Count(*stored))
                    .with("stated", Detail::Count(*stated))
            }
            AcquireError::TooMany { permits, limit } => Self::new("TooMany", &error)
                .with("permits", Detail::Count(*permits))
                .with("limit", Detail::Count(*limit)),
            AcquireError::NoSuchSlot { .. } => Self::new("NoSuchSlot", error),
            AcquireError::Ended(_) => Self::new("Ended", error),
            AcquireError::Unknown => Self::new("NoSuchTicket", error),
            AcquireError::Store(store) => Self::store(store),
            _ => Self::new("AcquireError", error),
        }
    }
}

/// The text of the crate, with what to write in Python.
fn other_limit(stored: u32, stated: u32, is_pinned: bool) -> String {
    if is_pinned {
        return format!(
            "an operator has set the limit to {stored}, and this request asks for exactly {stated}: call \
             unset_limit(), or leave out on_mismatch=\"exact\" to use it"
        );
    }
    format!(
        "other clients say that the limit is {stored}, and this request says {stated}: use their limit by \
         on_mismatch=\"adopt\", set this one for all by on_mismatch=\"set\", or wait until they have left"
    )
}

impl From<AcquireAllError> for Failure {
    fn from(error: AcquireAllError) -> Self {
        Self::from(error.error).of_name(&error.name)
    }
}

impl From<ReleaseError> for Failure {
    fn from(error: ReleaseError) -> Self {
        match error {
            ReleaseError::NotHeld => Self::new("NotHeld", error),
            ReleaseError::Unknown { at_most } => Self::new("ReleaseUnknown", error)
                .with("at_most", Detail::Seconds(at_most.map(|most| most.as_secs_f64()))),
            ReleaseError::Closed => Self::new("Closed", error),
            ReleaseError::Forked { .. } => Self::new("Forked", error),
            ReleaseError::NotAWriter => Self::new("NotAWriter", error),
            _ => Self::new("ReleaseError", error),
        }
    }
}

impl From<AdminError> for Failure {
    fn from(error: AdminError) -> Self {
        match &error {
            AdminError::Name(_) => Self::new("BadName", error),
            AdminError::Count(_) => Self::new("BadCount", error),
            AdminError::Setting(_) => Self::new("BadSetting", error),
            AdminError::FixedLimit(_) => Self::new("OtherKind", error),
            AdminError::SlotsInUse { .. } => Self::new("SlotsInUse", error),
            AdminError::Unknown(_) => Self::new("NoSuchTicket", error),
            AdminError::Ended(_) => Self::new("Ended", error),
            AdminError::Closed => Self::new("Closed", error),
            AdminError::Store(store) => Self::store(store),
            _ => Self::new("Error", error),
        }
    }
}

impl From<PushError> for Failure {
    fn from(error: PushError) -> Self {
        match &error {
            PushError::Name(_) => Self::new("BadName", error),
            PushError::Count(_) => Self::new("BadCount", error),
            PushError::Setting(_) => Self::new("BadSetting", error),
            PushError::TooLarge(_) => Self::new("TooLarge", error),
            PushError::Unknown(_) => Self::new("PushUnknown", error),
            PushError::Closed => Self::new("Closed", error),
            PushError::Store(store) => Self::store(store),
            _ => Self::new("Error", error),
        }
    }
}

impl From<PopError> for Failure {
    fn from(error: PopError) -> Self {
        match &error {
            PopError::Name(_) => Self::new("BadName", error),
            PopError::Setting(_) => Self::new("BadSetting", error),
            PopError::TimedOut => Self::new("TimedOut", error),
            PopError::Closed => Self::new("Closed", error),
            PopError::Store(store) => Self::store(store),
            _ => Self::new("Error", error),
        }
    }
}

impl From<FinishError> for Failure {
    fn from(error: FinishError) -> Self {
        match error {
            FinishError::Lost => Self::new("Lost", error),
            FinishError::Unknown => Self::new("FinishUnknown", error),
            FinishError::Closed => Self::new("Closed", error),
            FinishError::Forked { .. } => Self::new("Forked", error),
            _ => Self::new("Error", error),
        }
    }
}

impl From<QueueError> for Failure {
    fn from(error: QueueError) -> Self {
        match &error {
            QueueError::Name(_) => Self::new("BadName", error),
            QueueError::Count(_) => Self::new("BadCount", error),
            QueueError::NoSuchItem(_) => Self::new("NoSuchItem", error),
            QueueError::Unknown(_) => Self::new("QueueUnknown", error),
            QueueError::Setting(_) => Self::new("BadSetting", error),
            QueueError::Closed => Self::new("Closed", error),
            QueueError::Store(store) => Self::store(store),
            _ => Self::new("Error", error),
        }
    }
}
