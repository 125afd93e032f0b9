//! Many tasks that want one permit: the time of a hand-over, and the cost of waiting.

use std::{
    io, thread,
    time::{Duration, Instant},
};

use super::{Bench, Row, everyone};
use crate::{
    peer::{Peer, Plan},
    server::Server,
    times::median,
    worker::{Held, Worker},
};

type Figures = io::Result<Vec<(&'static str, f64)>>;

const HOLD: u64 = 20;
const FOREVER: u64 = 3_600_000;
/// The time until every task stands in line.
const SETTLE: Duration = Duration::from_secs(2);
const WINDOW: Duration = Duration::from_secs(4);
/// A window that is long enough for two renewals of every waiter of Seinpaal.
const IDLE_WINDOW: Duration = Duration::from_secs(10);

pub(super) fn handoff(bench: &mut Bench, row: &Row) -> io::Result<()> {
    bench.each(row, everyone, hand_off)
}

pub(super) fn commands(bench: &mut Bench, row: &Row) -> io::Result<()> {
    bench.each(row, everyone, |peer| {
        let (two, fifty) = (a_grant(peer, 2)?, a_grant(peer, 50)?);
        Ok(vec![("of 2", two), ("of 50", fifty), ("of 200", a_grant(peer, 200)?)])
    })
}

pub(super) fn fairness(bench: &mut Bench, row: &Row) -> io::Result<()> {
    bench.each(row, everyone, |peer| {
        let server = Server::start()?;
        let plan = Plan { tasks: 64, millis: 3_000, ..Plan::default() };
        let mut worker = peer.start(&server.url(), plan)?;
        worker.go()?;
        let took = worker.took()?;
        let rate = took.pairs * 1e9 / took.nanoseconds;
        let share = took.least / took.most;
        Ok(vec![
            ("least / most", share),
            ("least", took.least),
            ("most", took.most),
            ("pairs a second", rate),
        ])
    })
}

pub(super) fn idle(bench: &mut Bench, row: &Row) -> io::Result<()> {
    let hundred = Plan { tasks: 101, clients: true, ..Plan::default() };
    let many = Plan { tasks: 10_001, ..Plan::default() };
    bench.each(row, everyone, |peer| {
        let mut figures = vec![("100 connections", waiting(peer, hundred)?)];
        if peer.is_ours() {
            figures.push(("10 000 tasks of one connection", waiting(peer, many)?));
        }
        Ok(figures)
    })
}

/// Two worker processes hand a permit to each other. The pause after the release keeps a worker
/// from taking the permit again at once, which would hide how long the other waits.
fn hand_off(peer: &Peer) -> Figures {
    let server = Server::start()?;
    let millis = WINDOW.as_millis() as u64;
    let plan = Plan { hold: HOLD, pause: 5, millis, stamps: true, ..Plan::default() };
    let mut workers = [peer.start(&server.url(), plan)?, peer.start(&server.url(), plan)?];
    workers.iter_mut().try_for_each(Worker::go)?;
    let end = Instant::now() + WINDOW + SETTLE;
    let each = workers
        .iter_mut()
        .enumerate()
        .flat_map(|(worker, of)| of.held_until(end).into_iter().map(move |held| (worker, held)));
    let mut held: Vec<(usize, Held)> = each.collect();
    held.sort_by_key(|(_, held)| held.granted);
    let (first, last) = (held.first(), held.last());
    let (Some((_, first)), Some((_, last))) = (first, last) else {
        return Err(io::Error::other("nobody was granted anything"));
    };
    let used: u64 = held.iter().map(|(_, held)| held.released - held.granted).sum();
    let utilisation = used as f64 / (last.released - first.granted) as f64;
    let gap = |pair: &[(usize, Held)]| {
        let [(from, before), (to, after)] = pair else { return None };
        let waited = from != to && after.asked < before.released;
        waited.then_some(after.granted.saturating_sub(before.released) as f64 / 1e6)
    };
    let gaps = median(held.windows(2).filter_map(gap));
    Ok(vec![("ms from release to grant, p50", gaps), ("utilisation", utilisation)])
}

/// Commands that clients send for each grant. Each client has a connection of its own.
fn a_grant(peer: &Peer, tasks: u64) -> io::Result<f64> {
    let server = Server::start()?;
    let plan =
        Plan { tasks, hold: HOLD, millis: FOREVER, clients: true, stamps: true, ..Plan::default() };
    let mut worker = peer.start(&server.url(), plan)?;
    worker.go()?;
    worker.held_until(Instant::now() + SETTLE);
    let tap = server.tap()?;
    let grants = worker.held_until(Instant::now() + WINDOW).len();
    Ok(tap.end()? / grants as f64)
}

/// Commands a second while one client holds and the others wait.
fn waiting(peer: &Peer, plan: Plan) -> io::Result<f64> {
    let server = Server::start()?;
    let plan = Plan { hold: FOREVER, count: 1, ..plan };
    let mut worker = peer.start(&server.url(), plan)?;
    worker.go()?;
    thread::sleep(SETTLE);
    let tap = server.tap()?;
    thread::sleep(IDLE_WINDOW);
    Ok(tap.end()? / IDLE_WINDOW.as_secs_f64())
}
