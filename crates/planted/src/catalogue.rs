//! The checks that look for each mistake, with their arguments.

use std::fmt;

use seinpaal_proto::planted::Bug;

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

/// The checks of this kind that look for a mistake. The list is empty if the check cannot see that
/// part of the product.
pub(crate) fn orders(bug: Bug, check: Suite) -> Vec<SuiteRun> {
    let is_of = |layers: &[&str]| layers.contains(&bug.layer());
    let one = |store, what| vec![SuiteRun::of(check, store, what)];
    match check {
        // Models have the ledger and sessions, and no store.
        Suite::Models if is_of(&["ledger", "session"]) => one("-", "all"),
        Suite::Models if is_of(&["queue ledger", "queue session"]) => one("-", "queues"),
        // The differential test has the scripts and the ledger, and no session.
        Suite::Differential if is_of(&["ledger", "lua"]) => one("-", "all"),
        Suite::Differential if is_of(&["queue ledger", "queue lua"]) => one("-", "queues"),
        Suite::Conformance => {
            let what = if bug.layer().starts_with("queue") { "queues" } else { "all" };
            let all = |store: &&'static str| SuiteRun::of(check, store, what);
            conformance_stores(bug).iter().map(all).collect()
        }
        Suite::Torture => {
            let (kind, faults) = torment(bug);
            one(kind, faults)
        }
        Suite::Models | Suite::Differential => Vec::new(),
    }
}

/// The conformance suite drives stores by hand, so it sees the mistakes of stores and of the
/// ledger. Only the cases of alarms have sessions.
fn conformance_stores(bug: Bug) -> &'static [&'static str] {
    match bug {
        Bug::EmbeddedDeathUnseen => &["embedded"],
        Bug::EmbeddedStepNotWhole => &["embedded", "gate"],
        Bug::RedisDeafAfterACut => &["redis", "cut"],
        Bug::ReplicatedUnconfirmed => &["failover"],
        Bug::QuorumOfAMinority => &["quorum"],
        // Mistakes of a session, which the cases of alarms find.
        Bug::HandsOverUnproved | Bug::DangerBeforeRenewal => &["redis"],
        _ => match bug.layer() {
            "ledger" | "queue ledger" => &["memory", "embedded"],
            "lua" | "queue lua" => &["redis"],
            "queue store" => &["embedded"],
            _ => &[],
        },
    }
}

/// The store that has the mistake, and the faults that can bring it out.
fn torment(bug: Bug) -> (&'static str, &'static str) {
    const LINKS: &str = "kill-worker,stop-worker,cut,lose-reply,partition,delay";
    match bug {
        Bug::ForgetsTickets | Bug::GrantsARetryAgain => ("zookeeper", LINKS),
        Bug::ReplicatedUnconfirmed => ("sentinel", "fail-over"),
        Bug::RedisDeafAfterACut => ("redis", "cut"),
        Bug::QuorumOfAMinority => ("quorum", LINKS),
        _ => match (bug.layer(), bug) {
            ("queue ledger" | "queue store", _) => ("queue-embedded", "kill-worker,stop-worker"),
            ("queue session" | "queue lua", _) => ("queue-redis", LINKS),
            ("ledger", _) | (_, Bug::EmbeddedDeathUnseen | Bug::EmbeddedStepNotWhole) => {
                ("embedded", "kill-worker,stop-worker")
            }
            _ => ("redis", LINKS),
        },
    }
}

/// A check that is known to find a mistake quickly.
pub(crate) fn cheapest(bug: Bug) -> SuiteRun {
    match bug {
        Bug::FenceIsTheClock | Bug::GrantsARetryAgain => models("calm"),
        Bug::CancelsNothing | Bug::WaitsForWakeups => models("calm"),
        Bug::CountsFromTheReply => models("delay"),
        Bug::HandsOverUnproved => {
            case("redis", "what_was_waited_for_is_certain_for_two_thirds_of_its_ttl")
        }
        Bug::DangerBeforeRenewal => models("calm-short-places"),
        Bug::SilenceIsNoLoss => models("pause"),
        Bug::AsksOnce => models("break"),
        Bug::AttachKeepsTheLease => {
            case("memory", "attaching_is_a_grant_with_a_fence_of_its_own_and_ends_the_one_before")
        }
        Bug::RenewsWhatChangedHands => case(
            "memory",
            "nothing_that_an_old_holder_sends_frees_or_keeps_the_permit_of_the_new_one",
        ),
        Bug::HoldsUntold => {
            case("memory", "a_snapshot_tells_how_long_the_last_holds_took_that_were_given_back")
        }
        Bug::ReleasesUntold => case("memory", "a_holder_whose_ticket_somebody_gives_back_is_told"),
        Bug::UnpinKeepsTheLimit => {
            case("memory", "a_limit_that_is_unset_is_let_go_at_once_and_the_queue_is_served")
        }
        Bug::CancelRaisesNothing => case("memory", "a_cancel_that_overtakes_its_acquire_wins"),
        Bug::NewcomerPasses => case("memory", "a_newcomer_does_not_pass_a_waiter"),
        Bug::EmbeddedDeathUnseen => case("embedded", "what_a_dead_holder_held_is_free_at_once"),
        // A case of the suite finds this mistake only if two clients meet within a step.
        Bug::EmbeddedStepNotWhole => case("gate", "all"),
        Bug::RedisDeafAfterACut => case("cut", "all"),
        Bug::ReplicatedUnconfirmed => case("failover", "all"),
        Bug::QuorumOfAMinority => case("quorum", "all"),
        _ if bug.layer().starts_with("queue") => cheapest_of_queues(bug),
        _ => SuiteRun::of(Suite::Differential, "-", "all"),
    }
}

fn cheapest_of_queues(bug: Bug) -> SuiteRun {
    match bug {
        Bug::QueueLateEnds => {
            case("memory", "queues:a_late_end_of_a_delivery_is_lost_and_changes_nothing")
        }
        Bug::QueueRepeats => models("queue-repeat"),
        Bug::QueueGroupOneMore => models("queue-groups"),
        Bug::QueueUncounted | Bug::QueuePlaceLost => models("queue-ends"),
        Bug::QueueWatchUntold => models("queue-apart"),
        Bug::QueueHintLost => models("queue-delayed"),
        Bug::QueueLossUnheard => models("queue-cancel"),
        Bug::QueueFromReply => models("queue-one-delay"),
        Bug::QueueEmbeddedDeathKeeps => {
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
