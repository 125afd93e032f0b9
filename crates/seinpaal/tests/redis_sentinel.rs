//! How the Redis store finds a master through sentinels, and what it says when it cannot.

#[path = "support/asks.rs"]
mod asks;
#[path = "support/redis_server.rs"]
mod redis_server;

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    thread,
};

use asks::{Client, is_granted};
use redis_server::{RedisServer, free_port};
use seinpaal::store::{
    Certainty, StoreError,
    StoreErrorKind::{self, Forbidden, Misconfigured, Unreachable},
};
use seinpaal_conformance::servers::sentinel::{MASTER, SentinelServers};

const SECRET: &str = "s3cret";

async fn refusal(url: &str) -> StoreError {
    let Err(error) = Client::try_connect(url, 1).await else { panic!("{url} was accepted") };
    let text = format!("{error} {error:?}");
    assert!(!text.contains(SECRET), "{text}");
    assert!(!error.to_string().contains('\n'), "{error}");
    assert_eq!(error.certainty(), Certainty::NotExecuted);
    error
}

async fn is_refused(url: &str, kind: StoreErrorKind, advice: &str) {
    let error = refusal(url).await;
    assert_eq!(error.kind(), kind, "{url}: {error}");
    assert!(error.to_string().contains(advice), "{url}: {error}");
}

#[tokio::test]
async fn what_is_wrong_with_an_address_is_said() {
    let servers = SentinelServers::shared();
    let (sentinel, server) = (servers.sentinel_ports()[0], servers.port(servers.master()));
    let at = |port, master| format!("redis+sentinel://127.0.0.1:{port}/{master}");
    is_refused(&at(sentinel, "nobody"), Misconfigured, "no master called \"nobody\"").await;
    is_refused(&at(server, MASTER), Misconfigured, "redis://HOST:PORT").await;
    is_refused(&at(free_port(), MASTER), Unreachable, "nothing listens there").await;
    let at_a_sentinel = format!("redis://127.0.0.1:{sentinel}");
    is_refused(&at_a_sentinel, Misconfigured, "redis+sentinel://HOST:PORT/MASTER").await;
    let nobody = format!("redis+sentinel://127.0.0.1:{},127.0.0.1:{}/m", free_port(), free_port());
    is_refused(&nobody, Unreachable, "none of the sentinels").await;
}

#[tokio::test]
async fn sentinels_and_servers_have_logins_of_their_own() {
    let servers = SentinelServers::start(0);
    let set = |port, rule: &str| ask(port, &format!("ACL SETUSER {rule}"));
    set(servers.port(0), &format!("worker on >{SECRET} ~* &* +@all"));
    set(servers.port(0), "default off");
    for port in servers.sentinel_ports() {
        set(port, &format!("asker on >{SECRET}2 ~* &* +@all"));
        set(port, "default off");
    }
    let hosts = hosts(&servers.sentinel_ports());
    let url = |login: &str, query: &str| format!("redis+sentinel://{login}{hosts}/{MASTER}{query}");
    let (login, wrong) = (format!("worker:{SECRET}@"), format!("worker:{SECRET}x@"));
    let query = format!("?sentinel-user=asker&sentinel-pass={SECRET}2");

    let client = Client::connect(&url(&login, &query), 1).await;
    assert!(is_granted(&client.acquire("n", 1).await));
    is_refused(&url(&login, ""), Forbidden, "sentinel-user").await;
    let wrong_query = format!("?sentinel-user=asker&sentinel-pass={SECRET}");
    is_refused(&url(&login, &wrong_query), Forbidden, "sentinel").await;
    is_refused(&url(&wrong, &query), Forbidden, "user or password is wrong").await;
    is_refused(&url("", &query), Forbidden, "").await;
}

#[tokio::test]
async fn of_sentinels_that_disagree_the_one_with_the_latest_configuration_is_right() {
    let (_server, port) = RedisServer::on_port(&[]);
    let (late, early) = (sentinel_that_says(free_port(), 5), sentinel_that_says(port, 7));
    for (one, two) in [(late, early), (early, late)] {
        let url = format!("redis+sentinel://127.0.0.1:{one},127.0.0.1:{two}/m");
        assert!(is_granted(&Client::connect(&url, 1).await.acquire(&format!("{one}"), 1).await));
    }
}

#[tokio::test]
async fn a_sentinel_that_says_nothing_holds_up_nobody_for_long() {
    let (_server, port) = RedisServer::on_port(&[]);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let (silent, honest) = (silent.local_addr().unwrap().port(), sentinel_that_says(port, 1));
    let url = format!("redis+sentinel://127.0.0.1:{silent},127.0.0.1:{honest}/m");
    assert!(is_granted(&Client::connect(&url, 1).await.acquire("n", 1).await));
}

#[tokio::test]
async fn a_replica_is_not_taken_for_the_master_whoever_says_so() {
    let (_replica, port) = RedisServer::on_port(&["--replicaof", "127.0.0.1", "1"]);
    let sentinel = sentinel_that_says(port, 1);
    let url = format!("redis+sentinel://127.0.0.1:{sentinel}/m");
    is_refused(&url, Unreachable, "is a replica").await;
}

/// Plays a sentinel that has the master at this port, since that epoch.
fn sentinel_that_says(port: u16, epoch: u64) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || answer(stream, port, epoch));
        }
    });
    own
}

fn answer(mut stream: TcpStream, port: u16, epoch: u64) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(words) = command(&mut reader) {
        let address = ["127.0.0.1".to_owned(), port.to_string()];
        let answer = match words.join(" ").to_ascii_uppercase() {
            words if words.starts_with("SENTINEL GET") => list(&address),
            words if words.starts_with("SENTINEL MASTER") => {
                list(&["config-epoch".to_owned(), epoch.to_string()])
            }
            words if words.starts_with("SUBSCRIBE") => return,
            _ => "+OK\r\n".to_owned(),
        };
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn command(reader: &mut impl BufRead) -> Option<Vec<String>> {
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        Some(line.trim_end().to_owned())
    };
    let count = line()?.strip_prefix('*')?.parse().ok()?;
    (0..count).map(|_| line().and_then(|_| line())).collect()
}

fn list(items: &[String]) -> String {
    let items = items.iter().map(|item| format!("${}\r\n{item}\r\n", item.len()));
    format!("*2\r\n{}", items.collect::<String>())
}

fn ask(port: u16, question: &str) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(format!("{question}\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).unwrap();
    assert_eq!(answer, "+OK\r\n", "{question}");
}

fn hosts(ports: &[u16]) -> String {
    ports.iter().map(|port| format!("127.0.0.1:{port}")).collect::<Vec<_>>().join(",")
}
