//! The rights of a Redis user. A missing right is named by the call that is denied, and by
//! `doctor`.

#[path = "support/requests.rs"]
mod requests;

use std::time::Duration;

use redis::cmd;
use requests::{Client, acquire, is_granted, plain};
use seinpaal::Advice;
use seinpaal::store::{News, Store, StoreError, StoreErrorKind, redis::RedisStore, url::StoreUrl};
use seinpaal_proto::{Configure, Inbox, Limit, Reply, Request};
use seinpaal_rig::RedisServer;
use seinpaal_rig::program;
use tokio::{sync::mpsc, time::timeout};

const BOUND: Duration = Duration::from_secs(30);
const SECRET: &str = "s3cret";

/// The lines of docs/internals/stores/redis.md.
fn documented() -> Vec<String> {
    let text = include_str!("../../../docs/internals/stores/redis.md");
    let lines = text.lines().skip_while(|line| !line.starts_with("resetchannels"));
    let lines = lines.take_while(|line| !line.starts_with("```"));
    lines.flat_map(str::split_whitespace).map(str::to_owned).collect()
}

/// A server with a user of these rights, and its URL for that user.
fn server_for(rights: &[String]) -> (RedisServer, String) {
    let password = format!(">{SECRET}");
    let start = ["--user", "worker", "on", password.as_str()];
    let arguments: Vec<&str> = start.into_iter().chain(rights.iter().map(String::as_str)).collect();
    let server = RedisServer::with(&arguments);
    let port = server.port();
    (server, format!("redis://worker:{SECRET}@127.0.0.1:{port}/2"))
}

/// What `doctor` asks and is told.
async fn diagnose(url: &str) -> Result<Vec<Advice>, StoreError> {
    let url = StoreUrl::parse(url).unwrap();
    let store = RedisStore::open(url, Inbox(1), mpsc::unbounded_channel().0).await?;
    Ok(store.diagnose().await?.advice)
}

fn lines(advice: &[Advice]) -> String {
    advice.iter().map(Advice::to_string).collect::<Vec<_>>().join("\n")
}

/// All that `doctor` says to a user with these rights.
async fn said_to(rights: &[String]) -> String {
    let (_server, url) = server_for(rights);
    match diagnose(&url).await {
        Ok(advice) => lines(&advice),
        Err(error) => {
            assert_eq!(error.kind(), StoreErrorKind::Forbidden, "{error}");
            error.to_string()
        }
    }
}

#[tokio::test]
async fn the_rights_in_the_documents_are_enough_for_everything() {
    let (server, url) = server_for(&documented());
    let mut client = Client::connect(&url, 1).await;
    let other = Client::connect(&url, 77).await;
    assert!(is_granted(&other.acquire("w", 10).await));
    assert!(matches!(client.acquire("w", 11).await, Reply::Queued { .. }));
    other.release("w", 10).await;
    let news = timeout(BOUND, client.news.recv()).await.expect("in time").expect("news");
    let News::Wakeup(wakeup) = news else { panic!("{news:?}") };
    assert_eq!(wakeup.ticket, requests::ticket(11));
    let mut behind = plain(&server.socket_url("")).await;
    cmd("SCRIPT").arg("FLUSH").exec_async(&mut behind).await.unwrap();
    let limit = Configure::Limit(Limit::new(2).unwrap());
    client.ask("w", Request::Configure(limit)).await.unwrap();
    client.ask("w", Request::Evict { ticket: requests::ticket(11) }).await.unwrap();
    assert_eq!(client.store.list("").await.unwrap().len(), 1);
}

#[tokio::test]
async fn the_rights_in_the_documents_are_enough_for_a_restart_guard() {
    let (server, url) = server_for(&documented());
    let client = Client::connect(&format!("{url}?restart-guard=1250ms"), 1).await;
    assert!(matches!(client.acquire("w", 10).await, Reply::Queued { .. }), "guarded");
    let mut behind = plain(&server.socket_url("")).await;
    cmd("SELECT").arg(2).exec_async(&mut behind).await.unwrap();
    let marker = cmd("HGET").arg("seinpaal:guard").arg("m").query_async(&mut behind).await;
    assert!(marker.is_ok_and(|marker: Option<String>| marker.is_some()), "the guard was noted");
}

#[tokio::test]
async fn a_user_with_the_documented_rights_is_told_of_none_that_is_missing() {
    let said = said_to(&documented()).await;
    let missing =
        said.lines().filter(|line| line.contains("may not") && !line.contains("CONFIG GET"));
    assert_eq!(missing.collect::<Vec<_>>(), [""; 0]);
}

#[tokio::test]
async fn each_documented_right_that_is_missing_is_named() {
    let knows_its_rights = program::version() >= (7, 0);
    for missing in documented().iter().filter(|right| right.starts_with('+')) {
        let command = missing.trim_start_matches('+');
        // An old server can be asked only about commands that scripts run.
        let is_outside = ["scan", "eval", "ping"].contains(&command);
        if is_outside && !knows_its_rights {
            continue;
        }
        // Of SCRIPT LOAD an old server names only the first word.
        let named =
            if knows_its_rights { command } else { command.split('|').next().unwrap_or(command) };
        let rights: Vec<_> = documented().into_iter().filter(|right| right != missing).collect();
        let said = said_to(&rights).await;
        assert!(said.to_lowercase().contains(&format!("+{named}")), "without {missing}: {said}");
    }
}

#[tokio::test]
async fn a_user_who_cannot_even_be_asked_about_rights_is_told_all_that_are_needed() {
    for missing in ["+time", "+script|load", "+evalsha", "+subscribe"] {
        let rights: Vec<_> = documented().into_iter().filter(|right| right != missing).collect();
        let said = said_to(&rights).await;
        for right in documented() {
            assert!(said.contains(&right), "without {missing}, {right}: {said}");
        }
    }
}

#[tokio::test]
async fn keys_and_channels_that_are_not_allowed_are_named() {
    let without = |gone: char| {
        documented().into_iter().filter(move |right| !right.starts_with(gone)).collect()
    };
    let keys: Vec<String> = without('~');
    assert!(said_to(&keys).await.contains("~seinpaal:*"));
    let channels: Vec<String> = without('&');
    assert!(said_to(&channels).await.contains("&seinpaal:inbox:*"));
}

#[tokio::test]
async fn a_user_who_may_not_publish_still_hands_permits_over() {
    let rights: Vec<_> = documented().into_iter().filter(|right| right != "+publish").collect();
    let (_server, url) = server_for(&rights);
    let (holder, waiter) = (Client::connect(&url, 1).await, Client::connect(&url, 2).await);
    assert!(is_granted(&holder.acquire("w", 10).await));
    assert!(matches!(waiter.acquire("w", 11).await, Reply::Queued { .. }));
    let released = holder.release("w", 10).await;
    assert!(matches!(released, Reply::Released { .. }), "{released:?}");
    assert!(is_granted(&waiter.acquire("w", 11).await), "the same ticket finds out");
}

#[tokio::test]
async fn a_right_that_is_taken_away_later_is_named_and_forbidden() {
    let (server, url) = server_for(&documented());
    let client = Client::connect(&url, 1).await;
    assert!(is_granted(&client.acquire("w", 1).await));
    let mut behind = plain(&server.socket_url("")).await;
    cmd("ACL").arg(&["SETUSER", "worker", "-hset"]).exec_async(&mut behind).await.unwrap();
    let error = client.ask("v", acquire(2)).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Forbidden, "{error}");
    assert!(error.to_string().contains("+hset"), "{error}");
}

#[tokio::test]
async fn a_call_that_is_denied_names_the_right_that_is_missing() {
    for missing in ["hset", "evalsha", "script|load"] {
        let allowed = |right: &String| right.trim_start_matches('+') != missing;
        let rights: Vec<_> = documented().into_iter().filter(allowed).collect();
        let (_server, url) = server_for(&rights);
        let client = Client::connect(&url, 1).await;
        let error = client.ask("w", acquire(1)).await.expect_err(missing);
        assert_eq!(error.kind(), StoreErrorKind::Forbidden, "without {missing}: {error}");
        let named = missing.split('|').next().unwrap_or(missing);
        assert!(error.to_string().contains(&format!("+{named}")), "without {missing}: {error}");
    }
}

#[tokio::test]
async fn settings_that_endanger_a_promise_are_told() {
    let server = RedisServer::with(&["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"]);
    let mut advice = diagnose(&server.socket_url("")).await.unwrap();
    // An old server also gets a hint.
    advice.retain(|advice| advice.is_risk);
    let advice = lines(&advice);
    assert!(advice.contains("allkeys-lru") && advice.contains("noeviction"), "{advice}");
    assert!(advice.contains("nothing is kept on disk"), "{advice}");
}
