//! A line of waiters, each a client of its own, and servers that are silent for a while.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use seinpaal::{Seinpaal, Semaphore, Snapshot};
use seinpaal_rig::RedisCluster;
use tokio::{task::JoinHandle, time::sleep};

use seinpaal_rig::RedisServer;

/// How many clients wait.
const WAITERS: usize = 8;
/// Several times as long as clients wait for an answer, and shorter than a place in line lasts.
const SILENCE: Duration = Duration::from_secs(9);

/// The waiters that were granted the permit, in order.
type Order = Arc<Mutex<Vec<usize>>>;

async fn semaphore(url: &str) -> (Seinpaal, Semaphore) {
    let seinpaal = Seinpaal::connect(url).await.expect("a server");
    let semaphore = seinpaal.semaphore("line").limit(1);
    (seinpaal, semaphore)
}

async fn until_seen(semaphore: &Semaphore, is_so: impl Fn(&Snapshot) -> bool) {
    loop {
        let seen = semaphore.snapshot().await.expect("a snapshot");
        if is_so(&seen) {
            return;
        }
        sleep(Duration::from_millis(10)).await;
    }
}

/// Joins the line. The waiter stands in line when this returns.
async fn join(url: &str, number: usize, order: &Order) -> JoinHandle<()> {
    let (seinpaal, semaphore) = semaphore(url).await;
    let (order, waiting) = (order.clone(), semaphore.acquire());
    let waiter = tokio::spawn(async move {
        let permit = waiting.await.expect("a permit");
        order.lock().expect("no panic").push(number);
        permit.release().await.expect("released");
        drop(seinpaal);
    });
    until_seen(&semaphore, |seen| seen.waiters.len() == number).await;
    waiter
}

/// The release that frees the permit is sent last during the server's silence, over a connection
/// that was idle before. So the server reads it after the requests of every waiter's connection,
/// and before it greets a new one.
async fn the_line_is_kept(url: &str, pause: impl Fn(), resume: impl Fn()) {
    let (_holder, held) = semaphore(url).await;
    let (_operator, steered) = semaphore(url).await;
    let _ = steered.snapshot().await.expect("a snapshot");
    let permit = held.acquire().await.expect("a permit");
    let order = Order::default();
    let mut waiters = Vec::new();
    for number in 1..=WAITERS {
        waiters.push(join(url, number, &order).await);
    }
    pause();
    sleep(SILENCE).await;
    let ticket = permit.ticket();
    let evicting = tokio::spawn(async move { steered.evict(ticket).await });
    sleep(Duration::from_millis(300)).await;
    resume();
    evicting.await.expect("no panic").expect("evicted");
    for waiter in waiters {
        waiter.await.expect("a turn");
    }
    let order = order.lock().expect("no panic").clone();
    assert_eq!(order, (1..=WAITERS).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silence_of_the_server_changes_no_order() {
    let server = RedisServer::start();
    let port = server.port();
    let url = format!("redis://127.0.0.1:{port}");
    the_line_is_kept(&url, || server.pause(), || server.resume()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silence_changes_no_order_where_wakeups_have_a_connection_of_their_own() {
    let server = RedisServer::with(&["--rename-command", "HELLO", ""]);
    let port = server.port();
    let url = format!("redis://127.0.0.1:{port}");
    the_line_is_kept(&url, || server.pause(), || server.resume()).await;
}

/// All nodes are silent at the same time, and each takes the others for healthy all the time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silence_of_a_cluster_changes_no_order() {
    let cluster = RedisCluster::start_with(3, 0, &["--cluster-node-timeout", "60000"]);
    let all = || 0..cluster.nodes().len();
    let pause = || all().for_each(|node| cluster.pause(node));
    let resume = || all().for_each(|node| cluster.resume(node));
    the_line_is_kept(&cluster.url(), pause, resume).await;
}
