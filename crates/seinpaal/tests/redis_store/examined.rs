//! Ledgers with contradictions, each planted by hand, and a store without any.

use redis::cmd;
use seinpaal::store::Store;
use seinpaal_proto::{Configure, Limit, Request};
use seinpaal_rig::RedisServer;

use super::{
    requests::{Client, plain, ticket},
    say,
};

/// The place of the count of permits held in the header of a name.
const HELD: usize = 8;

/// A name with two holders.
async fn with_two(client: &Client, name: &str, first: u128) {
    let limit = Request::Configure(Configure::Limit(Limit::new(2).unwrap()));
    client.ask(name, limit).await.unwrap();
    for ticket in [first, first + 1] {
        client.acquire(name, ticket).await;
    }
}

async fn examined(client: &Client) -> Vec<String> {
    let seen = client.store.examine(100).await.unwrap();
    assert!(!seen.is_cut, "{seen:?}");
    seen.contradictions.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn a_head_that_counts_other_permits_than_the_holders_have_is_found() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let mut behind = plain(&server.socket_url("")).await;
    with_two(&client, "good", 1).await;
    client.acquire("lone", 5).await;
    assert_eq!(examined(&client).await, Vec::<String>::new());
    with_two(&client, "bad", 11).await;
    let mut head: Vec<u8> = say(&mut behind, cmd("HGET").arg("seinpaal:{bad}").arg("h")).await;
    assert_eq!(head[HELD], 2, "{head:?}");
    head[HELD] = 1;
    say::<()>(&mut behind, cmd("HSET").arg("seinpaal:{bad}").arg("h").arg(head)).await;
    let found = examined(&client).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("the name bad: "), "{found:?}");
}

#[tokio::test]
async fn records_that_are_gone_or_that_nobody_can_read_are_found_and_hide_no_others() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let mut behind = plain(&server.socket_url("")).await;
    for (at, name) in ["first", "gone", "last"].into_iter().enumerate() {
        with_two(&client, name, 1 + 10 * at as u128).await;
    }
    let record = ticket(11).lease().0.to_be_bytes();
    say::<()>(&mut behind, cmd("HDEL").arg("seinpaal:{gone}").arg(&record)).await;
    say::<()>(&mut behind, cmd("SET").arg("seinpaal:{text}").arg("somebody's")).await;
    let found = examined(&client).await;
    assert!(found.iter().any(|text| text.starts_with("the name gone: ")), "{found:?}");
    assert!(found.iter().any(|text| text.starts_with("the name text: ")), "{found:?}");
    assert!(
        found.iter().all(|text| !text.contains("first") && !text.contains("last")),
        "{found:?}"
    );
}

#[tokio::test]
async fn no_more_names_are_looked_at_than_was_asked_for() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    for at in 0..7 {
        client.acquire(&format!("n{at}"), 1 + at).await;
    }
    let seen = client.store.examine(5).await.unwrap();
    assert_eq!((seen.names, seen.is_cut, seen.is_clean()), (5, true, true));
    let seen = client.store.examine(7).await.unwrap();
    assert_eq!((seen.names, seen.is_cut), (7, false));
}
