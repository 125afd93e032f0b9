//! Mistakes put in on purpose, one at a time, to see that the checks can fail. Only with the
//! feature `planted`, which is for `crates/planted` alone: without it nothing can be chosen and
//! [`planted`] is a constant.

#[cfg(feature = "planted")]
use core::sync::atomic::{AtomicU8, Ordering};

#[cfg(all(feature = "planted", not(debug_assertions)))]
compile_error!(
    "the feature `planted` puts mistakes in: it is for crates/planted, and never for a build that is used"
);

macro_rules! mistakes {
    ($($layer:literal { $($mistake:ident $name:literal $says:literal,)* })*) => {
        /// A mistake.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum Mistake {
            $($(#[doc = $says] $mistake,)*)*
        }

        #[cfg(feature = "planted")]
        impl Mistake {
            /// All of them.
            pub const ALL: &[Self] = &[$($(Self::$mistake),*),*];

            /// The name of the mistake.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $($(Self::$mistake => $name,)*)*
                }
            }

            /// The mistake, in words.
            #[must_use]
            pub const fn says(self) -> &'static str {
                match self {
                    $($(Self::$mistake => $says,)*)*
                }
            }

            /// In which part of the product it is.
            #[must_use]
            pub const fn layer(self) -> &'static str {
                match self {
                    $($(Self::$mistake => $layer,)*)*
                }
            }
        }
    };
}

mistakes! {
    "ledger" {
        ForgetsTickets "forgets-tickets" "a ticket that is over is not remembered",
        CancelRaisesNothing "cancel-raises-nothing" "a cancel of a ticket that has not come does not raise its series",
        FenceIsTheClock "fence-is-the-clock" "the fence is the clock, and not raised above the last",
        NewcomerPasses "newcomer-passes" "a newcomer that fits is let in past those who wait",
        FreesWithoutServing "frees-without-serving" "a release frees and serves nobody",
        GrantsARetryAgain "grants-a-retry-again" "a request that comes twice is granted twice",
        AttachKeepsTheLease "attach-keeps-the-lease" "a ticket that is attached to answers to its old holder, too",
        RenewsWhatChangedHands "renews-what-changed-hands" "a renewal by ticket takes a ticket back that changed hands",
        ReleasesUntold "releases-untold" "a holder whose ticket somebody gives back is not told",
        UnpinKeepsTheLimit "unpin-keeps-the-limit" "a limit that is unset stays in force while anybody holds or waits",
        HoldsUntold "holds-untold" "how long a hold took is not kept",
        RenewsWhatDiffers "renews-what-differs" "a lease is renewed whatever its holder believes to stand under it",
    }
    "queue ledger" {
        QueueLateEnds "queue-late-ends" "a delivery that is over can end its item",
        QueueRepeats "queue-repeats" "a batch that comes twice is done twice",
        QueueGroupOneMore "queue-group-one-more" "one more of a group is in work",
        QueueUncounted "queue-uncounted" "an item has one delivery too many",
        QueueWatchUntold "queue-watch-untold" "the watch is not told of what is due sooner",
        QueuePlaceLost "queue-place-lost" "what is given back goes to the end",
    }
    "queue session" {
        QueueHintLost "queue-hint-lost" "a call or request to watch that overtakes an answer is forgotten",
        QueueLossUnheard "queue-loss-unheard" "a worker does not hear that its delivery is over",
        QueueFromReply "queue-from-reply" "a lease is counted from the reply, not from before the request",
    }
    "queue lua" {
        QueueLuaOneTooMany "queue-lua-one-too-many" "one item more than the limit is in work",
        QueueLuaCallsNobody "queue-lua-calls-nobody" "a worker that is called is not told",
    }
    "queue store" {
        QueueEmbeddedDeathKeeps "queue-embedded-death-keeps" "embedded: what a dead process worked on is not returned",
    }
    "session" {
        CountsFromTheReply "counts-from-the-reply" "a lease is counted from the reply, not from before the request",
        SilenceIsNoLoss "silence-is-no-loss" "a permit is believed in until the store says otherwise",
        CancelsNothing "cancels-nothing" "a request that is given up is forgotten, and its place stays",
        AsksOnce "asks-once" "a reply that was lost is taken for a refusal",
        WaitsForWakeups "waits-for-wakeups" "a waiter never looks by itself",
        HandsOverUnproved "hands-over-unproved" "a permit that was waited for is handed over on the age of its place",
        DangerBeforeRenewal "danger-before-renewal" "danger comes before the first renewal of what was waited for",
    }
    "lua" {
        LuaOneTooMany "lua-one-too-many" "one more than the limit is let in",
        LuaLosesTheHead "lua-loses-the-head" "the head of a name is not written",
        LuaWakesNobody "lua-wakes-nobody" "a release tells no waiter",
        LuaFenceNotRaised "lua-fence-not-raised" "a fence may be given twice",
        LuaSeconds "lua-seconds" "TIME is taken in seconds",
        LuaCallersTtl "lua-callers-ttl" "the keys of a name live for the ttl of the last client",
    }
    "store" {
        EmbeddedDeathUnseen "embedded-death-unseen" "embedded: the death of a process is not noticed",
        EmbeddedStepNotWhole "embedded-step-not-whole" "embedded: a step has neither a gate nor a transaction around it",
        RedisDeafAfterACut "redis-deaf-after-a-cut" "redis: a new connection does not subscribe again",
        ReplicatedUnconfirmed "replicated-unconfirmed" "redis: replicas are not waited for",
        QuorumOfAMinority "quorum-of-a-minority" "quorum: one node too few decides",
    }
}

/// The mistake of this process, and a mark that stands in every program with this feature: a test
/// looks for it in what is shipped.
#[cfg(feature = "planted")]
static CHOSEN: (AtomicU8, [u8; 13]) = (AtomicU8::new(u8::MAX), *b"BUILT TO FAIL");

/// Chooses the mistake of this process, or none.
#[cfg(feature = "planted")]
pub fn choose(mistake: Option<Mistake>) {
    CHOSEN.0.store(mistake.map_or(u8::MAX, |mistake| mistake as u8), Ordering::SeqCst);
}

/// Returns whether this mistake is made.
#[cfg(feature = "planted")]
#[must_use]
pub fn planted(mistake: Mistake) -> bool {
    CHOSEN.0.load(Ordering::Relaxed) == mistake as u8
}

/// Never.
#[cfg(not(feature = "planted"))]
#[must_use]
pub const fn planted(_: Mistake) -> bool {
    false
}
