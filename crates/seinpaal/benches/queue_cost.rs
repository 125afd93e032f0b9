//! What the scripts of queues cost the server: microseconds of its CPU and commands inside the script, an item.
//!
//! ```text
//! cargo bench -p seinpaal --bench queue_cost
//! ```
//!
//! Each of 64 queues has one call in flight, so that sockets and wake-ups are shared as they are under load
//! and what is left is the script. Printed are medians of rounds.

#[path = "../tests/support/asks.rs"]
mod asks;
#[path = "../tests/support/redis_server.rs"]
mod redis_server;

use std::{collections::BTreeMap, fs};

use asks::{Client, plain};
use futures_util::future::join_all;
use redis::{aio::MultiplexedConnection, cmd};
use redis_server::RedisServer;
use seinpaal::store::Store;
use seinpaal_proto::{
    Name, Priority,
    queue::{Batch, Delivery, Due, How, Pop, Push, Renew, Reply, Request},
    time::SECOND,
};

const QUEUES: usize = 64;
const CALLS: u64 = 20;
const ROUNDS: u64 = 11;
/// Far beyond the end of the run.
const LATER: u64 = 1 << 52;

struct Bench {
    client: Client,
    plain: MultiplexedConnection,
    server: RedisServer,
    number: u64,
}

impl Bench {
    async fn new() -> Self {
        let server = RedisServer::start();
        let client = Client::connect(&server.url(""), 1).await;
        let plain = plain(&server.url("")).await;
        Self { client, plain, server, number: 0 }
    }

    /// Nanoseconds that the server's main thread has run.
    fn used(&self) -> u64 {
        let process = self.server.process();
        let path = format!("/proc/{process}/task/{process}/schedstat");
        let text = fs::read_to_string(path).expect("schedstat, which Linux has");
        text.split(' ').next().and_then(|first| first.parse().ok()).expect("a number first")
    }

    /// Commands that scripts have called until now.
    async fn commands(&mut self) -> u64 {
        let info = cmd("INFO").arg("commandstats").query_async(&mut self.plain).await;
        let info: String = info.expect("INFO");
        let counts = info.lines().filter(|line| !line.starts_with("cmdstat_eval"));
        let calls = counts.filter_map(|line| line.split_once("calls=")?.1.split(',').next());
        calls.filter_map(|calls| calls.parse::<u64>().ok()).sum()
    }

    /// The same of every queue at once.
    async fn ask(&mut self, of: impl Fn(usize) -> Vec<Request>) -> Vec<Vec<Reply>> {
        self.number += 1;
        let batches = (0..QUEUES).map(|queue| Batch {
            name: Name::new(&format!("queue{queue}")).expect("a name"),
            session: self.client.inbox,
            number: self.number,
            not_after: LATER,
            seen: 0,
            requests: of(queue),
        });
        let batches = batches.collect::<Vec<_>>();
        let calls = batches.iter().map(|batch| self.client.store.call_queue(batch));
        let replies = join_all(calls).await.into_iter();
        replies.map(|replies| replies.expect("replies").replies).collect()
    }

    async fn push(&mut self, items: usize) {
        self.ask(|_| vec![push(); items]).await;
    }

    /// Acknowledges what is given, and pops as much again, or another number.
    async fn next(&mut self, done: &[Vec<Delivery>], items: u32) -> Vec<Vec<Delivery>> {
        let replies = self.ask(|queue| {
            let done = done.get(queue).into_iter().flatten();
            let finish = |delivery: &Delivery| Request::Finish {
                delivery: *delivery,
                how: How::Acknowledge,
            };
            let mut requests = done.map(finish).collect::<Vec<_>>();
            requests.extend((items > 0).then(|| pop(items)));
            requests
        });
        replies.await.iter().map(|replies| delivered(replies)).collect()
    }

    async fn renew(&mut self, held: &[Vec<Delivery>]) {
        let (ttl, margin) = (60 * SECOND, SECOND);
        self.ask(|queue| {
            vec![Request::Renew(Renew { ttl, margin, deliveries: held[queue].clone() })]
        })
        .await;
    }
}

fn push() -> Request {
    Request::Push(Push {
        payload: vec![b'x'; 100],
        priority: Priority::default(),
        due: Due::Now,
        group: None,
        dedup: None,
        most: 25,
        about: "worker@host".into(),
    })
}

fn pop(items: u32) -> Request {
    let (ttl, margin, about) = (60 * SECOND, SECOND, "worker@host".into());
    Request::Pop(Pop { items, ttl, margin, wait: true, drains: false, about })
}

fn delivered(replies: &[Reply]) -> Vec<Delivery> {
    match replies.last() {
        Some(Reply::Popped { items, .. }) => items.iter().map(|popped| popped.delivery).collect(),
        _ => Vec::new(),
    }
}

#[derive(Default)]
struct Table(BTreeMap<String, (Vec<f64>, Vec<f64>)>);

impl Table {
    /// Costs of one item.
    async fn add<T>(
        &mut self,
        what: &str,
        bench: &mut Bench,
        items: u64,
        work: impl AsyncFnOnce(&mut Bench) -> T,
    ) -> T {
        let (commands, used) = (bench.commands().await, bench.used());
        let done = work(bench).await;
        let used = (bench.used() - used) as f64 / 1000.0 / items as f64;
        // The INFO before is counted.
        let commands = (bench.commands().await - commands - 1) as f64 / items as f64;
        let row = self.0.entry(what.to_owned()).or_default();
        row.0.push(used);
        row.1.push(commands);
        done
    }
}

/// Batches of so many items, in each of the ways in which sessions send them.
async fn round(bench: &mut Bench, table: &mut Table, items: usize) {
    let count = CALLS * (QUEUES * items) as u64;
    let name = |what: &str| format!("{what}, {items} a batch");
    let push = async |bench: &mut Bench| {
        for _ in 0..CALLS {
            bench.push(items).await;
        }
    };
    table.add(&name("push"), bench, count, push).await;
    bench.push(items).await;
    let first = bench.next(&[], items as u32).await;
    let next = async |bench: &mut Bench| {
        let mut held = first;
        for _ in 0..CALLS {
            held = bench.next(&held, items as u32).await;
        }
        held
    };
    let held = table.add(&name("acknowledge and pop"), bench, count, next).await;
    let renew = async |bench: &mut Bench| {
        for _ in 0..CALLS {
            bench.renew(&held).await;
        }
    };
    table.add(&name("renew"), bench, count, renew).await;
    bench.next(&held, 0).await;
    bench.push(items * CALLS as usize % 61).await;
    apart(bench, table, items, &name).await;
}

/// Pops and acknowledgements by themselves.
async fn apart(bench: &mut Bench, table: &mut Table, items: usize, name: &impl Fn(&str) -> String) {
    let count = CALLS * (QUEUES * items) as u64;
    for _ in 0..CALLS {
        bench.push(items).await;
    }
    let pop = async |bench: &mut Bench| {
        let mut held = Vec::new();
        for _ in 0..CALLS {
            held.push(bench.next(&[], items as u32).await);
        }
        held
    };
    let held = table.add(&name("pop"), bench, count, pop).await;
    let acknowledge = async |bench: &mut Bench| {
        for held in held {
            bench.next(&held, 0).await;
        }
    };
    table.add(&name("acknowledge"), bench, count, acknowledge).await;
    while bench.next(&[], 64).await.iter().any(|held| !held.is_empty()) {}
    bench.ask(|_| vec![Request::Leave]).await;
}

/// A worker waits; it is called for an item, takes it, acknowledges it and waits again.
async fn called(bench: &mut Bench, table: &mut Table) {
    bench.next(&[], 1).await;
    let called = async |bench: &mut Bench| {
        for _ in 0..CALLS {
            bench.push(1).await;
            let held = bench.next(&[], 1).await;
            bench.next(&held, 1).await;
        }
    };
    table.add("push, call, pop, acknowledge and wait", bench, CALLS * QUEUES as u64, called).await;
    bench.ask(|_| vec![Request::Leave]).await;
}

fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (mut bench, mut table) = (Bench::new().await, Table::default());
    for _ in 0..ROUNDS {
        cmd("FLUSHALL").exec_async(&mut bench.plain).await.expect("FLUSHALL");
        for items in [1, 16] {
            round(&mut bench, &mut table, items).await;
        }
        called(&mut bench, &mut table).await;
    }
    println!("{:40} {:>9} {:>13}", "", "µs/item", "commands/item");
    for (what, (mut used, mut commands)) in table.0 {
        println!("{what:40} {:9.2} {:13.2}", median(&mut used), median(&mut commands));
    }
}
