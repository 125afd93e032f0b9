//! The errors that only mean that the store took long.

use seinpaal::{
    AcquireError, ConnectError, FinishError, PopError, PushError, ReleaseError,
    store::{StoreError, StoreErrorKind},
};

pub(super) trait Late: std::fmt::Display {
    fn is_late(&self) -> bool;
}

impl Late for ConnectError {
    fn is_late(&self) -> bool {
        matches!(self, Self::Store(error) if is_silence(error))
    }
}

impl Late for AcquireError {
    fn is_late(&self) -> bool {
        self.is_unavailable()
    }
}

impl Late for ReleaseError {
    fn is_late(&self) -> bool {
        matches!(self, Self::Unknown { .. })
    }
}

impl Late for PushError {
    fn is_late(&self) -> bool {
        match self {
            Self::Unknown(_) => true,
            Self::Store(error) => is_silence(error),
            _ => false,
        }
    }
}

impl Late for PopError {
    fn is_late(&self) -> bool {
        matches!(self, Self::Store(error) if is_silence(error))
    }
}

impl Late for FinishError {
    fn is_late(&self) -> bool {
        matches!(self, Self::Unknown)
    }
}

fn is_silence(error: &StoreError) -> bool {
    error.kind() == StoreErrorKind::Unreachable
}
