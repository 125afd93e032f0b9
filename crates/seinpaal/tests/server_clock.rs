//! A server whose wall clock is set while it runs: fences go on growing. By the library of `faketime`; that the
//! clock is set is seen by the server's own `TIME`.

#[path = "support/asks.rs"]
mod asks;
#[path = "support/redis_server.rs"]
mod redis_server;

use std::{fs, path::PathBuf, process::Command};

use asks::{Client, TTL, acquisition, plain, release};
use redis::cmd;
use redis_server::RedisServer;
use seinpaal::store::Store;
use seinpaal_proto::{Batch, Fence, Reply, Request};
use tempfile::TempDir;

const HOUR: i64 = 3_600;

/// As the torture rig saw it: the clock is an hour ahead for a while, and then the name idle for longer than
/// anything is remembered. Every client is a new process, with no fences seen.
#[tokio::test]
async fn no_fence_is_given_twice_after_the_servers_clock_was_an_hour_ahead_for_a_while() {
    let clock = ServerClock::new();
    let server = clock.server();
    let mut fences = Vec::new();
    // What happens when, in seconds by the server's clock.
    for (at, ticket) in [(HOUR, 1), (0, 2), (60, 3), (HOUR / 2, 4), (2 * HOUR, 5)] {
        clock.set(&server, at).await;
        fences.push(fence_of_a_new_client(&server, ticket).await.0);
    }
    assert!(fences.is_sorted_by(|earlier, later| earlier < later), "{fences:?}");
    clock.set(&server, 2 * HOUR + 60).await;
    assert_eq!(keys(&server).await, 0, "the clock has passed the last fence");
}

/// Not promised (docs/guarantees.md): forgotten in the time in which the clock was ahead, the name gives fences that
/// a new client cannot know, but not to one that has heard from the server meanwhile.
#[tokio::test]
async fn a_client_that_was_connected_while_the_clock_was_ahead_gets_greater_fences_nevertheless() {
    let clock = ServerClock::new();
    let server = clock.server();
    clock.set(&server, HOUR).await;
    let before = fence_of_a_new_client(&server, 1).await;
    clock.set(&server, HOUR + 60).await;
    assert_eq!(keys(&server).await, 0, "idle for longer than anything is remembered");
    let seinpaal = seinpaal::Seinpaal::connect(&server.url("")).await.unwrap();
    clock.set(&server, 0).await;
    let repeats = fence_of_a_new_client(&server, 2).await;
    assert!(repeats < before, "{repeats:?} after {before:?}: promise it, in docs/guarantees.md");
    let permit = seinpaal.semaphore("n").limit(1).acquire().await.unwrap();
    assert!(permit.fence() > before);
}

/// How many keys of the name there are.
async fn keys(server: &RedisServer) -> u64 {
    let mut exists = cmd("EXISTS");
    exists.arg("seinpaal:{n}").arg("seinpaal:{n}:o");
    exists.query_async(&mut plain(&server.url("")).await).await.unwrap()
}

async fn fence_of_a_new_client(server: &RedisServer, ticket: u128) -> Fence {
    let client = Client::connect(&server.url(""), ticket).await;
    let ask = Request::Acquire(acquisition(ticket, TTL));
    let batch = Batch { fence_seen: 0, ..client.batch("n", vec![ask]) };
    let reply = client.store.call(&batch).await.unwrap().replies.remove(0);
    let Reply::Granted(grant) = reply else { panic!("{reply:?}") };
    client.ask("n", release(ticket)).await.unwrap();
    grant.fence
}

/// The wall clock of servers, in a file that the library reads.
struct ServerClock {
    directory: TempDir,
    environment: Vec<(String, String)>,
}

impl ServerClock {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("clock").display().to_string();
        // The library and jemalloc, which servers are built with, each ask the other first: so the C library's
        // own malloc goes between.
        let environment = [
            ("LD_PRELOAD", format!("{}:{}", libfaketime(), libc())),
            ("FAKETIME_TIMESTAMP_FILE", file),
            ("FAKETIME_NO_CACHE", "1".into()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".into()),
        ];
        let environment = environment.map(|(key, value)| (key.to_owned(), value)).into();
        let clock = Self { directory, environment };
        clock.write(0);
        clock
    }

    fn server(&self) -> RedisServer {
        RedisServer::within(&[], self.environment.clone())
    }

    /// Sets it to be ahead by so many seconds, and sees that it is.
    async fn set(&self, server: &RedisServer, ahead: i64) {
        self.write(ahead);
        let mut behind = plain(&server.url("")).await;
        let (shows, _): (i64, i64) = cmd("TIME").query_async(&mut behind).await.unwrap();
        assert!((shows - clock() - ahead).abs() < 30, "faketime does nothing");
    }

    fn write(&self, ahead: i64) {
        let file: PathBuf = self.directory.path().join("clock");
        let next = file.with_extension("next");
        fs::write(&next, format!("{ahead:+}\n")).unwrap();
        fs::rename(next, file).unwrap();
    }
}

/// Seconds since 1970, by this process's wall clock.
fn clock() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    since.as_secs().try_into().unwrap()
}

/// Where it lies, by what the program makes of its environment; the one for programs with threads.
fn libfaketime() -> String {
    let output =
        Command::new("faketime").args(["-m", "-f", "+0s", "printenv", "LD_PRELOAD"]).output();
    let output = output
        .expect("faketime cannot be started: install it (apt install faketime) for this test");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// Where the C library lies that this program runs on.
fn libc() -> String {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let mut paths = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    paths.find(|path| path.ends_with("/libc.so.6")).expect("a C library").to_owned()
}
