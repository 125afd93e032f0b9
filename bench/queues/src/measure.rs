//! The measurement of a peer.

use std::{
    io, thread,
    time::{Duration, Instant},
};

use rustix::time::{ClockId, clock_gettime};

use crate::{
    peer::{Peer, Said, Worker},
    server::Server,
};

/// Items in a push of many.
const BATCH: u64 = 50;
/// Items for the idle worker, one by one.
const LATENCIES: u64 = 200;
/// The milliseconds between two items, so that the worker is idle again.
const GAP: u64 = 20;
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// A peer without progress for this long counts as failed. One peer looks for items only every
/// thirty seconds.
const STALL: Duration = Duration::from_secs(45);

/// Items a second, and microseconds of processor time an item: of the server, and of the clients.
#[derive(Clone, Copy, Default)]
pub(crate) struct Rate {
    pub(crate) a_second: f64,
    pub(crate) server: f64,
    pub(crate) clients: f64,
}

/// The figures of a peer. A figure is `None` if the peer cannot do that work or did not finish it.
pub(crate) struct Figures {
    pub(crate) push_one: Rate,
    pub(crate) push_many: Rate,
    pub(crate) drains: Vec<Option<Rate>>,
    /// From push to start, in nanoseconds, in order.
    pub(crate) latencies: Vec<u64>,
}

pub(crate) fn all(peer: &Peer, items: u64) -> io::Result<Figures> {
    let (push_one, push_many) = (push(peer, items / 5, 1)?, push(peer, items, BATCH)?);
    let mut drains = Vec::new();
    for (workers, concurrency) in crate::table::DRAINS {
        let can = concurrency == 1 || peer.is_concurrent;
        drains.push(if can { drain(peer, items, workers, concurrency)? } else { None });
    }
    Ok(Figures { push_one, push_many, drains, latencies: latencies(peer)? })
}

fn push(peer: &Peer, items: u64, batch: u64) -> io::Result<Rate> {
    let server = Server::start(peer.place)?;
    let before = server.cpu();
    let took = peer.push(&server.url(), items, batch, 0)?;
    let server = (server.cpu() - before) / items as f64;
    Ok(Rate { a_second: items as f64 * 1e9 / took as f64, server, clients: 0.0 })
}

/// Pushes all items, and then lets this many workers drain them.
fn drain(peer: &Peer, items: u64, workers: u64, concurrency: u64) -> io::Result<Option<Rate>> {
    let server = Server::start(peer.place)?;
    peer.push(&server.url(), items, BATCH, 0)?;
    let start = |_| peer.work(&server.url(), concurrency, "count");
    let mut crew: Vec<Worker> = (0..workers).map(start).collect::<io::Result<_>>()?;
    crew.iter().try_for_each(Worker::until_ready)?;
    let clients = |crew: &[Worker]| crew.iter().map(Worker::cpu).sum::<f64>();
    let before = (server.cpu(), clients(&crew), now());
    crew.iter_mut().try_for_each(Worker::begin)?;
    let Some(last) = until_drained(&crew, items) else { return Ok(None) };
    let count = items as f64;
    Ok(Some(Rate {
        a_second: count * 1e9 / last.saturating_sub(before.2) as f64,
        server: (server.cpu() - before.0) / count,
        clients: (clients(&crew) - before.1) / count,
    }))
}

/// Returns the moment of the last item's end, or `None` if the workers do not finish.
fn until_drained(crew: &[Worker], items: u64) -> Option<u64> {
    let mut done = vec![(0, 0); crew.len()];
    let mut moved = Instant::now();
    while done.iter().map(|(count, _)| count).sum::<u64>() < items {
        for (done, worker) in done.iter_mut().zip(crew) {
            for said in worker.said() {
                match said {
                    Said::Done { count, last } => (*done, moved) = ((count, last), Instant::now()),
                    Said::Ended => return None,
                    Said::Ready | Said::Late(_) => {}
                }
            }
        }
        if moved.elapsed() > STALL {
            return None;
        }
        thread::sleep(LOOK_EVERY);
    }
    done.into_iter().map(|(_, last)| last).max()
}

/// The latencies of items that are pushed one by one to an idle worker, from just before each push
/// to the start of its handler.
fn latencies(peer: &Peer) -> io::Result<Vec<u64>> {
    let server = Server::start(peer.place)?;
    let mut worker = peer.work(&server.url(), 1, "latency")?;
    worker.until_ready()?;
    worker.begin()?;
    thread::sleep(Duration::from_secs(1)); // until the worker is idle
    peer.push(&server.url(), LATENCIES, 1, GAP)?;
    let (mut late, mut moved) = (Vec::new(), Instant::now());
    while (late.len() as u64) < LATENCIES && moved.elapsed() < STALL {
        for said in worker.said() {
            if let Said::Late(nanoseconds) = said {
                late.push(nanoseconds);
                moved = Instant::now();
            }
        }
        thread::sleep(LOOK_EVERY);
    }
    late.sort_unstable();
    Ok(late)
}

/// The time by the clock of all drivers, in nanoseconds.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
