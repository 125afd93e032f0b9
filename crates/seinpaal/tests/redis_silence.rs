//! Silent servers and connections that die silently, with the real driver. A renewal is repeated
//! over a new connection in time, no holder is alarmed, and the order of a line stays.
#![cfg(feature = "redis")]

#[path = "redis_silence/callers.rs"]
mod callers;
#[path = "redis_silence/order.rs"]
mod order;

use std::time::Duration;

use seinpaal::{Permit, PermitState, Seinpaal};
use seinpaal_rig::Proxy;
use seinpaal_rig::RedisServer;
use tokio::time::{Instant, sleep};

/// How many clients there are. The connection of each is killed at another moment.
const CLIENTS: u32 = 8;

/// The ttl, in seconds: long enough for a busy machine, and too short for a renewal that waits for
/// the one before it to fail. The environment variable can set another.
fn ttl() -> Duration {
    let named = std::env::var("SEINPAAL_SILENT_TTL").ok();
    Duration::from_secs_f64(named.map_or(6.0, |seconds| seconds.parse().expect("seconds")))
}

/// Looks at the state until then. It must not change.
async fn watch(permit: &Permit, until: Instant, what: &str) {
    while Instant::now() < until {
        let told = permit.state();
        assert_eq!(told, PermitState::Held, "{what}");
        sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_dies_without_a_word_alarms_nobody() {
    let server = RedisServer::start();
    let port = server.port();
    let ttl = ttl();
    let clients = (0..CLIENTS).map(|client| {
        tokio::spawn(async move {
            let proxy = Proxy::start(port).unwrap();
            let seinpaal = Seinpaal::connect(&proxy.url()).await.expect("a server");
            let semaphore = seinpaal.semaphore("n").limit(CLIENTS);
            let permit = semaphore.acquire().ttl(ttl).await.expect("a permit");
            let began = Instant::now();
            // The moments reach from just after the grant to just before the answer to the renewal,
            // at a third of the ttl.
            let moment = ttl / 3 * client / (CLIENTS - 1);
            watch(&permit, began + moment, "before").await;
            proxy.kill_without_a_word();
            watch(&permit, began + moment + ttl * 3 / 2, &format!("killed after {moment:?}")).await;
            assert!(proxy.connections() >= 2, "over a new connection");
            permit.release().await.expect("released");
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.expect("no alarm");
    }
}
