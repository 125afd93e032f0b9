//! The number of commands that requests for permits cost.

#[path = "crowd.rs"]
mod crowd;

use std::collections::HashMap;

use redis::{aio::MultiplexedConnection, cmd};
use seinpaal::store::Store;
use seinpaal_proto::{Reply, time::SECOND};
use seinpaal_rig::RedisServer;

use super::{
    requests::{Client, is_granted, plain},
    say,
};

/// Calls by command since the last `CONFIG RESETSTAT`.
async fn calls(connection: &mut MultiplexedConnection) -> HashMap<String, u64> {
    let info: String = say(connection, cmd("INFO").arg("commandstats")).await;
    let lines = info.lines().filter_map(|line| line.strip_prefix("cmdstat_")?.split_once(':'));
    lines
        .map(|(command, figures)| {
            let calls = figures.split(['=', ',']).nth(1).unwrap().parse().unwrap();
            (command.to_owned(), calls)
        })
        .collect()
}

#[tokio::test]
async fn an_uncontended_acquire_and_its_release_are_two_commands() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    client.acquire("warm", 1).await;
    client.release("warm", 1).await;
    let mut behind = plain(&server.socket_url("")).await;
    say::<()>(&mut behind, cmd("CONFIG").arg("RESETSTAT")).await;
    assert!(is_granted(&client.acquire("n", 2).await));
    assert!(matches!(client.release("n", 2).await, Reply::Released { left: 0, .. }));
    let calls = calls(&mut behind).await;
    assert_eq!(calls.get("evalsha"), Some(&2), "{calls:?}");
    for other in ["eval", "script|load", "subscribe", "ping"] {
        assert_eq!(calls.get(other), None, "{calls:?}");
    }
}

#[tokio::test]
async fn the_servers_clock_is_read_when_the_store_is_opened() {
    let server = RedisServer::start();
    let mut behind = plain(&server.socket_url("")).await;
    let mut time = async || {
        let (seconds, micros): (u64, u64) = say(&mut behind, &mut cmd("TIME")).await;
        seconds * SECOND + micros
    };
    let before = time().await;
    let client = Client::connect(&server.socket_url(""), 1).await;
    let reading = client.store.first_reading();
    assert!((before..=time().await).contains(&reading.shows), "{reading:?}");
}

#[tokio::test]
async fn several_names_that_are_free_are_one_command_and_leave_nothing_if_one_is_not() {
    let server = RedisServer::start();
    let seinpaal = seinpaal::Seinpaal::connect(&server.socket_url("")).await.unwrap();
    let other = seinpaal::Seinpaal::connect(&server.socket_url("")).await.unwrap();
    let names = ["a", "b", "c"].map(|name| seinpaal.mutex(name));
    let take =
        async || seinpaal.try_acquire_all(names.each_ref().map(|name| name.try_lock())).await;
    take().await.unwrap().unwrap().release().await.unwrap();
    let mut behind = plain(&server.socket_url("")).await;
    say::<()>(&mut behind, cmd("CONFIG").arg("RESETSTAT")).await;
    let all = take().await.unwrap().unwrap();
    assert_eq!(calls(&mut behind).await.get("evalsha"), Some(&1));
    all.release().await.unwrap();
    let _last = other.mutex("c").lock().await.unwrap();
    say::<()>(&mut behind, cmd("CONFIG").arg("RESETSTAT")).await;
    assert!(take().await.unwrap().is_none());
    assert_eq!(calls(&mut behind).await.get("evalsha"), Some(&1));
    for name in ["a", "b"] {
        assert!(other.mutex(name).try_lock().await.unwrap().is_some(), "{name} was given back");
    }
}

#[tokio::test]
async fn a_list_of_many_names_looks_at_none_by_itself() {
    const NAMES: u128 = 1_200;
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let name = |i: u128| format!("n{i:04}");
    for i in 0..NAMES {
        assert!(is_granted(&client.acquire(&name(i), 10 + i).await));
    }
    for (at, waiters) in [(7, 2), (8, 70)] {
        for i in 0..waiters {
            let queued = client.acquire(&name(at), 10_000 + 100 * at + i).await;
            assert!(matches!(queued, Reply::Queued { .. }), "{queued:?}");
        }
    }
    client.release(&name(9), 19).await;
    // This makes the server know the script.
    assert_eq!(client.store.list(&name(0)).await.unwrap().len(), 1);
    let mut behind = plain(&server.socket_url("")).await;
    say::<()>(&mut behind, cmd("CONFIG").arg("RESETSTAT")).await;
    let listed = client.store.list("").await.unwrap();
    let calls = calls(&mut behind).await;
    // Pages of a hundred names, and one that is not full for each page of keys.
    assert!(u128::from(calls["evalsha"]) <= NAMES / 100 + u128::from(calls["scan"]), "{calls:?}");
    assert_eq!(listed.len() as u128, NAMES - 1);
    for (listed, i) in listed.iter().zip((0..NAMES).filter(|i| *i != 9)) {
        let (snapshot, waiting) = (&listed.1, [2, 70].get((i.wrapping_sub(7)) as usize).copied());
        assert_eq!(listed.0.as_str(), name(i));
        assert_eq!((snapshot.limit, snapshot.held, snapshot.holders_total), (1, 1, 1));
        assert_eq!(snapshot.waiting_total, waiting.unwrap_or(0));
        assert_eq!(snapshot.waiters.len() as u32, waiting.unwrap_or(0).min(64));
    }
}
