//! What a script costs the server: microseconds of its CPU a call, and how many no-op scripts that is.
//!
//! ```text
//! cargo bench -p seinpaal --bench script_cost
//! ```
//!
//! Each of 64 names has one call in flight, so that sockets and wake-ups are shared as they are under load
//! and what is left is the script. The no-op takes the same keys and arguments over the same kind of
//! connection in the same round. Printed are medians of rounds: the ratio is what can be compared between
//! machines and hours.

#[path = "../tests/support/asks.rs"]
mod asks;
#[path = "../tests/support/redis_server.rs"]
mod redis_server;

use std::{
    collections::BTreeMap,
    fs,
    future::Future,
    sync::atomic::{AtomicU64, Ordering},
};

use asks::{Client, acquire, plain, release};
use futures_util::future::join_all;
use redis::{aio::MultiplexedConnection, cmd};
use redis_server::RedisServer;
use seinpaal::{
    Group,
    store::{GuardedWrite, Store},
};
use seinpaal_proto::{Fence, Name, Renew, Reply, Request, Ticket, Whom, time::SECOND};

const NAMES: u128 = 64;
const CALLS: u128 = 30;
const ROUNDS: u128 = 15;
const NOOP: &str = "noop, same arguments";
/// As long as the line of an acquire, which is the longest.
const LINE: usize = 190;

/// A client, the server it talks to, and a script that does nothing.
struct Bench {
    client: Client,
    plain: MultiplexedConnection,
    noop: String,
    server: RedisServer,
}

impl Bench {
    async fn new(options: &str) -> Self {
        let server = RedisServer::start();
        let client = Client::connect(&server.url(options), 1).await;
        let mut plain = plain(&server.url("")).await;
        let mut load = cmd("SCRIPT");
        load.arg("LOAD").arg("return ARGV[4]");
        let noop = load.query_async(&mut plain).await.expect("SCRIPT LOAD");
        Self { client, plain, noop, server }
    }

    /// Nanoseconds that the server's main thread has run.
    fn used(&self) -> u64 {
        let process = self.server.process();
        let path = format!("/proc/{process}/task/{process}/schedstat");
        let text = fs::read_to_string(path).expect("schedstat, which Linux has");
        text.split(' ').next().and_then(|first| first.parse().ok()).expect("a number first")
    }

    /// Microseconds of server CPU a call.
    async fn cost(&self, calls: u128, work: impl Future<Output = ()>) -> f64 {
        let before = self.used();
        work.await;
        (self.used() - before) as f64 / 1000.0 / calls as f64
    }

    /// The same of every name at once.
    async fn ask(&self, kind: &str, request: impl Fn(u128) -> Request) {
        let batches =
            (0..NAMES).map(|name| self.client.batch(&format!("{kind}{name}"), vec![request(name)]));
        let batches = batches.collect::<Vec<_>>();
        for reply in join_all(batches.iter().map(|batch| self.client.store.call(batch))).await {
            reply.expect("a reply");
        }
    }

    async fn noops(&self) {
        let line = "x".repeat(LINE);
        for _ in 0..CALLS {
            join_all((0..NAMES).map(|name| self.noop(name, &line))).await;
        }
    }

    async fn noop(&self, name: u128, line: &str) {
        let mut noop = cmd("EVALSHA");
        noop.arg(&self.noop).arg(2);
        noop.arg(format!("seinpaal:{{{name}}}")).arg(format!("seinpaal:{{{name}}}:o"));
        noop.arg("").arg(self.client.inbox.to_string()).arg("0").arg(line);
        noop.exec_async(&mut self.plain.clone()).await.expect("a reply");
    }

    /// Acquire and release of a name that nobody else uses.
    async fn cycles(&self, from: u128) {
        for call in 0..CALLS {
            let ticket = |name| from + call * NAMES + name;
            self.ask("free", |name| acquire(ticket(name))).await;
            self.ask("free", |name| release(ticket(name))).await;
        }
    }

    /// One more waits, and the holder hands over.
    async fn hand_overs(&self, from: u128) {
        for call in 0..CALLS {
            let ticket = |name| from + call * NAMES + name;
            self.ask("busy", |name| acquire(ticket(name) + NAMES)).await;
            self.ask("busy", |name| release(ticket(name))).await;
        }
    }

    async fn renewals(&self) {
        for _ in 0..CALLS {
            self.ask("held", renew_all).await;
        }
    }

    /// A guarded write of one small value.
    async fn writes(&self, fences: &[Fence]) {
        let writes = (0..CALLS * NAMES).map(|i| {
            let name = i % NAMES;
            let mut group = Group::default();
            group.set(format!("value{name}"), "x");
            let held = vec![(Ticket(name), fences[name as usize])];
            let name = Name::new(&format!("held{name}")).expect("a name");
            GuardedWrite { name, held, id: draw(), group }
        });
        let writes = writes.collect::<Vec<_>>();
        for chunk in writes.chunks(NAMES as usize) {
            let written = chunk.iter().filter_map(|write| self.client.store.guarded(write));
            for answer in join_all(written).await {
                answer.expect("it is held");
            }
        }
    }

    /// The fences of what is held for the whole run. A guard that begins with the server is waited for.
    async fn hold(&self) -> Vec<Fence> {
        let mut fences = Vec::new();
        for name in 0..NAMES {
            fences.push(loop {
                let reply = self.client.ask(&format!("held{name}"), acquire(name)).await;
                if let Reply::Granted(grant) = reply.expect("a reply") {
                    break grant.fence;
                }
            });
        }
        fences
    }

    async fn round(&self, round: u128) -> [(&'static str, f64); 4] {
        let from = (round + 1) * CALLS * NAMES;
        [
            (NOOP, self.cost(CALLS * NAMES, self.noops()).await),
            ("acquire or release, free", self.cost(2 * CALLS * NAMES, self.cycles(from)).await),
            ("queue or hand over", self.cost(2 * CALLS * NAMES, self.hand_overs(from)).await),
            ("renew all", self.cost(CALLS * NAMES, self.renewals()).await),
        ]
    }
}

/// A number that was not drawn before.
fn draw() -> u128 {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    DRAWN.fetch_add(1, Ordering::Relaxed).into()
}

fn renew_all(name: u128) -> Request {
    let ticket = Ticket(name);
    let whom = Whom::All { members: 1, digest: ticket.digest() };
    Request::Renew(Renew { lease: ticket.into(), ttl: 60 * SECOND, margin: SECOND, whom })
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (bench, guarded) = (Bench::new("").await, Bench::new("?restart-guard=125ms").await);
    let fences = bench.hold().await;
    guarded.hold().await;
    bench.ask("busy", |name| acquire(CALLS * NAMES + name)).await;
    let (mut costs, mut ratios) = (BTreeMap::<_, Vec<_>>::new(), BTreeMap::<_, Vec<_>>::new());
    for round in 0..ROUNDS {
        let mut figures = bench.round(round).await.to_vec();
        let writes = bench.cost(CALLS * NAMES, bench.writes(&fences)).await;
        figures.push(("guarded write of one value", writes));
        let cycles = guarded.cycles((round + 1) * CALLS * NAMES);
        let cycles = guarded.cost(2 * CALLS * NAMES, cycles).await;
        figures.push(("the first with restart-guard", cycles));
        let noop = figures[0].1;
        for (what, cost) in figures {
            costs.entry(what).or_default().push(cost);
            ratios.entry(what).or_default().push(cost / noop);
        }
    }
    println!("{:30} {:>8} {:>8}", "", "µs/call", "x noop");
    for (what, figures) in costs {
        let ratio = median(ratios.remove(what).unwrap_or_default());
        println!("{what:30} {:8.1} {ratio:8.1}", median(figures));
    }
}
