//! Guarded writes on a real server: applied wholly while the permit is held, and not at all
//! otherwise.

#[path = "support/guarded.rs"]
mod guarded;
#[path = "guarded_writes/late.rs"]
mod late;
#[path = "support/requests.rs"]
mod requests;

use guarded::{get, held, say};
use redis::cmd;
use requests::plain;
use seinpaal::{GuardedError, Seinpaal, Value, store::StoreErrorKind};
use seinpaal_rig::Proxy;
use seinpaal_rig::RedisServer;

#[tokio::test]
async fn a_permit_that_was_released_or_evicted_writes_nothing() {
    let server = RedisServer::start();
    let (semaphore, released) = held(&server.socket_url("")).await;
    semaphore.release_ticket(released.ticket()).await.unwrap();
    let evicted = semaphore.acquire().await.unwrap();
    semaphore.evict(evicted.ticket()).await.unwrap();
    for permit in [released, evicted] {
        let refused = permit
            .guarded(|tx| {
                tx.set("a", "1").incr("b");
            })
            .await;
        assert!(matches!(refused, Err(GuardedError::NotHeld)), "{refused:?}");
    }
    assert_eq!((get(&server, "a").await, get(&server, "b").await), (None, None));
}

#[tokio::test]
async fn where_a_few_take_turns_a_holder_writes_and_a_former_holder_does_not() {
    let server = RedisServer::start();
    let (_, first) = held(&server.socket_url("")).await;
    let second = Seinpaal::connect(&server.socket_url("")).await.unwrap().semaphore("n").limit(1);
    let (queued, is_queued) = tokio::sync::oneshot::channel();
    let next = second.acquire().on_queued(|_| queued.send(()).unwrap_or_default());
    let next = tokio::spawn(next.into_future());
    is_queued.await.unwrap();
    let wrote = first.guarded(|tx| {
        tx.incr("a");
    });
    wrote.await.unwrap();
    first.release().await.unwrap();
    let second = next.await.unwrap().unwrap();
    let wrote = second.guarded(|tx| {
        tx.incr("a");
    });
    wrote.await.unwrap();
    assert_eq!(get(&server, "a").await.as_deref(), Some("2"));
}

/// A hundred permits stand under two leases.
#[tokio::test]
async fn whose_permit_is_evicted_writes_no_more_however_many_permits_its_client_has() {
    for count in [3, 100] {
        let server = RedisServer::start();
        let client = Seinpaal::connect(&server.socket_url("")).await.unwrap();
        let semaphore = client.semaphore("n").limit(200);
        let mut permits = Vec::new();
        for _ in 0..count {
            permits.push(semaphore.acquire().await.unwrap());
        }
        for permit in [&permits[0], &permits[count - 1]] {
            let wrote = permit.guarded(|tx| {
                tx.incr("a");
            });
            wrote.await.unwrap();
        }
        semaphore.evict(permits[0].ticket()).await.unwrap();
        let refused = permits[0].guarded(|tx| {
            tx.incr("a");
        });
        let refused = refused.await;
        assert!(matches!(refused, Err(GuardedError::NotHeld)), "{refused:?}");
        assert_eq!(get(&server, "a").await.as_deref(), Some("2"));
    }
}

#[tokio::test]
async fn a_merged_permit_writes_while_all_of_it_is_held() {
    let server = RedisServer::start();
    let semaphore =
        Seinpaal::connect(&server.socket_url("")).await.unwrap().semaphore("n").limit(2);
    let mut permit = semaphore.acquire().await.unwrap();
    let other = semaphore.acquire().await.unwrap();
    let ticket = other.ticket();
    permit.merge(other);
    permit
        .guarded(|tx| {
            tx.incr("a");
        })
        .await
        .unwrap();
    semaphore.evict(ticket).await.unwrap();
    let refused = permit
        .guarded(|tx| {
            tx.incr("a");
        })
        .await;
    assert!(matches!(refused, Err(GuardedError::NotHeld)), "{refused:?}");
    assert_eq!(get(&server, "a").await.as_deref(), Some("1"));
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again_and_the_group_applied_once() {
    let server = RedisServer::start();
    let port = server.port();
    let proxy = Proxy::start(port).unwrap();
    let (_, permit) = held(&proxy.url()).await;
    permit
        .guarded(|tx| {
            tx.incr("warm");
        })
        .await
        .unwrap();
    for round in 1..=5 {
        proxy.cut_after("incr-me");
        let answers = permit
            .guarded(|tx| {
                tx.incr("incr-me");
            })
            .await
            .unwrap();
        assert_eq!(answers, [Value::Int(round)]);
        assert_eq!(proxy.trapped(), round as usize);
    }
    assert_eq!(get(&server, "incr-me").await.as_deref(), Some("5"));
}

#[tokio::test]
async fn a_server_that_was_stopped_applies_the_group_once_when_it_goes_on() {
    let server = RedisServer::start();
    let port = server.port();
    let proxy = Proxy::start(port).unwrap();
    let (_, permit) = held(&proxy.url()).await;
    permit
        .guarded(|tx| {
            tx.incr("warm");
        })
        .await
        .unwrap();
    let before = proxy.connections();
    server.pause();
    let writing = tokio::spawn(async move {
        let answers = permit
            .guarded(|tx| {
                tx.incr("count");
            })
            .await;
        (permit, answers)
    });
    // The first try is given up with its connection, and the group is sent a second time.
    while proxy.connections() == before {
        tokio::task::yield_now().await;
    }
    server.resume();
    let (_permit, answers) = writing.await.unwrap();
    assert_eq!(answers.unwrap(), [Value::Int(1)]);
    assert_eq!(get(&server, "count").await.as_deref(), Some("1"));
}

#[tokio::test]
async fn with_replicas_asked_for_a_group_counts_when_they_have_it() {
    let at_once = ["--repl-diskless-sync-delay", "0"];
    let server = RedisServer::with(&at_once);
    let port = server.port();
    let port_text = port.to_string();
    let of = [&at_once[..], &["--replicaof", "127.0.0.1", &port_text]].concat();
    let mut replica = RedisServer::with(&of);
    let mut behind = plain(&server.socket_url("")).await;
    cmd("SET").arg("settled").arg(1).exec_async(&mut behind).await.unwrap();
    while cmd("WAIT").arg(1).arg(100).query_async::<u64>(&mut behind).await.unwrap() < 1 {}
    let (_, permit) = held(&server.socket_url("?replicated=1")).await;
    permit
        .guarded(|tx| {
            tx.incr("count");
        })
        .await
        .unwrap();
    assert_eq!(get(&replica, "count").await.as_deref(), Some("1"));
    replica.kill();
    let unknown = permit
        .guarded(|tx| {
            tx.incr("count");
        })
        .await;
    assert!(matches!(unknown, Err(GuardedError::Unknown(_))), "{unknown:?}");
    assert_eq!(get(&server, "count").await.as_deref(), Some("2"), "sent often, applied once");
}

#[tokio::test]
async fn a_group_is_one_command_to_the_server_and_leaves_no_key_for_long() {
    let server = RedisServer::start();
    let (_, permit) = held(&server.socket_url("")).await;
    permit
        .guarded(|tx| {
            tx.incr("warm");
        })
        .await
        .unwrap();
    say::<()>(&server, cmd("CONFIG").arg("RESETSTAT")).await;
    permit
        .guarded(|tx| {
            tx.incr("a").incr("b");
        })
        .await
        .unwrap();
    let stats: String = say(&server, cmd("INFO").arg("commandstats")).await;
    assert!(stats.contains("cmdstat_evalsha:calls=1,"), "{stats}");
    let keys: Vec<String> = say(&server, cmd("KEYS").arg("seinpaal:{n}:w:*")).await;
    assert_eq!(keys.len(), 2);
    for key in keys {
        let left: i64 = say(&server, cmd("PTTL").arg(key)).await;
        assert!((1..=11_000).contains(&left), "{left}");
    }
}

#[tokio::test]
async fn a_lost_server_leaves_it_certain_that_nothing_was_written_or_unknown() {
    let mut server = RedisServer::start();
    let (_, permit) = held(&server.socket_url("")).await;
    server.kill();
    let failed = permit
        .guarded(|tx| {
            tx.incr("a");
        })
        .await;
    match failed {
        Err(GuardedError::Store(error) | GuardedError::Unknown(error)) => {
            assert_eq!(error.kind(), StoreErrorKind::Unreachable);
        }
        other => panic!("{other:?}"),
    }
}
