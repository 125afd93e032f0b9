//! The server's cost of waiting clients.

use std::time::Duration;

use seinpaal::Seinpaal;
use tokio::{sync::mpsc, task::JoinSet};

use crate::{
    child::Waiter,
    server::Server,
    table::{Bound, Table},
};

const PROCESSES: usize = 100;
const TASKS: usize = 1_000;

/// The time to measure, which is long enough for the renewals of every waiter (one each 5 s).
fn window(is_quick: bool) -> Duration {
    Duration::from_secs(if is_quick { 6 } else { 10 })
}

pub(crate) async fn processes(server: &Server, is_quick: bool, table: &mut Table) {
    let seinpaal = Seinpaal::connect(&server.url()).await.expect("the store is there");
    let permit = seinpaal.semaphore("processes").limit(1).acquire().await.expect("a permit");
    let mut waiters: Vec<_> =
        (0..PROCESSES).map(|_| Waiter::start(&server.url(), "processes")).collect();
    waiters.iter_mut().for_each(Waiter::until_queued);
    let rate = rate(server, is_quick).await / PROCESSES as f64;
    waiters.into_iter().for_each(Waiter::kill);
    let what = "100 processes wait: commands a second, each";
    let peers = "AAS 0.4–1, all others 5–95";
    table.count(what, rate, Bound::Below(0.5), peers);
    permit.release().await.expect("it was held");
}

pub(crate) async fn tasks(server: &Server, is_quick: bool, table: &mut Table) {
    let seinpaal = Seinpaal::connect(&server.url()).await.expect("the store is there");
    let semaphore = seinpaal.semaphore("tasks").limit(1);
    let permit = semaphore.acquire().await.expect("a permit");
    let (queued, mut is_queued) = mpsc::unbounded_channel();
    let mut tasks = JoinSet::new();
    for _ in 0..TASKS {
        let queued = queued.clone();
        let acquire = semaphore.acquire().on_queued(move |_| queued.send(()).unwrap_or_default());
        tasks.spawn(async move { drop(acquire.await) });
    }
    for _ in 0..TASKS {
        is_queued.recv().await.expect("they queue");
    }
    let rate = rate(server, is_quick).await;
    table.count(
        "1000 tasks of a process wait: commands a second, in all",
        rate,
        Bound::Below(2.0),
        "",
    );
    tasks.shutdown().await;
    permit.release().await.expect("it was held");
}

async fn rate(server: &Server, is_quick: bool) -> f64 {
    let window = window(is_quick);
    let tap = server.tap();
    tokio::time::sleep(window).await;
    tap.end().len() as f64 / window.as_secs_f64()
}
