//! The conformance suite, over a store with the mistake in it.

use std::{fs::File, panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt;
use seinpaal::Seinpaal;
use seinpaal_conformance::{
    CASES, Case, CaseStage, EmbeddedHarness, Harness, MemoryHarness, QUEUE_CASES, QuorumHarness,
    RedisHarness,
};

use seinpaal_rig::{RedisServer, SentinelServers};

use crate::catalogue::SuiteRun;

const REPLICAS: usize = 1;
/// The longest time of a case. Every case is much shorter, unless it waits for an event that never
/// comes.
const BOUND: Duration = Duration::from_secs(60);

/// The first case that fails.
pub(crate) async fn first_failed(orders: &SuiteRun) -> Option<String> {
    match orders.store {
        "failover" => return believed_without_replicas().await,
        "cut" => return deaf_after_a_cut().await,
        "gate" => return granted_through_a_locked_gate().await,
        _ => {}
    }
    std::panic::set_hook(Box::new(|_| {}));
    let (all, cases) = match orders.what.starts_with("queues") {
        true => ("queues", QUEUE_CASES),
        false => ("all", CASES),
    };
    let what = orders.what.trim_start_matches("queues:");
    for case in cases.iter().filter(|case| what == all || case.name.ends_with(what)) {
        if fails(case, orders.store).await {
            return Some(format!("{}: {}", orders.store, case.name.replace("::", ": ")));
        }
    }
    None
}

fn harness(store: &str) -> Box<dyn Harness> {
    match store {
        "memory" => Box::new(MemoryHarness::new()),
        "embedded" => Box::new(EmbeddedHarness::new()),
        "quorum" => Box::new(QuorumHarness::new()),
        _ => Box::new(RedisHarness::new()),
    }
}

async fn fails(case: &Case, store: &str) -> bool {
    let run = async {
        let stage = CaseStage::of(harness(store));
        if stage.lacks(case.needs).is_none() {
            (case.run)(&stage).await;
        }
    };
    let done = tokio::time::timeout(BOUND, AssertUnwindSafe(run).catch_unwind()).await;
    !matches!(done, Ok(Ok(())))
}

/// The check of `a_grant_that_no_replica_has_is_not_believed_with_replicated`, which is a test
/// outside the list of cases.
async fn believed_without_replicas() -> Option<String> {
    let servers = SentinelServers::start(REPLICAS);
    let url = format!("redis://127.0.0.1:{}?replicated={REPLICAS}", servers.port(servers.master()));
    let connected = Seinpaal::builder(&url).patience(Duration::from_secs(1)).connect().await;
    let semaphore = connected.unwrap_or_else(|why| panic!("{why}")).semaphore("n");
    servers.cut_replication();
    let permit = semaphore.acquire().await;
    permit.is_ok().then(|| "fail-over: a grant that no replica has is believed".to_owned())
}

/// The check of `a_killed_connection_comes_back_subscribed_and_says_look_again`, which is a test of
/// the store. An answer after the cut comes over a new connection, which subscribes before anything
/// uses it.
async fn deaf_after_a_cut() -> Option<String> {
    let server = RedisServer::start();
    let connected = Seinpaal::connect(&server.url("")).await;
    let semaphore = connected.unwrap_or_else(|why| panic!("{why}")).semaphore("n");
    let client = redis::Client::open(server.url("")).unwrap_or_else(|why| panic!("{why}"));
    let config = redis::AsyncConnectionConfig::new().set_response_timeout(None);
    let connection = client.get_multiplexed_async_connection_with_config(&config).await;
    let mut connection = connection.unwrap_or_else(|why| panic!("{why}"));
    let mut kill = redis::cmd("CLIENT");
    let killed =
        kill.arg("KILL").arg("TYPE").arg("pubsub").query_async::<u64>(&mut connection).await;
    assert_eq!(killed.ok(), Some(1), "there was a subscription to cut");
    while semaphore.snapshot().await.is_err() {}
    let mut ask = redis::cmd("PUBSUB");
    let channels = ask.arg("CHANNELS").query_async::<Vec<String>>(&mut connection).await;
    let is_deaf = channels.is_ok_and(|channels| channels.is_empty());
    is_deaf.then(|| "redis: a client whose connection was cut is deaf".to_owned())
}

/// The check of `newcomers_and_clients_inside_are_told_which_process_keeps_the_gate_locked`, which
/// is a test of the store.
async fn granted_through_a_locked_gate() -> Option<String> {
    let directory = tempfile::tempdir().unwrap_or_else(|why| panic!("{why}"));
    let url = format!("file:{}", directory.path().display());
    let connected = Seinpaal::builder(&url).patience(Duration::from_secs(1)).connect().await;
    let semaphore = connected.unwrap_or_else(|why| panic!("{why}")).semaphore("n");
    let gate = File::open(directory.path().join("gate"));
    let gate = gate.unwrap_or_else(|why| panic!("{why}"));
    gate.lock().unwrap_or_else(|why| panic!("{why}"));
    let permit = semaphore.acquire().await;
    permit.is_ok().then(|| "embedded: a step is made while another is inside the gate".to_owned())
}
