//! Keys that are not ours, that another version wrote, or that are damaged.

#[path = "cut.rs"]
mod cut;

use redis::{aio::MultiplexedConnection, cmd};
use seinpaal::store::{Certainty, Store, StoreErrorKind};
use seinpaal_proto::Request;
use seinpaal_rig::RedisServer;

use super::{
    requests::{Client, acquire, is_granted, plain, release, ticket},
    say,
};

#[tokio::test]
async fn a_key_that_is_not_ours_is_a_typed_answer_and_stays_as_it_was() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let mut behind = plain(&server.socket_url("")).await;
    say::<()>(&mut behind, cmd("SET").arg("seinpaal:{text}").arg("mine")).await;
    say::<()>(&mut behind, cmd("HSET").arg("seinpaal:{hash}").arg("a").arg("b")).await;
    say::<()>(&mut behind, cmd("SET").arg("seinpaal:{order}:o").arg("mine")).await;
    say::<()>(&mut behind, cmd("ZADD").arg("seinpaal:{zset}:o").arg(1).arg("mine")).await;
    say::<()>(&mut behind, cmd("HSET").arg("seinpaal:{head}").arg("h").arg("nonsense")).await;
    let all = |_| async {
        let mut behind = plain(&server.socket_url("")).await;
        say::<Vec<String>>(&mut behind, cmd("KEYS").arg("*")).await.len()
    };
    assert_eq!(all(()).await, 5);
    for name in ["text", "hash", "order", "zset", "head"] {
        for request in [acquire(1), release(1), Request::Inspect { rows: 1 }] {
            let error = client.ask(name, request).await.unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{name}: {error}");
            assert_eq!(error.certainty(), Certainty::NotExecuted, "{name}: {error}");
            assert!(!error.to_string().contains("user_script"), "{error}");
        }
    }
    assert_eq!(all(()).await, 5);
    let kept: String = say(&mut behind, cmd("GET").arg("seinpaal:{text}")).await;
    assert_eq!(kept, "mine");
}

/// The head of a name, with the format of a later version in its first byte.
async fn written_by_a_later_version(server: &RedisServer, key: &str) {
    let mut behind = plain(&server.socket_url("")).await;
    let mut head: Vec<u8> = say(&mut behind, cmd("HGET").arg(key).arg("h")).await;
    head[0] = 31;
    say::<()>(&mut behind, cmd("HSET").arg(key).arg("h").arg(head)).await;
}

#[tokio::test]
async fn data_of_another_version_is_reported_and_left_unchanged() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    client.acquire("later", 1).await;
    written_by_a_later_version(&server, "seinpaal:{later}").await;
    for request in [acquire(2), release(1), Request::Inspect { rows: 1 }] {
        let error = client.ask("later", request).await.unwrap_err();
        let other_version = (StoreErrorKind::OtherVersion, Certainty::NotExecuted);
        assert_eq!((error.kind(), error.certainty()), other_version, "{error}");
        let said = error.to_string();
        assert!(said.contains("written in format") && said.contains("reads format"), "{said}");
        assert!(!said.contains("delete") && !said.contains("damage"), "{said}");
    }
    assert!(is_granted(&client.acquire("good", 3).await));
    let listed = client.store.list("").await.unwrap();
    assert!(listed.iter().any(|(name, _)| name.as_str() == "good"));
}

#[tokio::test]
async fn a_damaged_record_is_a_typed_answer_and_others_go_on() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let mut behind = plain(&server.socket_url("")).await;
    client.acquire("bad", 1).await;
    let record = ticket(1).lease().0.to_be_bytes();
    say::<()>(&mut behind, cmd("HSET").arg("seinpaal:{bad}").arg(&record).arg("?")).await;
    let error = client.ask("bad", release(1)).await.unwrap_err();
    let corrupt = (StoreErrorKind::Corrupt, Certainty::NotExecuted);
    assert_eq!((error.kind(), error.certainty()), corrupt);
    assert!(is_granted(&client.acquire("good", 2).await));
    let listed = client.store.list("").await.unwrap();
    assert!(listed.iter().any(|(name, _)| name.as_str() == "good"));
}

#[tokio::test]
async fn an_order_whose_records_were_evicted_is_dropped() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    client.acquire("n", 1).await;
    client.acquire("n", 2).await;
    let mut behind = plain(&server.socket_url("")).await;
    let listed = async |behind: &mut MultiplexedConnection| {
        say::<u64>(behind, cmd("ZCARD").arg("seinpaal:{n}:o")).await
    };
    // Two records, and a waiter.
    assert_eq!(listed(&mut behind).await, 3);
    say::<()>(&mut behind, cmd("DEL").arg("seinpaal:{n}")).await;
    assert!(is_granted(&client.acquire("n", 3).await));
    assert_eq!(listed(&mut behind).await, 1);
}
