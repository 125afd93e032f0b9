//! The commands of a guarded write, and the answers where a command cannot work.

#[path = "support/guarded.rs"]
mod guarded;
#[path = "support/requests.rs"]
mod requests;

use std::time::Duration;

use guarded::{get, held, say};
use redis::cmd;
use seinpaal::{BadGroup, CommandGroup, GuardedError, Value, blocking};
use seinpaal_rig::RedisServer;

fn bytes(text: &str) -> Value {
    Value::Bytes(text.as_bytes().to_vec())
}

#[tokio::test]
async fn a_group_is_applied_while_the_permit_is_held_and_says_what_each_command_answered() {
    let server = RedisServer::start();
    let (_, permit) = held(&server.socket_url("")).await;
    let answers = permit
        .guarded(|tx| {
            tx.get("none").set("k", "v").get("k").incr("c").incr_by("c", 41);
            tx.hset("h", "f", "x").hget("h", "f").lpush("l", "1").rpush("l", "2");
            tx.command("lrange", "l", &["0", "-1"]).del("k").expire("c", Duration::from_secs(60));
        })
        .await
        .unwrap();
    let expected = [
        Value::Nil,
        Value::Status("OK".into()),
        bytes("v"),
        Value::Int(1),
        Value::Int(42),
        Value::Int(1),
        bytes("x"),
        Value::Int(1),
        Value::Int(2),
        Value::List(vec![bytes("1"), bytes("2")]),
        Value::Int(1),
        Value::Int(1),
    ];
    assert_eq!(answers, expected);
    assert_eq!(get(&server, "c").await.as_deref(), Some("42"));
}

#[tokio::test]
async fn large_values_of_any_bytes_are_kept_as_they_are() {
    let server = RedisServer::start();
    let (_, permit) = held(&server.socket_url("")).await;
    let large: Vec<u8> = (0..3 << 20).map(|i| (i * 7 % 256) as u8).collect();
    let answers = permit
        .guarded(|tx| {
            tx.set("k\r\n\0", &large).get("k\r\n\0");
        })
        .await;
    assert_eq!(answers.unwrap()[1].as_bytes(), Some(large.as_slice()));
    let kept: Vec<u8> = say(&server, cmd("GET").arg("k\r\n\0")).await;
    assert!(kept == large);
}

#[tokio::test]
async fn a_command_that_cannot_work_is_found_before_anything_is_written() {
    let server = RedisServer::start();
    let (_, permit) = held(&server.socket_url("")).await;
    permit
        .guarded(|tx| {
            tx.set("text", "abc").hset("hash", "f", "abc").lpush("list", "1");
        })
        .await
        .unwrap();
    type Describe = fn(&mut CommandGroup);
    let describe: [(&str, Describe); 7] = [
        ("another type", |tx| {
            tx.incr("a").lpush("text", "1");
        }),
        ("no number", |tx| {
            tx.incr("a").incr("text");
        }),
        ("no number in a hash", |tx| {
            {
                tx.incr("a").command("HINCRBY", "hash", &["f", "1"]);
            };
        }),
        ("no fraction", |tx| {
            tx.incr("a").command("INCRBYFLOAT", "text", &["1"]);
        }),
        ("the type that the group itself leaves", |tx| {
            {
                tx.incr("a").set("b", "1").sadd("b", "1");
            };
        }),
        ("what the group itself has set", |tx| {
            tx.set("a", "x").incr("a");
        }),
        ("a list read as a hash", |tx| {
            tx.incr("a").hget("list", "f");
        }),
    ];
    for (what, describe) in describe {
        let refused = permit.guarded(describe).await;
        assert!(
            matches!(refused, Err(GuardedError::Refused { command: 1 | 2, .. })),
            "{what}: {refused:?}"
        );
        assert_eq!((get(&server, "a").await, get(&server, "b").await), (None, None), "{what}");
    }
    let fits = permit.guarded(|tx| {
        tx.del("text").lpush("text", "1").set("list", "1").incr("list");
    });
    assert_eq!(fits.await.unwrap()[3], Value::Int(2));
}

#[tokio::test]
async fn a_failure_that_cannot_be_foreseen_is_told_with_what_was_applied() {
    let server = RedisServer::start();
    let (_, permit) = held(&server.socket_url("")).await;
    permit
        .guarded(|tx| {
            tx.set("full", i64::MAX.to_string());
        })
        .await
        .unwrap();
    let partial = permit
        .guarded(|tx| {
            tx.incr("a").incr("full").incr("b");
        })
        .await;
    let Err(GuardedError::Partial { command: 1, answers, why }) = partial else {
        panic!("{partial:?}")
    };
    assert_eq!(answers, [Value::Int(1)]);
    assert!(why.contains("overflow"), "{why}");
    assert_eq!((get(&server, "a").await.as_deref(), get(&server, "b").await), (Some("1"), None));
    let refused = permit
        .guarded(|tx| {
            tx.get("a").incr("full").incr("b");
        })
        .await;
    assert!(
        matches!(refused, Err(GuardedError::Refused { command: 1, .. })),
        "nothing: {refused:?}"
    );
}

#[tokio::test]
async fn a_server_without_memory_refuses_a_group_whole() {
    let server = RedisServer::start();
    let (_, permit) = held(&server.socket_url("")).await;
    permit
        .guarded(|tx| {
            tx.set("old", "1");
        })
        .await
        .unwrap();
    say::<()>(&server, cmd("CONFIG").arg("SET").arg("maxmemory").arg("1")).await;
    // Full is passing, so it is tried for ten seconds unless room is made.
    let writing = permit.guarded(|tx| {
        tx.del("old").set("new", "1");
    });
    let room = async {
        let refused = loop {
            let stats: String = say(&server, cmd("INFO").arg("commandstats")).await;
            let evalsha = stats.lines().find(|line| line.starts_with("cmdstat_evalsha:"));
            if !evalsha.unwrap_or_default().contains("failed_calls=0") {
                break get(&server, "old").await;
            }
        };
        say::<()>(&server, cmd("CONFIG").arg("SET").arg("maxmemory").arg("0")).await;
        refused
    };
    let (written, old) = tokio::join!(writing, room);
    assert_eq!(old.as_deref(), Some("1"), "the first command was not applied alone");
    assert_eq!(written.unwrap()[0], Value::Int(1));
    assert_eq!(get(&server, "new").await.as_deref(), Some("1"));
}

#[tokio::test]
async fn what_is_not_a_group_is_refused_before_it_is_sent() {
    let server = RedisServer::start();
    let (_, permit) = held(&server.socket_url("")).await;
    let bad = permit.guarded(|_| {}).await;
    assert!(matches!(bad, Err(GuardedError::Bad(BadGroup::Empty))), "{bad:?}");
    let bad = permit
        .guarded(|tx| {
            tx.command("FLUSHALL", "k", &["now"]);
        })
        .await;
    assert!(matches!(bad, Err(GuardedError::Bad(BadGroup::UnknownCommand(_)))), "{bad:?}");
    for key in ["seinpaal:{n}", "seinpaal:{n}:o", "seinpaal:guard"] {
        let bad = permit
            .guarded(|tx| {
                tx.del(key);
            })
            .await;
        assert!(matches!(bad, Err(GuardedError::Bad(BadGroup::OurKey(_)))), "{key}: {bad:?}");
    }
    assert!(permit.is_held());
}

#[tokio::test]
async fn a_store_that_keeps_permits_only_says_so() {
    let (_, permit) = held("memory:").await;
    let refused = permit
        .guarded(|tx| {
            tx.incr("a");
        })
        .await;
    assert!(matches!(refused, Err(GuardedError::NotOnThisStore)), "{refused:?}");
}

#[test]
fn programs_without_a_runtime_can_write_too() {
    let server = RedisServer::start();
    let semaphore = blocking::Seinpaal::connect(&server.socket_url("")).unwrap().semaphore("n");
    let permit = semaphore.acquire().unwrap();
    let answers = blocking::guarded(&permit, |tx| {
        tx.incr("a");
    })
    .unwrap();
    assert_eq!(answers, [Value::Int(1)]);
}
