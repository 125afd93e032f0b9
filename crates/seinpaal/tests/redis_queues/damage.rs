//! Keys of queues that are not ours, that another version wrote, or that are damaged.

use redis::cmd;
use seinpaal::store::{Certainty, Store, StoreErrorKind};
use seinpaal_proto::{
    Name,
    queue::{Due, Push, Reply, Request},
    time::SECOND,
};
use seinpaal_rig::RedisServer;

use super::{
    RECORDS, pop, popped, push,
    requests::{Client, plain},
    say, send,
};

#[tokio::test]
async fn a_key_that_is_not_a_queues_is_a_typed_answer_and_stays_as_it_was() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let mut behind = plain(&server.socket_url("")).await;
    let mut set = cmd("SET");
    let mut hset = cmd("HSET");
    for foreign in [
        set.arg(RECORDS).arg("mine"),
        hset.arg(RECORDS).arg("a").arg("b"),
        cmd("HSET").arg(RECORDS).arg("h").arg("nonsense"),
        cmd("SET").arg(format!("{RECORDS}:o")).arg("mine"),
        cmd("ZADD").arg(format!("{RECORDS}:o")).arg(1).arg("mine"),
    ] {
        say::<()>(&mut behind, &mut cmd("FLUSHALL")).await;
        say::<()>(&mut behind, foreign).await;
        for request in [Request::Push(push(b"x")), pop(1, true), Request::Inspect { rows: 1 }] {
            let error = send(&client, 1, request).await.unwrap_err();
            let corrupt = (StoreErrorKind::Corrupt, Certainty::NotExecuted);
            assert_eq!((error.kind(), error.certainty()), corrupt, "{error}");
        }
        assert_eq!(say::<u64>(&mut behind, &mut cmd("DBSIZE")).await, 1);
        assert!(client.store.list_queues("").await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_queue_that_another_version_keeps_is_a_typed_answer() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let mut behind = plain(&server.socket_url("")).await;
    send(&client, 1, Request::Push(push(b"x"))).await.unwrap();
    let mut head: Vec<u8> = say(&mut behind, cmd("HGET").arg(RECORDS).arg("h")).await;
    head[0] += 7;
    say::<()>(&mut behind, cmd("HSET").arg(RECORDS).arg("h").arg(head)).await;
    for request in [Request::Push(push(b"y")), pop(1, false), Request::Inspect { rows: 1 }] {
        let error = send(&client, 2, request).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::OtherVersion, "{error}");
        assert!(!error.to_string().contains("delete"), "{error}");
    }
    assert!(client.store.list_queues("").await.unwrap().is_empty());
}

#[tokio::test]
async fn an_order_whose_records_were_evicted_is_dropped_and_a_damaged_item_is_a_typed_answer() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let mut behind = plain(&server.socket_url("")).await;
    let Reply::Pushed { id } = send(&client, 1, Request::Push(push(b"x"))).await.unwrap() else {
        panic!("it is new")
    };
    let field = [b"i", &id.0.to_be_bytes()[..]].concat();
    say::<()>(&mut behind, cmd("HSET").arg(RECORDS).arg(&field).arg("damage")).await;
    let error = send(&client, 2, pop(1, false)).await.unwrap_err();
    let corrupt = (StoreErrorKind::Corrupt, Certainty::NotExecuted);
    assert_eq!((error.kind(), error.certainty()), corrupt, "{error}");

    say::<()>(&mut behind, cmd("DEL").arg(RECORDS)).await;
    assert!(popped(send(&client, 3, pop(1, false)).await.unwrap()).is_empty());
    send(&client, 4, Request::Push(push(b"y"))).await.unwrap();
    assert_eq!(popped(send(&client, 5, pop(8, false)).await.unwrap()).len(), 1);
}

/// One item alone, which the straight path would deliver, and two items together.
#[tokio::test]
async fn an_item_whose_payload_is_gone_is_a_typed_answer_until_it_is_cancelled() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let mut behind = plain(&server.socket_url("")).await;
    let Reply::Pushed { id } = send(&client, 1, Request::Push(push(b"x"))).await.unwrap() else {
        panic!("it is new")
    };
    let field = [b"p", &id.0.to_be_bytes()[..]].concat();
    say::<()>(&mut behind, cmd("HDEL").arg(RECORDS).arg(&field)).await;
    send(&client, 2, Request::Push(push(b""))).await.unwrap();
    for (number, items) in [(3, 1), (4, 2)] {
        let error = send(&client, number, pop(items, false)).await.unwrap_err();
        let corrupt = (StoreErrorKind::Corrupt, Certainty::NotExecuted);
        assert_eq!((error.kind(), error.certainty()), corrupt, "{error}");
        assert!(
            error.to_string().contains("payload") && error.to_string().contains("cancel"),
            "{error}"
        );
    }
    send(&client, 5, Request::Cancel { id, spares_work: false }).await.unwrap();
    let rest = popped(send(&client, 6, pop(2, false)).await.unwrap());
    assert_eq!(rest.iter().map(|item| item.payload.as_slice()).collect::<Vec<_>>(), [b""]);
}

#[tokio::test]
async fn a_queue_that_contradicts_itself_is_found_and_a_whole_one_is_not() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let mut behind = plain(&server.socket_url("")).await;
    for number in 1..=3 {
        send(&client, number, Request::Push(push(b"x"))).await.unwrap();
    }
    let delivered = popped(send(&client, 4, pop(2, false)).await.unwrap());
    let seen = client.store.examine(10).await.unwrap();
    assert_eq!((seen.queues, seen.is_clean()), (1, true), "{seen:?}");
    let field = [b"i", &delivered[0].delivery.id.0.to_be_bytes()[..]].concat();
    say::<()>(&mut behind, cmd("HDEL").arg(RECORDS).arg(&field)).await;
    let seen = client.store.examine(10).await.unwrap();
    assert_eq!(seen.contradictions.len(), 1, "{seen:?}");
    let found = &seen.contradictions[0];
    assert!(found.is_queue && found.to_string().starts_with("the queue n: "), "{found}");
}

/// Damage that an operator should learn of although no worker has come for the items yet.
#[tokio::test]
async fn ready_and_delayed_items_that_are_gone_in_part_are_found() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let mut behind = plain(&server.socket_url("")).await;
    let found = async || {
        let seen = client.store.examine(10).await.unwrap();
        seen.contradictions.iter().map(|found| found.text.clone()).collect::<Vec<_>>().join("; ")
    };
    let Reply::Pushed { id } = send(&client, 1, Request::Push(push(b"x"))).await.unwrap() else {
        panic!("it is new")
    };
    let group = Name::new("g").ok();
    send(&client, 2, Request::Push(Push { group, ..push(b"y") })).await.unwrap();
    let due = Due::In(3_600 * SECOND);
    send(&client, 3, Request::Push(Push { due, ..push(b"z") })).await.unwrap();
    assert_eq!(found().await, "");
    let payload = [b"p", &id.0.to_be_bytes()[..]].concat();
    say::<()>(&mut behind, cmd("HDEL").arg(RECORDS).arg(&payload)).await;
    assert_eq!(found().await, format!("the item {id} has 0 of the 1 bytes of its payload"));
    let order = format!("{RECORDS}:o");
    for (first, words) in
        [("a", "the head counts 2 ready, and there are records of 1"), ("d", "1 delayed, and")]
    {
        let mut listed = cmd("ZRANGEBYLEX");
        listed.arg(&order).arg(format!("[{first}")).arg("+").arg("LIMIT").arg(0).arg(1);
        let member: Vec<Vec<u8>> = say(&mut behind, &mut listed).await;
        say::<()>(&mut behind, cmd("ZREM").arg(&order).arg(&member[0])).await;
        let found = found().await;
        assert!(found.contains(words), "{words}: {found}");
    }
    // A server that evicts keys does this.
    say::<()>(&mut behind, cmd("DEL").arg(&order)).await;
    assert_ne!(found().await, "");
}
