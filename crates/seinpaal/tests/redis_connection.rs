//! How the Redis store connects, the errors if it cannot, and how it comes back.

#[path = "support/requests.rs"]
mod requests;

use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use redis::cmd;
use requests::{Client, SECRET, acquire, is_granted, plain, refusal};
use seinpaal::store::{Certainty, News, StoreErrorKind};
use seinpaal_proto::Reply;
use seinpaal_rig::{FakeAnswer, FakeServer, RedisServer, free_port};
use tokio::time::timeout;

const BOUND: Duration = Duration::from_secs(30);

fn with_users<'a>(users: &[&'a str]) -> Vec<&'a str> {
    users.iter().flat_map(|user| ["--user"].into_iter().chain(user.split(' '))).collect()
}

async fn next(client: &mut Client) -> News {
    timeout(BOUND, client.news.recv()).await.expect("news in time").expect("news")
}

/// A waiter behind a holder is granted by a wakeup, which proves that the subscription works.
async fn wakeups_arrive(url: &str, client: &mut Client, tickets: u128) {
    let other = Client::connect(url, 77).await;
    assert!(is_granted(&other.acquire("w", tickets).await));
    assert!(matches!(client.acquire("w", tickets + 1).await, Reply::Queued { .. }));
    other.release("w", tickets).await;
    let News::Wakeup(wakeup) = next(client).await else { panic!("no wakeup") };
    assert_eq!(wakeup.ticket, requests::ticket(tickets + 1));
    client.release("w", tickets + 1).await;
}

/// All answers come after the last question, so a client that waits for one of them waits in vain.
#[tokio::test]
async fn connecting_takes_one_packet_that_asks_only_what_is_needed() {
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let told = Arc::clone(&heard);
    let server = FakeServer::start(move |words| {
        told.lock().unwrap().push(words.join(" "));
        FakeAnswer::Say(match words[0].as_str() {
            "SUBSCRIBE" => b"%1\r\n+role\r\n+master\r\n+OK\r\n*2\r\n$1\r\n1\r\n$1\r\n0\r\n\
                             >3\r\n+subscribe\r\n+c\r\n:1\r\n"
                .to_vec(),
            _ => Vec::new(),
        })
    });
    let _client = Client::connect(&format!("{}/3", server.url()), 1).await;
    let heard = heard.lock().unwrap();
    assert_eq!(heard[..3], ["HELLO 3 SETNAME seinpaal", "SELECT 3", "TIME"]);
    assert!(heard.len() == 4 && heard[3].starts_with("SUBSCRIBE seinpaal:inbox:"), "{heard:?}");
}

#[tokio::test]
async fn tcp_with_user_password_and_database() {
    let user = format!("worker on >{SECRET} ~* &* +@all");
    let server = RedisServer::with(&with_users(&[&user]));
    let port = server.port();
    let url = format!("redis://worker:{SECRET}@127.0.0.1:{port}/3");
    let mut client = Client::connect(&url, 1).await;
    assert!(is_granted(&client.acquire("n", 1).await));
    let mut third = plain(&server.socket_url("?db=3")).await;
    let keys: u64 = cmd("DBSIZE").query_async(&mut third).await.unwrap();
    assert_eq!(keys, 2, "the records of the name, and their order");
    wakeups_arrive(&url, &mut client, 10).await;
    assert!(!format!("{:?}", client.store).contains(SECRET));
}

#[tokio::test]
async fn a_wrong_login_is_forbidden_and_keeps_its_secret() {
    let server = RedisServer::with(&["--requirepass", "right"]);
    let port = server.port();
    for login in [format!("default:{SECRET}@"), format!("nobody:{SECRET}@"), String::new()] {
        let error = refusal(&format!("redis://{login}127.0.0.1:{port}")).await;
        assert_eq!(error.kind(), StoreErrorKind::Forbidden, "{error}");
    }
}

#[tokio::test]
async fn a_user_without_the_permissions_it_takes_is_forbidden() {
    let user = format!("guest on >{SECRET} ~other:* &* +@all");
    let channels = format!("deaf on >{SECRET} ~* resetchannels +@all");
    let server = RedisServer::with(&with_users(&[&user, &channels]));
    let port = server.port();
    let guest = Client::connect(&format!("redis://guest:{SECRET}@127.0.0.1:{port}"), 1).await;
    let error = guest.ask("n", acquire(1)).await.unwrap_err();
    let expected = (StoreErrorKind::Forbidden, Certainty::NotExecuted);
    assert_eq!((error.kind(), error.certainty()), expected, "{error}");
    assert!(error.to_string().contains("~seinpaal:*"), "{error}");
    let error = refusal(&format!("redis://deaf:{SECRET}@127.0.0.1:{port}")).await;
    assert_eq!(error.kind(), StoreErrorKind::Forbidden, "{error}");
    assert!(error.to_string().contains("+subscribe &seinpaal:inbox:*"), "{error}");
}

#[tokio::test]
async fn a_missing_database_is_reported() {
    let server = RedisServer::start();
    let error = refusal(&server.socket_url("?db=99")).await;
    assert_eq!(error.kind(), StoreErrorKind::Misconfigured, "{error}");
    assert!(error.to_string().contains("database"), "{error}");
}

#[tokio::test]
async fn where_nothing_listens_the_error_says_so() {
    let refused = refusal(&format!("redis://127.0.0.1:{}", free_port())).await;
    assert_eq!(refused.kind(), StoreErrorKind::Unreachable);
    assert!(refused.to_string().contains("nothing listens"), "{refused}");
    let unknown = refusal("redis://nowhere.invalid").await;
    assert_eq!(unknown.kind(), StoreErrorKind::Unreachable, "{unknown}");
    let socket = refusal("unix:///nowhere/redis.sock").await;
    assert!(socket.to_string().contains("nothing listens"), "{socket}");
}

/// Accepts connections, and answers every client with `answer`, or with nothing.
fn listen(answer: Option<&'static str>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            if let Some(answer) = answer {
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(answer.as_bytes());
            }
            kept.push(stream);
        }
    });
    port
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up_after_the_connect_timeout() {
    let port = listen(None);
    let error = refusal(&format!("redis://127.0.0.1:{port}?connect-timeout=200ms")).await;
    assert_eq!(error.kind(), StoreErrorKind::Unreachable);
    assert!(error.to_string().contains("does not answer"), "{error}");
}

#[tokio::test]
async fn what_is_no_redis_is_said_to_be_none() {
    let port = listen(Some("HTTP/1.1 400 Bad Request\r\n\r\n"));
    let error = refusal(&format!("redis://127.0.0.1:{port}")).await;
    assert_eq!(error.kind(), StoreErrorKind::Misconfigured, "{error}");
    assert!(error.to_string().contains("Redis protocol"), "{error}");
}

#[tokio::test]
async fn a_replica_is_refused() {
    let master = RedisServer::start();
    let master_port = master.port();
    let replica = RedisServer::with(&["--replicaof", "127.0.0.1", &master_port.to_string()]);
    let error = refusal(&replica.socket_url("")).await;
    assert!(error.to_string().contains(&format!("127.0.0.1:{master_port}")), "{error}");
}

/// In a cluster, a brace in the prefix would take a name apart over several nodes.
#[tokio::test]
async fn a_prefix_with_a_brace_is_refused() {
    let server = RedisServer::start();
    let error = refusal(&server.socket_url("?prefix=a%7Bb")).await;
    assert_eq!(error.kind(), StoreErrorKind::Misconfigured, "{error}");
}

#[tokio::test]
async fn a_killed_connection_comes_back_subscribed_and_says_look_again() {
    let server = RedisServer::start();
    let mut client = Client::connect(&server.socket_url(""), 1).await;
    let mut behind = plain(&server.socket_url("")).await;
    for round in 0..3 {
        cmd("CLIENT").arg("KILL").arg("SKIPME").arg("yes").exec_async(&mut behind).await.unwrap();
        assert_eq!(next(&mut client).await, News::LookAgain);
        wakeups_arrive(&server.socket_url(""), &mut client, 10 + 2 * round).await;
    }
}

#[tokio::test]
async fn after_a_restart_of_the_server_everything_goes_on() {
    let mut server = RedisServer::start();
    let mut client = Client::connect(&server.socket_url(""), 1).await;
    client.acquire("n", 1).await;
    server.kill();
    let error = loop {
        // The first call may have been sent before the restart.
        let error = client.ask("n", acquire(2)).await.unwrap_err();
        if error.certainty() == Certainty::NotExecuted {
            break error;
        }
    };
    assert_eq!(error.kind(), StoreErrorKind::Unreachable, "{error}");
    server.start_again();
    assert_eq!(next(&mut client).await, News::LookAgain);
    assert!(is_granted(&client.acquire("n", 3).await));
    wakeups_arrive(&server.socket_url(""), &mut client, 10).await;
}

#[tokio::test]
async fn a_server_that_stops_in_mid_call_leaves_the_outcome_unknown() {
    let server = RedisServer::start();
    let mut client = Client::connect(&server.socket_url(""), 1).await;
    client.acquire("n", 1).await;
    server.pause();
    let error = client.ask("n", acquire(2)).await.unwrap_err();
    server.resume();
    let expected = (StoreErrorKind::Unreachable, Certainty::Unknown);
    assert_eq!((error.kind(), error.certainty()), expected, "{error}");
    assert_eq!(next(&mut client).await, News::LookAgain);
    // A request with the same ticket finds out whether the first request was executed.
    let reply = client.acquire("n", 2).await;
    assert!(matches!(reply, Reply::Queued { waiting: 1, .. }), "{reply:?}");
}

#[tokio::test]
async fn a_server_without_hello_is_given_a_second_connection() {
    let server = RedisServer::with(&["--rename-command", "HELLO", ""]);
    let mut client = Client::connect(&server.socket_url(""), 1).await;
    wakeups_arrive(&server.socket_url(""), &mut client, 10).await;
    let mut behind = plain(&server.socket_url("")).await;
    cmd("CLIENT").arg("KILL").arg("TYPE").arg("pubsub").exec_async(&mut behind).await.unwrap();
    assert_eq!(next(&mut client).await, News::LookAgain);
    wakeups_arrive(&server.socket_url(""), &mut client, 20).await;
}

#[tokio::test]
async fn a_user_who_may_not_say_hello_is_given_a_second_connection() {
    let user = format!("worker on >{SECRET} ~* &* +@all -hello");
    let server = RedisServer::with(&with_users(&[&user]));
    let port = server.port();
    let url = format!("redis://worker:{SECRET}@127.0.0.1:{port}");
    let mut client = Client::connect(&url, 1).await;
    wakeups_arrive(&url, &mut client, 10).await;
}
