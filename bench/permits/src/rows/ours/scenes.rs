//! What clients do while the server's instructions are counted.

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

use crate::server::Server;

pub(super) const NAME: &str = "bench";
const TIMES: u64 = 256;
const RENEWALS: u64 = 24;

/// What a client asks for when it is this turn.
type Want = fn(&Seinpaal, u64) -> Acquire;

pub(super) async fn connect(server: &Server) -> io::Result<Seinpaal> {
    Seinpaal::connect(&server.url()).await.map_err(io::Error::other)
}

/// Instructions each time, of the difference of two windows.
pub(super) async fn difference(
    server: &Server,
    work: impl AsyncFn(u64) -> io::Result<()>,
) -> io::Result<f64> {
    work(16).await?;
    server.count()?;
    work(TIMES).await?;
    let short = server.counted_since()?;
    server.count()?;
    work(2 * TIMES).await?;
    Ok((server.counted_since()? - short) / TIMES as f64)
}

pub(super) async fn crowded(server: &Server, clients: u32, want: Want) -> io::Result<f64> {
    let mut crowd = Vec::new();
    for _ in 0..clients {
        crowd.push(connect(server).await?);
    }
    difference(server, async |times| in_a_crowd(&crowd, want, times).await).await
}

pub(super) fn mutex(seinpaal: &Seinpaal, _: u64) -> Acquire {
    seinpaal.mutex(NAME).lock()
}

pub(super) fn readers_and_writers(seinpaal: &Seinpaal, turn: u64) -> Acquire {
    let lock = seinpaal.rwlock(NAME);
    if turn.is_multiple_of(4) { lock.write() } else { lock.read() }
}

pub(super) async fn drop_and_ask(semaphore: &Semaphore, times: u64) -> io::Result<()> {
    for _ in 0..times {
        drop(acquire(semaphore).await?);
    }
    Ok(())
}

pub(super) async fn writes(permit: &Permit, times: u64) -> io::Result<()> {
    for _ in 0..times {
        let write = permit.guarded(|group| {
            group.set("value", "x");
        });
        write.await.map_err(io::Error::other)?;
    }
    Ok(())
}

pub(super) async fn acquire(semaphore: &Semaphore) -> io::Result<Permit> {
    semaphore.acquire().await.map_err(io::Error::other)
}

async fn release(permit: Permit) -> io::Result<()> {
    permit.release().await.map_err(io::Error::other)
}

/// Each in turn waits for what the other holds.
pub(super) async fn hand_over(pair: &[Semaphore; 2], times: u64) -> io::Result<()> {
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
pub(super) async fn renew(server: &Server, permits: u32, ttl: Duration) -> io::Result<f64> {
    let seinpaal = connect(server).await?;
    let semaphore = seinpaal.semaphore(NAME).limit(permits);
    let want = |_| semaphore.acquire().ttl(ttl).into_future();
    let held = (0..permits).map(want).collect::<JoinSet<_>>().join_all().await;
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

pub(super) async fn beside_holders(server: &Server, others: u32) -> io::Result<f64> {
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
pub(super) async fn beside_waiters(server: &Server, others: u32) -> io::Result<f64> {
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
async fn in_a_crowd(crowd: &[Seinpaal], want: Want, times: u64) -> io::Result<()> {
    let left = Arc::new(AtomicU64::new(times));
    let mut tasks = JoinSet::new();
    for seinpaal in crowd {
        let (seinpaal, left) = (seinpaal.clone(), Arc::clone(&left));
        tasks.spawn(async move {
            let next = || left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
            while let Ok(turn) = next() {
                release(want(&seinpaal, turn).await.map_err(io::Error::other)?).await?;
            }
            io::Result::Ok(())
        });
    }
    tasks.join_all().await.into_iter().collect()
}

pub(super) async fn pairs(semaphore: &Semaphore, times: u64) -> io::Result<()> {
    for _ in 0..times {
        release(semaphore.acquire().priority(100).await.map_err(io::Error::other)?).await?;
    }
    Ok(())
}
