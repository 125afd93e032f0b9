//! Which checks look for which mistake, and with which arguments.

use std::fmt;

use seinpaal_proto::planted::Mistake;

/// A way to find mistakes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Suite {
    Models,
    Differential,
    Conformance,
    Torture,
}

/// A check and its subject, as words of a command line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SuiteRun {
    pub(crate) check: Suite,
    /// A store of the conformance suite, or a kind of the torture rig.
    pub(crate) store: &'static str,
    /// For torture the faults, separated by commas. For models and conformance one model or case
    /// (`queues:case` for a queue), `all` for those of semaphores, or `queues`.
    pub(crate) what: String,
}

/// Every store that a check uses.
const STORES: &[&str] = &[
    "-",
    "memory",
    "embedded",
    "redis",
    "failover",
    "cut",
    "gate",
    "quorum",
    "sentinel",
    "zookeeper",
    "queue-embedded",
    "queue-redis",
];

impl Suite {
    pub(crate) const ALL: [Self; 4] =
        [Self::Models, Self::Differential, Self::Conformance, Self::Torture];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Models => "models",
            Self::Differential => "differential",
            Self::Conformance => "conformance",
            Self::Torture => "torture",
        }
    }
}

impl SuiteRun {
    fn of(check: Suite, store: &'static str, what: &str) -> Self {
        Self { check, store, what: what.to_owned() }
    }

    pub(crate) fn parse(words: &[&str]) -> Option<Self> {
        let [check, store, what] = words else { return None };
        let check = Suite::ALL.into_iter().find(|known| known.name() == *check)?;
        let store = STORES.iter().find(|known| *known == store)?;
        Some(Self::of(check, store, what))
    }

    pub(crate) fn words(&self) -> [&str; 3] {
        [self.check.name(), self.store, &self.what]
    }
}

impl fmt::Display for SuiteRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().join(" "))
    }
}

/// The checks of this kind that look for a mistake. There are none if the check cannot see that
/// part of the product.
pub(crate) fn orders(mistake: Mistake, check: Suite) -> Vec<SuiteRun> {
    let is_of = |layers: &[&str]| layers.contains(&mistake.layer());
    let one = |store, what| vec![SuiteRun::of(check, store, what)];
    match check {
        // Models have the ledger and sessions, and no store.
        Suite::Models if is_of(&["ledger", "session"]) => one("-", "all"),
        Suite::Models if is_of(&["queue ledger", "queue session"]) => one("-", "queues"),
        // The differential test has the scripts and the ledger, and no session.
        Suite::Differential if is_of(&["ledger", "lua"]) => one("-", "all"),
        Suite::Differential if is_of(&["queue ledger", "queue lua"]) => one("-", "queues"),
        Suite::Conformance => {
            let what = if mistake.layer().starts_with("queue") { "queues" } else { "all" };
            let all = |store: &&'static str| SuiteRun::of(check, store, what);
            conformance_stores(mistake).iter().map(all).collect()
        }
        Suite::Torture => {
            let (kind, faults) = torment(mistake);
            one(kind, faults)
        }
        Suite::Models | Suite::Differential => Vec::new(),
    }
}

/// The conformance suite drives stores by hand, so it sees the mistakes of stores and of the
/// ledger. Only the cases of alarms have sessions.
fn conformance_stores(mistake: Mistake) -> &'static [&'static str] {
    match mistake {
        Mistake::EmbeddedDeathUnseen => &["embedded"],
        Mistake::EmbeddedStepNotWhole => &["embedded", "gate"],
        Mistake::RedisDeafAfterACut => &["redis", "cut"],
        Mistake::ReplicatedUnconfirmed => &["failover"],
        Mistake::QuorumOfAMinority => &["quorum"],
        // Mistakes of a session, which the cases of alarms find.
        Mistake::HandsOverUnproved | Mistake::DangerBeforeRenewal => &["redis"],
        _ => match mistake.layer() {
            "ledger" | "queue ledger" => &["memory", "embedded"],
            "lua" | "queue lua" => &["redis"],
            "queue store" => &["embedded"],
            _ => &[],
        },
    }
}

/// The store that has the mistake, and the faults that can bring it out.
fn torment(mistake: Mistake) -> (&'static str, &'static str) {
    const LINKS: &str = "kill-worker,stop-worker,cut,lose-reply,partition,delay";
    match mistake {
        Mistake::ForgetsTickets | Mistake::GrantsARetryAgain => ("zookeeper", LINKS),
        Mistake::ReplicatedUnconfirmed => ("sentinel", "fail-over"),
        Mistake::RedisDeafAfterACut => ("redis", "cut"),
        Mistake::QuorumOfAMinority => ("quorum", LINKS),
        _ => match (mistake.layer(), mistake) {
            ("queue ledger" | "queue store", _) => ("queue-embedded", "kill-worker,stop-worker"),
            ("queue session" | "queue lua", _) => ("queue-redis", LINKS),
            ("ledger", _) | (_, Mistake::EmbeddedDeathUnseen | Mistake::EmbeddedStepNotWhole) => {
                ("embedded", "kill-worker,stop-worker")
            }
            _ => ("redis", LINKS),
        },
    }
}

/// A check that is known to find a mistake quickly.
pub(crate) fn cheapest(mistake: Mistake) -> SuiteRun {
    match mistake {
        Mistake::FenceIsTheClock | Mistake::GrantsARetryAgain => models("calm"),
        Mistake::CancelsNothing | Mistake::WaitsForWakeups => models("calm"),
        Mistake::CountsFromTheReply => models("delay"),
        Mistake::HandsOverUnproved => {
            case("redis", "what_was_waited_for_is_certain_for_two_thirds_of_its_ttl")
        }
        Mistake::DangerBeforeRenewal => models("calm-short-places"),
        Mistake::SilenceIsNoLoss => models("pause"),
        Mistake::AsksOnce => models("break"),
        Mistake::AttachKeepsTheLease => {
            case("memory", "attaching_is_a_grant_with_a_fence_of_its_own_and_ends_the_one_before")
        }
        Mistake::RenewsWhatChangedHands => case(
            "memory",
            "nothing_that_an_old_holder_sends_frees_or_keeps_the_permit_of_the_new_one",
        ),
        Mistake::HoldsUntold => {
            case("memory", "a_snapshot_tells_how_long_the_last_holds_took_that_were_given_back")
        }
        Mistake::ReleasesUntold => {
            case("memory", "a_holder_whose_ticket_somebody_gives_back_is_told")
        }
        Mistake::UnpinKeepsTheLimit => {
            case("memory", "a_limit_that_is_unset_is_let_go_at_once_and_the_queue_is_served")
        }
        Mistake::CancelRaisesNothing => case("memory", "a_cancel_that_overtakes_its_acquire_wins"),
        Mistake::NewcomerPasses => case("memory", "a_newcomer_does_not_pass_a_waiter"),
        Mistake::EmbeddedDeathUnseen => case("embedded", "what_a_dead_holder_held_is_free_at_once"),
        // A case of the suite finds it only if two clients meet within a step.
        Mistake::EmbeddedStepNotWhole => case("gate", "all"),
        Mistake::RedisDeafAfterACut => case("cut", "all"),
        Mistake::ReplicatedUnconfirmed => case("failover", "all"),
        Mistake::QuorumOfAMinority => case("quorum", "all"),
        _ if mistake.layer().starts_with("queue") => cheapest_of_queues(mistake),
        _ => SuiteRun::of(Suite::Differential, "-", "all"),
    }
}

fn cheapest_of_queues(mistake: Mistake) -> SuiteRun {
    match mistake {
        Mistake::QueueLateEnds => {
            case("memory", "queues:a_late_end_of_a_delivery_is_lost_and_changes_nothing")
        }
        Mistake::QueueRepeats => models("queue-repeat"),
        Mistake::QueueGroupOneMore => models("queue-groups"),
        Mistake::QueueUncounted | Mistake::QueuePlaceLost => models("queue-ends"),
        Mistake::QueueWatchUntold => models("queue-apart"),
        Mistake::QueueHintLost => models("queue-delayed"),
        Mistake::QueueLossUnheard => models("queue-cancel"),
        Mistake::QueueFromReply => models("queue-one-delay"),
        Mistake::QueueEmbeddedDeathKeeps => {
            case("embedded", "queues:an_item_whose_worker_died_is_delivered_again_at_once")
        }
        _ => SuiteRun::of(Suite::Differential, "-", "queues"),
    }
}

fn models(model: &str) -> SuiteRun {
    SuiteRun::of(Suite::Models, "-", model)
}

fn case(store: &'static str, case: &str) -> SuiteRun {
    SuiteRun::of(Suite::Conformance, store, case)
}
