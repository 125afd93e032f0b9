//! For how long a store stays open.

/// The time for which a process has a store open.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stay {
    UntilDropped,
    /// The process ends with the store, so the kernel may close the descriptors.
    UntilExit,
}
