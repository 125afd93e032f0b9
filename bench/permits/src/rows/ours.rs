//! Rows about our own costs: server instructions, by callgrind, of two windows of different
//! lengths.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use seinpaal::{Acquire, Permit, Seinpaal, Semaphore};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
};

use super::{Bench, Row, block_on};
use crate::server::Server;

const TIMES: u64 = 256;
const SIZES: [u32; 3] = [10, 1_000, 10_000];
const CROWDS: [u32; 5] = [2, 4, 8, 16, 64];
const RENEWALS: u64 = 24;
const SHORT: Duration = Duration::from_secs(6);
/// A server under callgrind needs some ten seconds for 10 000 acquires.
const LONG: Duration = Duration::from_secs(18);
const NAME: &str = "bench";

/// What a client asks for when it is this turn.
type Ask = fn(&Seinpaal, u64) -> Acquire;

pub(super) fn dropped(bench: &mut Bench, row: &Row) -> io::Result<()> {
    let figure = ours(async |server| {
        let semaphore = connect(server).await?.semaphore(NAME).limit(4);
        difference(server, async |times| drop_and_ask(&semaphore, times).await).await
    });
    say(bench, row, "Seinpaal", "instructions a pair", figure)
}

pub(super) fn handover(bench: &mut Bench, row: &Row) -> io::Result<()> {
    for (who, are_apart) in
        [("Seinpaal, two clients", true), ("Seinpaal, two tasks of one client", false)]
    {
        let figure = ours(async |server| {
            let first = connect(server).await?;
            let second = if are_apart { connect(server).await? } else { first.clone() };
            let pair = [first, second].map(|seinpaal| seinpaal.semaphore(NAME).limit(1));
            difference(server, async |times| hand_over(&pair, times).await).await
        });
        say(bench, row, who, "instructions a grant", figure)?;
    }
    Ok(())
}

pub(super) fn renewal(bench: &mut Bench, row: &Row) -> io::Result<()> {
    for (permits, ttl) in [(1, SHORT), (100, SHORT), (10_000, LONG)] {
        let figure = ours(async |server| renew(server, permits, ttl).await);
        say(bench, row, &format!("Seinpaal, {permits} permits"), "instructions a renewal", figure)?;
    }
    Ok(())
}

/// Beside the same without the guard, for its price. The guard begins with the server, and is waited for.
pub(super) fn guarded(bench: &mut Bench, row: &Row) -> io::Result<()> {
    for (who, options) in [("Seinpaal", "?restart-guard=on"), ("Seinpaal without the guard", "")] {
        let figure = ours(async |server| {
            let url = server.url() + options;
            let seinpaal = Seinpaal::connect(&url).await.map_err(io::Error::other)?;
            let semaphore = seinpaal.semaphore(NAME).limit(4);
            difference(server, async |times| pairs(&semaphore, times).await).await
        });
        say(bench, row, who, "instructions a pair", figure)?;
    }
    Ok(())
}

pub(super) fn write(bench: &mut Bench, row: &Row) -> io::Result<()> {
    let figure = ours(async |server| {
        let permit = acquire(&connect(server).await?.semaphore(NAME).limit(1)).await?;
        difference(server, async |times| writes(&permit, times).await).await
    });
    say(bench, row, "Seinpaal", "instructions a write", figure)
}

pub(super) fn growth(bench: &mut Bench, row: &Row) -> io::Result<()> {
    for others in SIZES {
        let figure = ours(async |server| beside_holders(server, others).await);
        say(
            bench,
            row,
            &format!("Seinpaal, beside {others} holders"),
            "instructions a pair",
            figure,
        )?;
    }
    for others in SIZES {
        let figure = ours(async |server| beside_waiters(server, others).await);
        say(
            bench,
            row,
            &format!("Seinpaal, beside {others} waiters"),
            "instructions a pair",
            figure,
        )?;
    }
    Ok(())
}

/// Each client has a connection of its own, and asks again as soon as it has given back.
pub(super) fn crowd(bench: &mut Bench, row: &Row) -> io::Result<()> {
    for clients in CROWDS {
        let figure = ours(async |server| crowded(server, clients, mutex).await);
        say(bench, row, &format!("Seinpaal, {clients} clients"), "instructions a grant", figure)?;
    }
    for clients in CROWDS {
        let figure = ours(async |server| crowded(server, clients, readers_and_writers).await);
        let who = format!("Seinpaal, {clients} clients, every fourth time to write");
        say(bench, row, &who, "instructions a grant", figure)?;
    }
    Ok(())
}

async fn crowded(server: &Server, clients: u32, ask: Ask) -> io::Result<f64> {
    let mut crowd = Vec::new();
    for _ in 0..clients {
        crowd.push(connect(server).await?);
    }
    difference(server, async |times| in_a_crowd(&crowd, ask, times).await).await
}

fn mutex(seinpaal: &Seinpaal, _: u64) -> Acquire {
    seinpaal.mutex(NAME).lock()
}

fn readers_and_writers(seinpaal: &Seinpaal, turn: u64) -> Acquire {
    let lock = seinpaal.rwlock(NAME);
    if turn.is_multiple_of(4) { lock.write() } else { lock.read() }
}

fn ours(scene: impl AsyncFnOnce(&Server) -> io::Result<f64>) -> io::Result<f64> {
    let server = Server::counted()?;
    block_on(scene(&server))
}

fn say(
    bench: &mut Bench,
    row: &Row,
    who: &str,
    what: &str,
    figure: io::Result<f64>,
) -> io::Result<()> {
    match figure {
        Ok(figure) => bench.report.form(row, who, &[(what, figure)]),
        Err(error) => bench.report.left_out(row, (who, ""), &error),
    }
}

async fn connect(server: &Server) -> io::Result<Seinpaal> {
    Seinpaal::connect(&server.url()).await.map_err(io::Error::other)
}

/// Instructions each time, of the difference of two windows.
async fn difference(server: &Server, work: impl AsyncFn(u64) -> io::Result<()>) -> io::Result<f64> {
    work(16).await?;
    server.count()?;
    work(TIMES).await?;
    let short = server.counted_since()?;
    server.count()?;
    work(2 * TIMES).await?;
    Ok((server.counted_since()? - short) / TIMES as f64)
}

async fn drop_and_ask(semaphore: &Semaphore, times: u64) -> io::Result<()> {
    for _ in 0..times {
        drop(acquire(semaphore).await?);
    }
    Ok(())
}

async fn writes(permit: &Permit, times: u64) -> io::Result<()> {
    for _ in 0..times {
        let write = permit.guarded(|group| {
            group.set("value", "x");
        });
        write.await.map_err(io::Error::other)?;
    }
    Ok(())
}

async fn acquire(semaphore: &Semaphore) -> io::Result<Permit> {
    semaphore.acquire().await.map_err(io::Error::other)
}

async fn release(permit: Permit) -> io::Result<()> {
    permit.release().await.map_err(io::Error::other)
}

/// Each in turn waits for what the other holds.
async fn hand_over(pair: &[Semaphore; 2], times: u64) -> io::Result<()> {
    let mut held = acquire(&pair[0]).await?;
    for time in 1..=times {
        let (queued, is_queued) = oneshot::channel();
        let next = pair[usize::from(time % 2 == 1)].acquire();
        let next = next.on_queued(|_| queued.send(()).unwrap_or_default());
        let next = tokio::spawn(next.into_future());
        is_queued.await.map_err(io::Error::other)?;
        release(held).await?;
        held = next.await?.map_err(io::Error::other)?;
    }
    release(held).await
}

/// Instructions of one renewal of this many permits.
async fn renew(server: &Server, permits: u32, ttl: Duration) -> io::Result<f64> {
    let seinpaal = connect(server).await?;
    let semaphore = seinpaal.semaphore(NAME).limit(permits);
    let ask = |_| semaphore.acquire().ttl(ttl).into_future();
    let held = (0..permits).map(ask).collect::<JoinSet<_>>().join_all().await;
    let held = held.into_iter().collect::<Result<Vec<_>, _>>().map_err(io::Error::other)?;
    // The first merges what was asked for at different times, and brings the script.
    until_called(&seinpaal, 1).await;
    until_called(&seinpaal, 1).await;
    server.collect()?;
    let before = seinpaal.statistics().calls;
    server.count()?;
    until_called(&seinpaal, RENEWALS).await;
    server.collect()?;
    let counted = server.counted_since()?;
    let renewals = seinpaal.statistics().calls - before;
    server.count()?;
    server.collect()?;
    let nothing = server.counted_since()?;
    drop(held);
    Ok((counted - nothing) / renewals as f64)
}

async fn until_called(seinpaal: &Seinpaal, more: u64) {
    let before = seinpaal.statistics().calls;
    while seinpaal.statistics().calls < before + more {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::sleep(Duration::from_millis(100)).await; // the last is answered
}

async fn beside_holders(server: &Server, others: u32) -> io::Result<f64> {
    let (seinpaal, other) = (connect(server).await?, connect(server).await?);
    let [ours, theirs] = [&seinpaal, &other].map(|it| it.semaphore(NAME).limit(others + 1));
    let held = (0..others).map(|_| theirs.acquire().into_future()).collect::<JoinSet<_>>();
    let held = held.join_all().await;
    let held = held.into_iter().collect::<Result<Vec<_>, _>>().map_err(io::Error::other)?;
    let figure = difference(server, async |times| pairs(&ours, times).await).await;
    drop(held);
    figure
}

/// All of them wait for more permits than are free, so that a waiter of higher rank can still get
/// one more.
async fn beside_waiters(server: &Server, others: u32) -> io::Result<f64> {
    let (seinpaal, other) = (connect(server).await?, connect(server).await?);
    let [ours, theirs] = [&seinpaal, &other].map(|it| it.semaphore(NAME).limit(2));
    let held = acquire(&theirs).await?;
    let (queued, mut is_queued) = mpsc::unbounded_channel();
    let mut tasks = JoinSet::new();
    for _ in 0..others {
        let queued = queued.clone();
        let wait = theirs.acquire().permits(2);
        tasks.spawn(wait.on_queued(move |_| queued.send(()).unwrap_or_default()).into_future());
    }
    for _ in 0..others {
        is_queued.recv().await.ok_or_else(|| io::Error::other("a waiter does not queue"))?;
    }
    let figure = difference(server, async |times| pairs(&ours, times).await).await;
    tasks.shutdown().await;
    drop(held);
    figure
}

/// This many pairs in all, done by whoever comes to the turn.
async fn in_a_crowd(crowd: &[Seinpaal], ask: Ask, times: u64) -> io::Result<()> {
    let left = Arc::new(AtomicU64::new(times));
    let mut tasks = JoinSet::new();
    for seinpaal in crowd {
        let (seinpaal, left) = (seinpaal.clone(), Arc::clone(&left));
        tasks.spawn(async move {
            let next = || left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
            while let Ok(turn) = next() {
                release(ask(&seinpaal, turn).await.map_err(io::Error::other)?).await?;
            }
            io::Result::Ok(())
        });
    }
    tasks.join_all().await.into_iter().collect()
}

async fn pairs(semaphore: &Semaphore, times: u64) -> io::Result<()> {
    for _ in 0..times {
        release(semaphore.acquire().priority(100).await.map_err(io::Error::other)?).await?;
    }
    Ok(())
}
