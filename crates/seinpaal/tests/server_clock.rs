//! A server whose wall clock is set while it runs still gives growing fences. The library of
//! `faketime` sets the clock, and the server's own `TIME` proves that it is set.

#[path = "support/requests.rs"]
mod requests;

use redis::cmd;
use requests::{Client, TTL, acquisition, plain, release};
use seinpaal::store::Store;
use seinpaal_proto::{Batch, Fence, Reply, Request};
use seinpaal_rig::{Clocks, RedisServer};

const HOUR: i64 = 3_600;

/// A case that the torture rig once found: the clock is an hour ahead for a while, and then the
/// name is idle for longer than any memory lasts. Every client is new, and so has seen no fences.
#[tokio::test]
async fn no_fence_is_given_twice_after_the_servers_clock_was_an_hour_ahead_for_a_while() {
    let clock = ServerClock::new();
    let server = clock.server();
    let mut fences = Vec::new();
    // The acquires, in seconds by the server's clock.
    for (at, ticket) in [(HOUR, 1), (0, 2), (60, 3), (HOUR / 2, 4), (2 * HOUR, 5)] {
        clock.set(&server, at).await;
        fences.push(fence_of_a_new_client(&server, ticket).await.0);
    }
    assert!(fences.is_sorted_by(|earlier, later| earlier < later), "{fences:?}");
    clock.set(&server, 2 * HOUR + 60).await;
    assert_eq!(keys(&server).await, 0, "the clock has passed the last fence");
}

/// This is not promised (docs/guide/promises.md). If the name was forgotten while the clock was ahead,
/// it gives fences again. A new client cannot notice that, but a client that has heard from the
/// server meanwhile never gets such a fence.
#[tokio::test]
async fn a_client_that_was_connected_while_the_clock_was_ahead_gets_greater_fences_nevertheless() {
    let clock = ServerClock::new();
    let server = clock.server();
    clock.set(&server, HOUR).await;
    let before = fence_of_a_new_client(&server, 1).await;
    clock.set(&server, HOUR + 60).await;
    assert_eq!(keys(&server).await, 0, "idle for longer than anything is remembered");
    let seinpaal = seinpaal::Seinpaal::connect(&server.socket_url("")).await.unwrap();
    clock.set(&server, 0).await;
    let repeats = fence_of_a_new_client(&server, 2).await;
    assert!(repeats < before, "{repeats:?} after {before:?}: promise it (guide/promises.md)");
    let permit = seinpaal.semaphore("n").limit(1).acquire().await.unwrap();
    assert!(permit.fence() > before);
}

/// The number of keys of the name.
async fn keys(server: &RedisServer) -> u64 {
    let mut exists = cmd("EXISTS");
    exists.arg("seinpaal:{n}").arg("seinpaal:{n}:o");
    exists.query_async(&mut plain(&server.socket_url("")).await).await.unwrap()
}

async fn fence_of_a_new_client(server: &RedisServer, ticket: u128) -> Fence {
    let client = Client::connect(&server.socket_url(""), ticket).await;
    let ask = Request::Acquire(acquisition(ticket, TTL));
    let batch = Batch { fence_seen: 0, ..client.batch("n", vec![ask]) };
    let reply = client.store.call(&batch).await.unwrap().replies.remove(0);
    let Reply::Granted(grant) = reply else { panic!("{reply:?}") };
    client.ask("n", release(ticket)).await.unwrap();
    grant.fence
}

/// The wall clock of a server.
struct ServerClock(Clocks);

impl ServerClock {
    const OF: &str = "server";

    fn new() -> Self {
        let clocks = Clocks::new().unwrap();
        assert!(clocks.can_be_set(), "faketime is missing: run ./test, which installs it");
        Self(clocks)
    }

    fn server(&self) -> RedisServer {
        self.0.server(Self::OF, &[]).unwrap()
    }

    /// Sets the clock ahead by this many seconds, and checks that it is.
    async fn set(&self, server: &RedisServer, ahead: i64) {
        self.0.set(Self::OF, ahead);
        let mut behind = plain(&server.socket_url("")).await;
        let (shows, _): (i64, i64) = cmd("TIME").query_async(&mut behind).await.unwrap();
        assert!((shows - clock() - ahead).abs() < 30, "faketime does nothing");
    }
}

/// Seconds since 1970, by this process's wall clock.
fn clock() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    since.as_secs().try_into().unwrap()
}
