//! Every kind of request and of reply. Tests use the list whose histories or seeds must contain
//! each kind. A new kind does not compile until it is listed here. From then on those tests fail
//! until they use it.

use crate::{
    reply::{Cause, Reply},
    request::{Acquire, Configure, LimitRule, OnMismatch, Renew, Request, Whom},
};

macro_rules! kinds {
    ($message:ident: $($pattern:pat => $name:literal,)*) => {
        impl $message {
            /// All kinds.
            #[doc(hidden)]
            pub const KINDS: &[&str] = &[$($name),*];

            /// Returns the kind of this value.
            #[doc(hidden)]
            #[must_use]
            pub fn kind(&self) -> &'static str {
                match self {
                    $($pattern => $name,)*
                }
            }
        }
    };
}

kinds! {
    Request:
    Self::Acquire(Acquire { limit: None, .. }) => "acquire",
    Self::Acquire(Acquire { limit: Some(LimitRule { on_mismatch: OnMismatch::Refuse, .. }), .. })
        => "acquire, refuse",
    Self::Acquire(Acquire { limit: Some(LimitRule { on_mismatch: OnMismatch::Adopt, .. }), .. })
        => "acquire, adopt",
    Self::Acquire(Acquire { limit: Some(LimitRule { on_mismatch: OnMismatch::Set, .. }), .. })
        => "acquire, set",
    Self::Acquire(Acquire { limit: Some(LimitRule { on_mismatch: OnMismatch::Exact, .. }), .. })
        => "acquire, exact",
    Self::Renew(Renew { whom: Whom::All { .. }, .. }) => "renew a lease",
    Self::Renew(Renew { whom: Whom::Tickets(_), .. }) => "renew tickets",
    Self::Attach(_) => "attach",
    Self::Detach { .. } => "detach",
    Self::Release { slots: None, .. } => "release",
    Self::Release { slots: Some(_), .. } => "release slots",
    Self::Cancel { attach: None, .. } => "cancel",
    Self::Cancel { attach: Some(_), .. } => "cancel an attach",
    Self::Evict { .. } => "evict",
    Self::Configure(Configure::Limit(_)) => "pin",
    Self::Configure(Configure::Slots(_)) => "name slots",
    Self::Configure(Configure::Unpin) => "unpin",
    Self::Configure(Configure::Pause(_)) => "pause",
    Self::Configure(Configure::Resume) => "resume",
    Self::Inspect { .. } => "inspect",
}

kinds! {
    Reply:
    Self::Granted(_) => "granted",
    Self::Queued { .. } => "queued",
    Self::Busy { .. } => "busy",
    Self::OtherKind { .. } => "other kind",
    Self::OtherLimit { is_pinned: false, .. } => "other limit",
    Self::OtherLimit { is_pinned: true, .. } => "other limit, pinned",
    Self::TooMany { .. } => "too many",
    Self::NoSuchSlot { .. } => "no such slot",
    Self::TooLate { .. } => "too late",
    Self::Ended { cause: Cause::Released, .. } => "released before",
    Self::Ended { cause: Cause::Cancelled, .. } => "cancelled before",
    Self::Ended { cause: Cause::Expired, .. } => "expired",
    Self::Ended { cause: Cause::Evicted, .. } => "evicted before",
    Self::Ended { cause: Cause::TooMany, .. } => "too many by now",
    Self::Ended { cause: Cause::Attached, .. } => "attached",
    Self::Unknown { .. } => "unknown",
    Self::Renewed { .. } => "renewed",
    Self::Waits { .. } => "waits",
    Self::Differs => "differs",
    Self::Gone => "gone",
    Self::Tickets { .. } => "tickets",
    Self::Released { .. } => "released",
    Self::Cancelled { .. } => "cancelled",
    Self::Evicted { .. } => "evicted",
    Self::Configured { .. } => "configured",
    Self::SlotsInUse { .. } => "slots in use",
    Self::Snapshot(_) => "snapshot",
}
