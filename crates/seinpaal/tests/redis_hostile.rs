//! A server, or a program in its place, that does not behave like a Redis.

#[path = "support/requests.rs"]
mod requests;

use std::{
    env,
    process::Command,
    sync::{Arc, Mutex},
    time::Duration,
};

use requests::{Client, acquire};
use seinpaal::store::{Certainty, Store, StoreErrorKind};
use seinpaal_rig::{FakeAnswer, FakeServer};
use tokio::time::{Instant, timeout, timeout_at};

const BOUND: Duration = Duration::from_secs(30);
/// In kilobytes. An idle client has some ten thousand, and an answer may need another eight
/// thousand.
const MOST_MEMORY: u64 = 100_000;

/// Returns whether a command calls a script of the ledger, and not the question for rights.
fn is_call(words: &[String]) -> bool {
    words[0] == "EVALSHA" && words[2] != "0"
}

/// An attack: its name, the command that it answers, and the answer.
type Attack = (&'static str, fn(&[String]) -> bool, Vec<u8>);

/// The answers of a hostile server, and the commands that get them.
fn attacks() -> Vec<Attack> {
    let is_hello: fn(&[String]) -> bool = |words| words[0] == "HELLO";
    let is_time = |words: &[String]| words[0] == "TIME";
    let is_scan = |words: &[String]| words[0] == "SCAN";
    let block = vec![b'a'; 1 << 20];
    let with = |head: &str| [head.as_bytes(), &block].concat();
    vec![
        ("a string of two gigabytes for a greeting", is_hello, with("$2000000000\r\n")),
        ("a line without an end", is_time, with("+")),
        ("a string of two gigabytes", is_call, with("$2000000000\r\n")),
        (
            "an endless list",
            is_call,
            [b"*2000000000\r\n".as_slice(), &b"$1\r\na\r\n".repeat(100_000)].concat(),
        ),
        ("lists in lists", is_call, b"*1\r\n".repeat(100_000)),
        ("an error without an end", is_call, with("-ERR ")),
        ("a wakeup without an end", is_call, with(">3\r\n$7\r\nmessage\r\n$900000000\r\n")),
        ("an endless page of names", is_scan, with("*2\r\n$1\r\n0\r\n*2000000\r\n$100000\r\n")),
    ]
}

#[tokio::test]
async fn an_answer_that_is_larger_than_was_asked_for_is_cut_off_and_takes_no_memory() {
    if env::var_os("SEINPAAL_HOSTILE_CHILD").is_some() {
        return suffer().await;
    }
    let test = "an_answer_that_is_larger_than_was_asked_for_is_cut_off_and_takes_no_memory";
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("SEINPAAL_HOSTILE_CHILD", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(child.status.success(), "{said}{}", String::from_utf8_lossy(&child.stderr));
    let peak = said.lines().find_map(|line| line.split_once("peak ")?.1.parse::<u64>().ok());
    let peak = peak.expect("what it took at most");
    assert!(peak < MOST_MEMORY, "{peak} kB");
}

async fn suffer() {
    for (what, when, said) in attacks() {
        let server = FakeServer::start(move |words| {
            if when(words) { FakeAnswer::Flood(said.clone()) } else { FakeAnswer::AsUsual }
        });
        let error = match timeout(BOUND, Client::try_connect(&server.url(), 1)).await.expect(what) {
            Err(error) => error,
            Ok(client) if what.contains("names") => client.store.list("").await.expect_err(what),
            Ok(client) => {
                let error = client.ask("n", acquire(1)).await.expect_err(what);
                assert_eq!(error.certainty(), Certainty::Unknown, "{what}: {error}");
                error
            }
        };
        assert_eq!(error.kind(), StoreErrorKind::Misconfigured, "{what}: {error}");
        assert!(error.to_string().contains("cut off"), "{what}: {error}");
    }
    println!("peak {}", peak());
}

/// The most kilobytes that this process has had.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Calls again and again for so long, as sessions do, and counts the connections.
async fn connections_in(period: Duration, server: &FakeServer) -> u64 {
    let client = Client::connect(&server.url(), 1).await;
    let end = Instant::now() + period;
    while timeout_at(end, client.ask("n", acquire(1))).await.is_ok() {
        tokio::task::yield_now().await;
    }
    server.connections()
}

#[tokio::test]
async fn a_server_that_closes_at_each_call_is_not_stormed() {
    let server =
        FakeServer::start(
            |words| if is_call(words) { FakeAnswer::Close } else { FakeAnswer::AsUsual },
        );
    let count = connections_in(Duration::from_secs(3), &server).await;
    // Pauses double from 20 ms to 320 ms, and jitter may take half of each. So there are 6 tries,
    // and then at most one in 160 ms.
    assert!((3..=30).contains(&count), "{count} connections in 3 s");
}

#[tokio::test]
async fn a_connection_that_is_lost_once_comes_back_at_once() {
    let closes = std::sync::atomic::AtomicBool::new(true);
    let server = FakeServer::start(move |words| {
        let is_first = is_call(words) && closes.swap(false, std::sync::atomic::Ordering::SeqCst);
        if is_first { FakeAnswer::Close } else { FakeAnswer::AsUsual }
    });
    let client = Client::connect(&server.url(), 1).await;
    client.ask("n", acquire(1)).await.unwrap_err();
    // The fake's answer cannot be read, but it counts as an answer.
    let error = client.ask("n", acquire(1)).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{error}");
    assert_eq!(server.connections(), 2);
}

/// In a transaction, a message that the script publishes to this client could take the place of the
/// script's answer (Redis before 7.2).
#[tokio::test]
async fn a_script_that_is_flushed_twice_is_sent_with_its_call_and_in_no_transaction() {
    let heard: Arc<Mutex<Vec<Vec<String>>>> = Arc::default();
    let told = Arc::clone(&heard);
    let server = FakeServer::start(move |words| {
        told.lock().unwrap().push(words.to_vec());
        match is_call(words) {
            true => FakeAnswer::Say(b"-NOSCRIPT No matching script\r\n".to_vec()),
            false => FakeAnswer::AsUsual,
        }
    });
    let client = Client::connect(&server.url(), 1).await;
    // The fake's answer cannot be read, but it counts as an answer.
    let error = client.ask("n", acquire(1)).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{error}");
    let heard = heard.lock().unwrap();
    let heard: Vec<_> = heard.iter().skip_while(|words| !is_call(words)).collect();
    let commands: Vec<&str> = heard.iter().map(|words| words[0].as_str()).collect();
    assert_eq!(commands, ["EVALSHA", "SCRIPT", "EVALSHA", "EVAL"]);
    assert_eq!(heard[3][1], heard[1][2], "the script that was loaded");
    assert_eq!(heard[3][2..], heard[0][2..], "the keys and arguments of the call");
}

/// A row: when a server refuses, its words, the kind of the error, and a part of our message.
const REFUSALS: [(&str, &str, StoreErrorKind, &str); 22] = [
    (
        "connecting",
        "-DENIED Redis is running in protected mode",
        StoreErrorKind::Misconfigured,
        "protected mode",
    ),
    ("connecting", "-ERR max number of clients reached", StoreErrorKind::Unreachable, "maxclients"),
    (
        "HELLO",
        "-WRONGPASS invalid username-password pair",
        StoreErrorKind::Forbidden,
        "password is wrong",
    ),
    (
        "HELLO",
        "-NOAUTH HELLO must be called with the client already authenticated",
        StoreErrorKind::Forbidden,
        "password",
    ),
    (
        "HELLO",
        "-LOADING Redis is loading the dataset in memory",
        StoreErrorKind::Unreachable,
        "loading",
    ),
    ("TIME", "-BUSY Redis is busy running a script", StoreErrorKind::Unreachable, "busy"),
    ("TIME", "-NOAUTH Authentication required.", StoreErrorKind::Forbidden, "wants a password"),
    (
        "TIME",
        "-LOADING Redis is loading the dataset in memory",
        StoreErrorKind::Unreachable,
        "loading",
    ),
    (
        "SCRIPT",
        "-NOPERM User w has no permissions to run the 'script|load' command",
        StoreErrorKind::Forbidden,
        "+script|load",
    ),
    (
        "SUBSCRIBE",
        "-NOPERM No permissions to access a channel",
        StoreErrorKind::Forbidden,
        "&seinpaal:inbox:*",
    ),
    (
        "call",
        "-LOADING Redis is loading the dataset in memory",
        StoreErrorKind::Unreachable,
        "loading",
    ),
    (
        "call",
        "-MISCONF Redis is configured to save RDB snapshots",
        StoreErrorKind::Full,
        "save to disk",
    ),
    (
        "call",
        "-READONLY You can't write against a read only replica.",
        StoreErrorKind::Unreachable,
        "replica",
    ),
    (
        "call",
        "-OOM command not allowed when used memory > 'maxmemory'.",
        StoreErrorKind::Full,
        "maxmemory",
    ),
    (
        "call",
        "-NOREPLICAS Not enough good replicas to write.",
        StoreErrorKind::Unreachable,
        "replicas",
    ),
    (
        "call",
        "-MASTERDOWN Link with MASTER is down",
        StoreErrorKind::Unreachable,
        "lost its master",
    ),
    ("call", "-BUSY Redis is busy running a script", StoreErrorKind::Unreachable, "SCRIPT KILL"),
    ("call", "-MOVED 5 127.0.0.1:7000", StoreErrorKind::Misconfigured, "redis+cluster://"),
    (
        "call",
        "-NOPERM User w has no permissions to run the 'evalsha' command",
        StoreErrorKind::Forbidden,
        "+evalsha",
    ),
    (
        "call",
        "-SEINPAALFAILED ERR ACL failure in script: User w has no permissions to run the 'zadd' command",
        StoreErrorKind::Forbidden,
        "+zadd",
    ),
    (
        "call",
        "-SEINPAALTORN ACL failure in script: User w has no permissions to run the 'zadd' command",
        StoreErrorKind::Forbidden,
        "+zadd",
    ),
    ("call", "-ERR unknown command 'EVALSHA'", StoreErrorKind::Misconfigured, "6.2 or newer"),
];

#[tokio::test]
async fn each_refusal_of_a_server_has_its_own_message() {
    for (when, said, kind, words) in REFUSALS {
        let answer = format!("{said}\r\n").into_bytes();
        let server = match when {
            "connecting" => FakeServer::refusing(said),
            _ => FakeServer::start(move |words| {
                let is_now = if when == "call" { is_call(words) } else { words[0] == when };
                match is_now {
                    true => FakeAnswer::Say(answer.clone()),
                    false if when == "SCRIPT" && is_call(words) => {
                        FakeAnswer::Say(b"-NOSCRIPT No matching script\r\n".to_vec())
                    }
                    false => FakeAnswer::AsUsual,
                }
            }),
        };
        let error = match Client::try_connect(&server.url(), 1).await {
            Err(error) => error,
            Ok(client) => client.ask("n", acquire(1)).await.expect_err(said),
        };
        assert_eq!(error.kind(), kind, "{said}: {error}");
        assert!(error.to_string().contains(words), "{said}: {error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}
