//! Mistakes that are put in on purpose, each as a wrapper around the real machines. The models find
//! them, which shows that the models can fail.

/// A planted mistake.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Plant {
    /// The session leaves no margin for steps of the store's clock.
    NoMargin,
    /// The session waits for a wakeup and never looks again by itself.
    NoSecondLook,
    /// A release or a cancel gives back any permit of its client, and not that of its ticket.
    ByClient,
    /// A request carries no deadline.
    NoDeadline,
    /// The ledger does not remember tickets that are over.
    ForgetsPast,
    /// The ledger's clock follows the store's clock, however far that jumps.
    FreeClock,
    /// The ledger admits one permit more than the limit.
    OneTooMany,
    /// The ledger forgets a name though the clock has not passed its last fence.
    ForgetsFence,
    /// The fence is the clock alone.
    FenceIsClock,
    /// A ttl that one caller gives is applied to all.
    ShortensAll,
    /// The last waiter is served first.
    LastFirst,
    /// The wish for a slot is lost on the way.
    WishLost,
    /// Slots get other names while somebody holds them.
    RenamesInUse,
    /// A holder whose lease another ends is not told.
    EndUntold,
    /// The ledger forgets the limit that an operator has pinned.
    PinForgotten,
    /// A client that is granted a permit is told that it is refused.
    GrantDenied,
    /// A total is one more than what it counts.
    Miscounted,
}

impl Plant {
    /// All mistakes.
    pub const ALL: [Self; 17] = [
        Self::NoMargin,
        Self::NoSecondLook,
        Self::ByClient,
        Self::NoDeadline,
        Self::ForgetsPast,
        Self::FreeClock,
        Self::OneTooMany,
        Self::ForgetsFence,
        Self::FenceIsClock,
        Self::ShortensAll,
        Self::LastFirst,
        Self::WishLost,
        Self::RenamesInUse,
        Self::EndUntold,
        Self::PinForgotten,
        Self::GrantDenied,
        Self::Miscounted,
    ];

    /// Describes the mistake.
    #[must_use]
    pub const fn says(self) -> &'static str {
        match self {
            Self::NoMargin => "the session leaves no margin for the store's clock",
            Self::NoSecondLook => "the session waits for a wakeup and never looks by itself",
            Self::ByClient => "a release names the client, not the ticket",
            Self::NoDeadline => "a request carries no deadline",
            Self::ForgetsPast => "the ledger forgets tickets that are over",
            Self::FreeClock => "the ledger's clock jumps as far as the store's",
            Self::OneTooMany => "the ledger admits one more than the limit",
            Self::ForgetsFence => "the ledger forgets a fence that is ahead of the clock",
            Self::FenceIsClock => "the fence is the clock alone",
            Self::ShortensAll => "a ttl that one caller gives is applied to all",
            Self::LastFirst => "the last waiter is served first",
            Self::WishLost => "the wish for a slot is lost on the way",
            Self::RenamesInUse => "slots get other names while somebody holds them",
            Self::EndUntold => "a holder whose lease another ends is not told",
            Self::PinForgotten => "the ledger forgets a limit that was pinned",
            Self::GrantDenied => "a client that is granted a permit is told that it is refused",
            Self::Miscounted => "the ledger counts one too many",
        }
    }
}
