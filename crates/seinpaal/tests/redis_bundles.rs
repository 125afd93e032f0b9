//! Calls about many names that are due together share round trips. The failure of one has no effect
//! on the others.

#[path = "support/requests.rs"]
mod requests;

use std::time::Duration;

use futures_util::future::try_join_all;
use redis::{aio::MultiplexedConnection, cmd};
use requests::{Client, acquire, is_granted, plain, release};
use seinpaal::{
    Seinpaal,
    store::{Certainty, Store, StoreErrorKind},
};
use seinpaal_proto::{Batch, Replies, Reply};
use seinpaal_rig::RedisServer;
use tokio::time::timeout;

type Outcome = Result<Replies, seinpaal::store::StoreError>;

async fn bundle(client: &Client, batches: &[Batch]) -> Vec<Outcome> {
    client.store.bundles().expect("one server has them").call_bundle(batches).await
}

/// How many scripts the server has run since the last `CONFIG RESETSTAT`.
async fn scripts_run(behind: &mut MultiplexedConnection) -> u64 {
    let info: String = cmd("INFO").arg("commandstats").query_async(behind).await.unwrap();
    let line = info.lines().find_map(|line| line.strip_prefix("cmdstat_evalsha:calls="));
    line.map_or(0, |line| line.split(',').next().unwrap().parse().unwrap())
}

async fn reset(behind: &mut MultiplexedConnection) {
    cmd("CONFIG").arg("RESETSTAT").exec_async(behind).await.unwrap();
}

#[tokio::test]
async fn a_name_that_cannot_be_used_fails_alone_and_the_others_are_executed() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let mut behind = plain(&server.socket_url("")).await;
    cmd("SET").arg("seinpaal:{text}").arg("mine").exec_async(&mut behind).await.unwrap();
    cmd("HSET").arg("seinpaal:{hash}").arg("h").arg("odd").exec_async(&mut behind).await.unwrap();
    let names = ["a", "text", "b", "hash", "c"];
    let ask = |(name, ticket): (&&str, u128)| client.batch(name, vec![acquire(ticket)]);
    let batches: Vec<_> = names.iter().zip(1..).map(ask).collect();
    let outcomes = bundle(&client, &batches).await;
    assert_eq!(outcomes.len(), names.len());
    for (name, outcome) in names.iter().zip(outcomes) {
        match outcome {
            Ok(replies) => assert!(is_granted(&replies.replies[0]), "{name}"),
            Err(error) => {
                assert!(["text", "hash"].contains(name), "{name}: {error}");
                assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{name}: {error}");
                assert_eq!(error.certainty(), Certainty::NotExecuted, "{name}: {error}");
            }
        }
    }
    for (name, ticket) in [("a", 1), ("b", 3), ("c", 5)] {
        assert!(matches!(client.release(name, ticket).await, Reply::Released { .. }), "{name}");
    }
}

#[tokio::test]
async fn batches_of_many_requests_each_get_their_own_answers() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let take = |name, ticket| client.batch(name, vec![acquire(ticket), acquire(ticket + 1)]);
    let taken = bundle(&client, &[take("a", 1), take("b", 11)]).await;
    for (outcome, ticket) in taken.into_iter().zip([1, 11]) {
        let replies = outcome.unwrap().replies;
        assert!(
            matches!(&replies[0], Reply::Granted(grant) if grant.ticket == requests::ticket(ticket))
        );
        assert!(
            matches!(&replies[1], Reply::Queued { ticket: it, .. } if *it == requests::ticket(ticket + 1))
        );
    }
    let give = |name, ticket| client.batch(name, vec![release(ticket), release(ticket)]);
    for outcome in bundle(&client, &[give("a", 1), give("b", 11)]).await {
        let replies = outcome.unwrap().replies;
        assert!(matches!(replies[0], Reply::Released { left: 0, .. }), "{replies:?}");
        assert!(matches!(replies[1], Reply::Ended { .. }), "{replies:?}");
    }
}

#[tokio::test]
async fn a_demoted_server_has_executed_nothing_of_a_bundle() {
    let server = RedisServer::start();
    let mut behind = plain(&server.socket_url("")).await;
    let client = Client::connect(&server.socket_url(""), 1).await;
    cmd("REPLICAOF").arg("127.0.0.1").arg(1).exec_async(&mut behind).await.unwrap();
    let batches = ["a", "b"].map(|name| client.batch(name, vec![acquire(1)]));
    for outcome in bundle(&client, &batches).await {
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unreachable, "{error}");
        assert_eq!(error.certainty(), Certainty::NotExecuted, "{error}");
    }
}

#[tokio::test]
async fn without_memory_a_bundle_that_only_asks_for_permits_is_refused_whole() {
    let server = RedisServer::with(&["--maxmemory-policy", "noeviction"]);
    let client = Client::connect(&server.socket_url(""), 1).await;
    let mut behind = plain(&server.socket_url("")).await;
    cmd("CONFIG").arg("SET").arg("maxmemory").arg(1).exec_async(&mut behind).await.unwrap();
    let batches = ["a", "b", "c"].map(|name| client.batch(name, vec![acquire(1)]));
    for outcome in bundle(&client, &batches).await {
        let error = outcome.unwrap_err();
        let expected = (StoreErrorKind::Full, Certainty::NotExecuted);
        assert_eq!((error.kind(), error.certainty()), expected, "{error}");
    }
    let keys: u64 = cmd("DBSIZE").query_async(&mut behind).await.unwrap();
    assert_eq!(keys, 0);
}

/// The leases of these names are renewed by far fewer calls than there are names.
#[tokio::test]
async fn one_client_holds_thousands_of_names_and_few_calls_renew_them() {
    const NAMES: u64 = 4_000;
    let server = RedisServer::start();
    let seinpaal = Seinpaal::connect(&server.socket_url("")).await.unwrap();
    let mut behind = plain(&server.socket_url("")).await;
    reset(&mut behind).await;
    let ask = |i| seinpaal.semaphore(&format!("n{i}")).limit(1).acquire().into_future();
    let held = try_join_all((0..NAMES).map(ask)).await.unwrap();
    let asked = scripts_run(&mut behind).await;
    assert!(asked <= NAMES / 2, "{asked} calls for {NAMES} names");
    reset(&mut behind).await;
    let before = seinpaal.statistics().renewals;
    let renewed = async {
        while seinpaal.statistics().renewals < before + NAMES {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_secs(120), renewed).await.expect("renewals go on");
    let renewing = scripts_run(&mut behind).await;
    let renewals = seinpaal.statistics().renewals - before;
    assert!(renewing <= renewals / 2, "{renewing} calls for {renewals} renewals");
    let released = try_join_all(held.into_iter().map(|permit| permit.release())).await;
    assert!(released.is_ok(), "{released:?}");
    assert!(seinpaal.list("").await.unwrap().is_empty());
}
