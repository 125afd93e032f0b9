//! For how long a store stays open.

/// For how long a process has a store open.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stay {
    UntilDropped,
    /// The process ends with the store, so the kernel may close what is open.
    UntilExit,
}
