//! Queues on Redis, with cases that only a real server shows.

#[path = "redis_queues/damage.rs"]
mod damage;
#[path = "support/requests.rs"]
mod requests;

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use redis::{Cmd, FromRedisValue, aio::MultiplexedConnection, cmd};
use requests::{Client, acquire, plain};
use seinpaal::store::{Certainty, News, Store, StoreError, StoreErrorKind};
use seinpaal_proto::{
    Name, Priority,
    queue::{
        Batch, Configure, Dedup, Delivery, Due, How, MAX_PAYLOAD_BYTES, Pop, Popped, Push, Renew,
        Replies, Reply, Request, What,
    },
    time::SECOND,
};
use seinpaal_rig::Proxy;
use seinpaal_rig::RedisServer;
use tokio::time::timeout;

const BOUND: Duration = Duration::from_secs(30);
const LATER: u64 = 1 << 52;
const RECORDS: &str = "seinpaal:{n}:q";

fn batch(client: &Client, number: u64, requests: Vec<Request>) -> Batch {
    let name = Name::new("n").unwrap();
    Batch { name, session: client.inbox, number, not_after: LATER, seen: 0, requests }
}

async fn send(client: &Client, number: u64, request: Request) -> Result<Reply, StoreError> {
    let batch = batch(client, number, vec![request]);
    Ok(client.store.call_queue(&batch).await?.replies.remove(0))
}

/// Sends a batch again, as a session does, until it is answered. Returns the replies, and the
/// number of tries.
async fn insist(client: &Client, batch: &Batch) -> (Replies, u32) {
    let mut tries = 1;
    let insisting = async {
        loop {
            match client.store.call_queue(batch).await {
                Ok(replies) => return replies,
                Err(error) => assert!(error.is_passing(), "{error}"),
            }
            tries += 1;
        }
    };
    let replies = timeout(BOUND, insisting).await.expect("an answer");
    (replies, tries)
}

fn push(payload: &[u8]) -> Push {
    Push {
        payload: payload.to_vec(),
        priority: Priority::default(),
        due: Due::Now,
        group: None,
        dedup: None,
        most: 3,
        about: String::new(),
    }
}

fn pop(items: u32, wait: bool) -> Request {
    let (ttl, margin) = (60 * SECOND, SECOND);
    Request::Pop(Pop { items, ttl, margin, wait, drains: false, about: String::new() })
}

fn finish(delivery: Delivery) -> Request {
    Request::Finish { delivery, how: How::Acknowledge }
}

fn popped(reply: Reply) -> Vec<Popped> {
    match reply {
        Reply::Popped { items, .. } => items,
        other => panic!("{other:?}"),
    }
}

async fn say<T: FromRedisValue>(connection: &mut MultiplexedConnection, command: &mut Cmd) -> T {
    command.query_async(connection).await.unwrap()
}

/// Calls by command since the last `CONFIG RESETSTAT`.
async fn calls(connection: &mut MultiplexedConnection) -> HashMap<String, u64> {
    let info: String = say(connection, cmd("INFO").arg("commandstats")).await;
    let lines = info.lines().filter_map(|line| line.strip_prefix("cmdstat_")?.split_once(':'));
    let ours = lines.filter(|(command, _)| !command.starts_with("config") && *command != "info");
    ours.map(|(command, figures)| {
        (command.to_owned(), figures.split(['=', ',']).nth(1).unwrap().parse().unwrap())
    })
    .collect()
}

fn counts(list: &[(&str, u64)]) -> HashMap<String, u64> {
    list.iter().map(|(command, count)| ((*command).to_owned(), *count)).collect()
}

#[tokio::test]
async fn a_push_is_one_command_of_four_and_acknowledging_with_a_pop_one_of_nine() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let mut behind = plain(&server.socket_url("")).await;
    for number in 1..=3 {
        send(&client, number, Request::Push(push(b"x"))).await.unwrap();
    }
    let first = popped(send(&client, 4, pop(1, true)).await.unwrap()).remove(0).delivery;
    say::<()>(&mut behind, cmd("CONFIG").arg("RESETSTAT")).await;
    send(&client, 5, Request::Push(push(b"x"))).await.unwrap();
    let expected = [("evalsha", 1), ("time", 1), ("hmget", 1), ("hset", 1), ("zadd", 1)];
    assert_eq!(calls(&mut behind).await, counts(&expected));
    say::<()>(&mut behind, cmd("CONFIG").arg("RESETSTAT")).await;
    let both = batch(&client, 6, vec![finish(first), pop(1, true)]);
    client.store.call_queue(&both).await.unwrap();
    let reads = [("evalsha", 1), ("time", 1), ("hget", 1), ("hmget", 2), ("zrange", 1)];
    let writes = [("zadd", 1), ("zrem", 1), ("hdel", 1), ("hset", 1)];
    assert_eq!(calls(&mut behind).await, counts(&[&reads[..], &writes].concat()));
}

#[tokio::test]
async fn a_batch_whose_answer_was_lost_is_executed_once() {
    let server = RedisServer::start();
    let port = server.port();
    let proxy = Proxy::start(port).unwrap();
    let client = Client::connect(&proxy.url(), 1).await;
    let direct = Client::connect(&format!("redis://127.0.0.1:{port}"), 2).await;
    // The server knows the script. So the call whose answer is cut off was executed.
    assert!(popped(send(&direct, 1, pop(8, false)).await.unwrap()).is_empty());
    proxy.cut_after("EVALSHA");
    let (pushed, tries) =
        insist(&client, &batch(&client, 1, vec![Request::Push(push(b"once"))])).await;
    assert_eq!((proxy.trapped(), tries), (1, 2));
    let Reply::Pushed { id } = pushed.replies[0] else { panic!("{pushed:?}") };

    proxy.cut_after("EVALSHA");
    let (delivered, tries) = insist(&client, &batch(&client, 2, vec![pop(8, false)])).await;
    assert_eq!((proxy.trapped(), tries), (2, 2));
    let items = popped(delivered.replies[0].clone());
    assert_eq!(items.len(), 1, "{items:?}");
    assert_eq!((items[0].delivery.id, items[0].attempt), (id, 1));
    assert_eq!(items[0].payload, b"once");
    let left = popped(send(&direct, 2, pop(8, false)).await.unwrap());
    assert!(left.is_empty(), "{left:?}");

    proxy.cut_after("EVALSHA");
    let done = batch(&client, 3, vec![finish(items[0].delivery)]);
    let (done, tries) = insist(&client, &done).await;
    assert_eq!((proxy.trapped(), tries), (3, 2));
    assert_eq!(done.replies, [Reply::Acknowledged { id }]);
}

#[tokio::test]
async fn without_memory_nothing_is_put_in_but_everything_can_be_taken_out() {
    let server = RedisServer::with(&["--maxmemory-policy", "noeviction"]);
    let client = Client::connect(&server.socket_url(""), 1).await;
    let mut behind = plain(&server.socket_url("")).await;
    for number in 1..=3 {
        send(&client, number, Request::Push(push(b"x"))).await.unwrap();
    }
    let first = popped(send(&client, 4, pop(1, false)).await.unwrap()).remove(0).delivery;
    say::<()>(&mut behind, cmd("CONFIG").arg("SET").arg("maxmemory").arg(1)).await;
    let delayed = Push { due: Due::In(SECOND), ..push(b"x") };
    for (number, push) in [(5, push(b"x")), (6, delayed)] {
        let error = send(&client, number, Request::Push(push)).await.unwrap_err();
        let full = (StoreErrorKind::Full, Certainty::NotExecuted);
        assert_eq!((error.kind(), error.certainty()), full, "{error}");
    }
    let deliveries = vec![first];
    let renew = Request::Renew(Renew { ttl: 60 * SECOND, margin: SECOND, deliveries });
    let renewed = send(&client, 7, renew).await.unwrap();
    assert!(matches!(renewed, Reply::Renewed { .. }), "{renewed:?}");
    let both = batch(&client, 8, vec![finish(first), pop(8, true)]);
    let replies = client.store.call_queue(&both).await.unwrap().replies;
    assert_eq!(replies[0], Reply::Acknowledged { id: first.id });
    let rest = popped(replies[1].clone());
    assert_eq!(rest.len(), 2, "{rest:?}");
    let all = rest.iter().map(|item| finish(item.delivery)).collect();
    client.store.call_queue(&batch(&client, 9, all)).await.unwrap();
}

#[tokio::test]
async fn a_request_out_of_range_is_refused_before_anything_is_written() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let mut behind = plain(&server.socket_url("")).await;
    let wrong_ttl =
        Pop { items: 1, ttl: 1, margin: 0, wait: true, drains: false, about: String::new() };
    let dedup = Dedup { key: Name::new("k").unwrap(), window: LATER };
    let wrong = [
        vec![Request::Push(push(&vec![0; MAX_PAYLOAD_BYTES + 1]))],
        vec![Request::Push(push(&vec![0; MAX_PAYLOAD_BYTES])); 5],
        vec![Request::Push(push(b"")); Batch::MOST + 1],
        vec![Request::Push(Push { most: 0, ..push(b"") })],
        vec![Request::Push(Push { about: "x".repeat(4097), ..push(b"") })],
        vec![Request::Push(Push { dedup: Some(dedup), ..push(b"") })],
        vec![Request::Push(push(b"")), Request::Pop(wrong_ttl)],
        vec![Request::Push(push(b"")), pop(Batch::MOST_ITEMS + 1, false)],
    ];
    for requests in wrong {
        let error = client.store.call_queue(&batch(&client, 1, requests)).await.unwrap_err();
        let refused = (StoreErrorKind::Internal, Certainty::NotExecuted);
        assert_eq!((error.kind(), error.certainty()), refused, "{error}");
        assert_eq!(say::<u64>(&mut behind, &mut cmd("DBSIZE")).await, 0);
    }
    let largest = push(&vec![0xff; MAX_PAYLOAD_BYTES]);
    send(&client, 1, Request::Push(largest.clone())).await.unwrap();
    let items = popped(send(&client, 2, pop(1, false)).await.unwrap());
    assert_eq!(items[0].payload, largest.payload);
}

#[tokio::test]
async fn keys_with_items_do_not_expire_and_keys_with_only_memories_do() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let mut behind = plain(&server.socket_url("")).await;
    let ttls = async |behind: &mut MultiplexedConnection| {
        let mut ttls = Vec::new();
        for key in [RECORDS.to_owned(), format!("{RECORDS}:o")] {
            ttls.push(say::<i64>(behind, cmd("PTTL").arg(key)).await);
        }
        ttls
    };
    let now = send(&client, 0, Request::Inspect { rows: 0 }).await;
    assert!(now.is_ok());
    assert_eq!(ttls(&mut behind).await, [-2, -2], "reading leaves nothing behind");
    let empty = client.store.call_queue(&batch(&client, 0, vec![])).await.unwrap();
    let soon =
        |request| Batch { not_after: empty.now + 30 * SECOND, ..batch(&client, 1, vec![request]) };
    // First there are only a session and a place, then also an item, and then only the session and
    // the place again. The keys outlive memories by half a day, and a place lasts three minutes.
    const HALF_A_DAY: i64 = 43_200_000;
    let asked = Instant::now();
    client.store.call_queue(&soon(pop(1, true))).await.unwrap();
    let remembered = ttls(&mut behind).await;
    let passed = i64::try_from(asked.elapsed().as_millis()).unwrap() + 1;
    assert!(
        remembered.iter().all(|ttl| (180_000..600_000).contains(&(ttl + passed - HALF_A_DAY))),
        "{remembered:?}"
    );
    let next = |number, request| Batch { number, ..soon(request) };
    client.store.call_queue(&next(2, Request::Push(push(b"x")))).await.unwrap();
    assert_eq!(ttls(&mut behind).await, [-1, -1]);
    let replies = client.store.call_queue(&next(3, pop(1, false))).await.unwrap().replies;
    let delivery = popped(replies[0].clone()).remove(0).delivery;
    client.store.call_queue(&next(4, finish(delivery))).await.unwrap();
    let remembered = ttls(&mut behind).await;
    assert!(
        remembered.iter().all(|ttl| (20_000..600_000).contains(&(ttl - HALF_A_DAY))),
        "{remembered:?}"
    );
    client.store.call_queue(&next(5, Request::Configure(Configure::Limit(None)))).await.unwrap();
    let pause = Request::Configure(Configure::Pause(String::new()));
    client.store.call_queue(&next(6, pause)).await.unwrap();
    assert_eq!(ttls(&mut behind).await, [-1, -1]);
}

#[tokio::test]
async fn a_queue_and_a_semaphore_of_one_name_have_nothing_to_do_with_each_other() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    for name in ["a", "a{b}c", "zürich", "100%"] {
        let push = batch(&client, 1, vec![Request::Push(push(b"x"))]);
        let push = Batch { name: Name::new(name).unwrap(), ..push };
        client.store.call_queue(&push).await.unwrap();
    }
    client.ask("a", acquire(1)).await.unwrap();
    client.ask("b", acquire(2)).await.unwrap();
    let queues = client.store.list_queues("").await.unwrap();
    let names = queues.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
    assert_eq!(names, ["100%", "a", "a{b}c", "zürich"]);
    assert!(queues.iter().all(|(_, snapshot)| snapshot.ready == 1));
    let semaphores = client.store.list("").await.unwrap();
    let names = semaphores.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(client.store.list_queues("a").await.unwrap().len(), 2);
}

#[tokio::test]
async fn an_idle_worker_is_called_and_nobody_else() {
    let server = RedisServer::start();
    let mut worker = Client::connect(&server.socket_url(""), 1).await;
    let mut other = Client::connect(&server.socket_url(""), 2).await;
    let maker = Client::connect(&server.socket_url(""), 3).await;
    send(&worker, 1, pop(1, true)).await.unwrap();
    send(&other, 1, pop(1, true)).await.unwrap();
    send(&maker, 1, Request::Push(push(b"x"))).await.unwrap();
    let News::Queue(wakeup) = timeout(BOUND, worker.news.recv()).await.unwrap().unwrap() else {
        panic!("news of a queue")
    };
    assert_eq!((wakeup.name.as_str(), wakeup.what), ("n", What::Called));
    // The other worker is the first in line now. It is told when the call will have gone
    // unanswered.
    let News::Queue(wakeup) = timeout(BOUND, other.news.recv()).await.unwrap().unwrap() else {
        panic!("news of a queue")
    };
    assert!(matches!(wakeup.what, What::Watch { .. }), "{wakeup:?}");
    assert!(other.news.try_recv().is_err());
}
