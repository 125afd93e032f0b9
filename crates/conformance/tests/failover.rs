//! Permits while a master is replaced: without `replicated`, with it, and while replicas are
//! missing.

use std::time::Duration;

use seinpaal::{
    AcquireError, GuardedError, Lost, Permit, Seinpaal, Semaphore, Snapshot, store::StoreErrorKind,
};
use seinpaal_conformance::faults::failover::{FailoverPlan, MasterFault, run};
use seinpaal_rig::{SentinelServers, until};
use tokio::time::timeout;

/// How long a test waits for an event that must happen. No verdict depends on this time.
const BOUND: Duration = Duration::from_secs(60);
const NAME: &str = "n";
const REPLICAS: usize = 2;
/// How soon a client has its next permit after a fail-over, all replicas back included.
const SOON: Duration = Duration::from_secs(45);

/// A client with a patience of one second.
async fn client(url: &str) -> Semaphore {
    let builder = Seinpaal::builder(url).patience(Duration::from_secs(1));
    builder.connect().await.unwrap_or_else(|error| panic!("{error}")).semaphore(NAME).limit(1)
}

/// A client of the present master, which never learns of the next master.
async fn client_of_this_master(servers: &SentinelServers, options: &str) -> Semaphore {
    client(&format!("redis://127.0.0.1:{}{options}", servers.port(servers.master()))).await
}

async fn eventually(semaphore: &Semaphore, condition: impl Fn(&Snapshot) -> bool) {
    let looking = async {
        while !semaphore.snapshot().await.is_ok_and(|seen| condition(&seen)) {
            tokio::task::yield_now().await;
        }
    };
    timeout(BOUND, looking).await.expect("in time");
}

async fn held(semaphore: &Semaphore) -> Permit {
    timeout(BOUND, semaphore.acquire().into_future()).await.expect("in time").expect("a permit")
}

/// Lets the master die with all its writes since its replication was cut.
fn fail_over(servers: &mut SentinelServers) {
    let old = servers.master();
    servers.kill(old);
    servers.resume_all();
    servers.until_promoted(old);
}

fn is_about_replicas(error: &AcquireError) -> bool {
    matches!(error, AcquireError::Store(error) if error.to_string().contains("replicated="))
}

#[tokio::test]
async fn a_grant_that_no_replica_had_is_given_again_without_replicated() {
    let mut servers = SentinelServers::start(REPLICAS);
    let first = client_of_this_master(&servers, "").await;
    servers.cut_replication();
    let one = held(&first).await;
    fail_over(&mut servers);
    let second = client(&servers.url("")).await;
    let other = held(&second).await;
    // docs/guide/promises.md does not promise more here. The fence protects the resource.
    assert!(one.is_held() && other.is_held());
    assert!(other.fence() > one.fence());
}

#[tokio::test]
async fn a_grant_that_no_replica_has_is_not_believed_with_replicated() {
    let mut servers = SentinelServers::start(REPLICAS);
    let first = client_of_this_master(&servers, "?replicated=2").await;
    servers.cut_replication();
    let refused = first.acquire().await.expect_err("no replica has it");
    assert!(is_about_replicas(&refused), "{refused}");
    fail_over(&mut servers);
    servers.start_again(servers.replicas().into_iter().find(|node| !servers.is_up(*node)).unwrap());
    // Until both replicas follow, `replicated=2` rightly refuses.
    servers.until_all_follow();
    let second = client(&servers.url("?replicated=2")).await;
    assert!(held(&second).await.is_held());
}

#[tokio::test]
async fn a_grant_that_one_of_two_replicas_had_is_given_again_if_that_one_dies_as_well() {
    let mut servers = SentinelServers::start(REPLICAS);
    let first = client_of_this_master(&servers, "?replicated=1").await;
    let (master, replicas) = (servers.master(), servers.replicas());
    servers.cut_replication();
    servers.resume(replicas[0]);
    until("one replica is back", || servers.connected_replicas(master) == Some(1));
    let one = held(&first).await;
    servers.kill(replicas[0]);
    fail_over(&mut servers);
    let other = held(&client(&servers.url("")).await).await;
    // So only `replicated` with the number of all replicas is certain. The fence protects the
    // resource.
    assert!(one.is_held() && other.is_held());
    assert!(other.fence() > one.fence());
}

#[tokio::test]
async fn a_permit_handed_on_by_a_wakeup_is_not_believed_before_replicas_have_it() {
    let servers = SentinelServers::start(REPLICAS);
    let url = servers.url("?replicated=2");
    let (first, second) = (client(&url).await, client(&url).await);
    let permit = held(&first).await;
    let bounded = second.acquire().timeout(Duration::from_secs(10));
    let waiting = tokio::spawn(bounded.into_future());
    eventually(&first, |seen| seen.waiting_total == 1).await;
    servers.cut_replication();
    permit.release().await.expect("a release does not wait for replicas for ever");
    // A request that was granted while it waited also waits until replicas confirm the grant, so
    // its answer may take until its timeout.
    let refused = timeout(BOUND, waiting).await.expect("in time").unwrap();
    let refused = refused.expect_err("no replica has it");
    assert!(is_about_replicas(&refused), "{refused}");
    servers.replicas().iter().for_each(|replica| servers.resume(*replica));
    servers.until_whole();
    assert!(held(&second).await.is_held());
}

#[tokio::test]
async fn a_renewal_that_no_replica_has_extends_nothing() {
    let servers = SentinelServers::start(REPLICAS);
    let semaphore = client(&servers.url("?replicated=1")).await;
    let permit = semaphore.acquire().ttl(Duration::from_secs(2)).await.unwrap();
    permit.changed().await; // a renewal
    assert!(permit.is_held());
    servers.cut_replication();
    let lost = timeout(BOUND, permit.lost()).await.expect("in time");
    assert_eq!(lost, Lost::Silence);
}

#[tokio::test]
async fn a_guarded_write_that_no_replica_has_is_not_reported_as_applied() {
    let servers = SentinelServers::start(1);
    let permit = held(&client(&servers.url("?replicated=1")).await).await;
    permit
        .guarded(|tx| {
            tx.set("key", "one");
        })
        .await
        .expect("its replica has it");
    servers.cut_replication();
    let written = permit
        .guarded(|tx| {
            tx.set("key", "two");
        })
        .await;
    assert!(matches!(written, Err(GuardedError::Unknown(_))), "{written:?}");
}

#[tokio::test]
async fn contention_is_no_error_though_replicas_are_missing() {
    let servers = SentinelServers::start(1);
    let url = servers.url("?replicated=1");
    let (first, second) = (client(&url).await, client(&url).await);
    let _permit = held(&first).await;
    servers.cut_replication();
    assert!(second.try_acquire().await.expect("an answer").is_none());
}

#[tokio::test]
async fn missing_replicas_are_reported_at_once_and_the_grant_is_undone() {
    let servers = SentinelServers::shared();
    let url = servers.url("?replicated=3&prefix=never:");
    let seinpaal = Seinpaal::connect(&url).await.unwrap(); // with the default patience
    let advice = seinpaal.diagnose().await.unwrap().advice;
    assert!(advice.iter().any(|advice| advice.text.contains("replicated=3")));
    let semaphore = seinpaal.semaphore(NAME);
    let refused = semaphore.acquire().await.expect_err("there are two");
    let AcquireError::Store(error) = refused else { panic!("{refused}") };
    assert_eq!(error.kind(), StoreErrorKind::Misconfigured);
    assert!(error.to_string().contains("2 of the 3 replicas"), "{error}");
    eventually(&semaphore, |seen| seen.permits_held == 0).await;
}

#[tokio::test]
async fn a_holder_keeps_its_permit_over_a_failover_and_a_waiter_its_turn() {
    let mut servers = SentinelServers::start(REPLICAS);
    let url = servers.url("?replicated=1");
    let (first, second) = (client(&url).await, client(&url).await);
    let permit = held(&first).await;
    let waiting = tokio::spawn(second.acquire().timeout(BOUND).into_future());
    eventually(&first, |seen| seen.waiting_total == 1).await;
    fail_over(&mut servers);
    eventually(&first, |seen| seen.waiting_total == 1 && seen.permits_held == 1).await;
    assert!(permit.is_held());
    let fence = permit.fence();
    permit.release().await.expect("the next master has it");
    let next = timeout(BOUND, waiting).await.expect("in time").unwrap().expect("its turn");
    assert!(next.fence() > fence);
}

#[tokio::test]
async fn an_idle_client_follows_the_master_when_the_sentinels_say_that_it_moved() {
    let servers = SentinelServers::start(1);
    let _client = client(&servers.url("")).await;
    let old = servers.master();
    servers.pause(old); // its connections stay open and silent
    servers.until_promoted(old);
    let inboxes = || servers.ask(servers.master(), "PUBSUB CHANNELS *inbox:*").unwrap_or_default();
    until("the client listens at the next master", || !inboxes().is_empty());
}

#[tokio::test]
async fn a_master_that_comes_back_from_the_dead_confirms_nothing() {
    let servers = SentinelServers::start(1);
    let at_the_old = client_of_this_master(&servers, "?replicated=1").await;
    let old = servers.master();
    servers.pause(old);
    servers.until_promoted(old);
    let permit = held(&client(&servers.url("")).await).await;
    servers.resume(old);
    assert!(at_the_old.acquire().await.is_err());
    assert!(permit.is_held());
}

#[tokio::test]
async fn one_sentinel_that_answers_is_enough() {
    let mut servers = SentinelServers::start(0);
    servers.kill_sentinel(0);
    servers.pause_sentinel(1);
    assert!(held(&client(&servers.url("")).await).await.is_held());
}

/// The example `failover` of this crate is the long run.
#[test]
fn masters_die_under_load_and_nobody_holds_too_much_with_replicated() {
    for fault in [MasterFault::Killed, MasterFault::RushLost] {
        let (clients, limit, replicated) = (16, 3, Some(2));
        let plan = FailoverPlan {
            clients,
            limit,
            kills: 1,
            replicas: REPLICAS,
            replicated,
            fault,
            seed: 7,
        };
        let report = run(&plan);
        println!("{report}");
        assert_eq!(report.tally.over_admissions, 0, "{report}");
        assert!(report.recoveries.quantile(1.0) < SOON, "{report}");
    }
}
