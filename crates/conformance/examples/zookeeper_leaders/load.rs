//! Clients that come and go at one name, an observer, and somebody who kills the leader.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use seinpaal::{Seinpaal, Ticket, store::zookeeper};
use seinpaal_rig::ZookeeperEnsemble;

/// How long the load may stand still before that is a verdict.
const STANDSTILL: Duration = Duration::from_secs(120);

/// What to do.
pub(crate) struct Plan {
    pub clients: usize,
    pub kills: usize,
    pub limit: u32,
    /// Grants between the moment when all servers take part and the next kill.
    pub grants_between: usize,
    /// Grants between a kill and the return of the server.
    pub grants_after: usize,
}

/// One permit as its holder believed in it.
#[derive(Clone, Debug)]
pub(crate) struct Hold {
    pub ticket: Ticket,
    pub slot: u32,
    pub fence: u64,
    pub asked: Instant,
    pub from: Instant,
    pub until: Instant,
    pub was_lost: bool,
}

/// What was seen.
#[derive(Default)]
pub(crate) struct Seen {
    pub holds: Vec<Hold>,
    /// The line, as an observer saw it again and again.
    pub lines: Vec<Vec<Ticket>>,
    pub errors: u64,
    /// The longest time without a grant around each kill.
    pub recoveries: Vec<Duration>,
    pub attempts: u64,
    pub repeats: u64,
    /// Sessions that expired: their permits and places are lost, as promised.
    pub sessions_lost: u64,
    pub took: Duration,
    /// Who held and who waited when all had left.
    pub left: (u32, u32),
}

/// Runs the load until the last leader was killed and work went on.
pub(crate) fn run(plan: &Plan) -> Seen {
    let mut ensemble = ZookeeperEnsemble::start(3);
    let url = format!("{}/leaders", ensemble.url());
    let [attempts, repeats, lost] = counted();
    let begun = Instant::now();
    let is_over = Arc::new(AtomicBool::new(false));
    let (grants, granted) = mpsc::channel();
    let (clients, over, limit) = (plan.clients, Arc::clone(&is_over), plan.limit);
    let load = thread::spawn(move || serve(&url, clients, limit, &over, &grants));
    let recoveries = kill_leaders(&mut ensemble, plan, &granted);
    is_over.store(true, Ordering::SeqCst);
    // The channel must not fill up while the clients finish.
    while granted.recv().is_ok() {}
    let mut seen = load.join().expect("the load runs");
    let [all, again, expired] = counted();
    (seen.attempts, seen.repeats) = (all - attempts, again - repeats);
    seen.sessions_lost = expired - lost;
    (seen.recoveries, seen.took) = (recoveries, begun.elapsed());
    seen
}

fn counted() -> [u64; 3] {
    [&zookeeper::ATTEMPTS, &zookeeper::REPEATS, &zookeeper::SESSIONS_LOST]
        .map(|count| count.load(Ordering::Relaxed))
}

fn kill_leaders(
    ensemble: &mut ZookeeperEnsemble,
    plan: &Plan,
    granted: &mpsc::Receiver<Instant>,
) -> Vec<Duration> {
    let mut recoveries = Vec::new();
    for _ in 0..plan.kills {
        gap(granted, plan.grants_between, Instant::now());
        let leader = ensemble.leader().expect("somebody leads");
        while granted.try_recv().is_ok() {}
        let killed = Instant::now();
        ensemble.kill(leader);
        recoveries.push(gap(granted, plan.grants_after, killed));
        ensemble.revive(leader);
        assert!(ensemble.is_ready_in_time(), "a server does not come back");
        while granted.try_recv().is_ok() {}
    }
    recoveries
}

/// Waits for so many grants, and says how long the longest time without one was.
fn gap(granted: &mpsc::Receiver<Instant>, count: usize, since: Instant) -> Duration {
    let (mut last, mut longest) = (since, Duration::ZERO);
    for _ in 0..count {
        let at = granted.recv_timeout(STANDSTILL).expect("work goes on");
        longest = longest.max(at.saturating_duration_since(last));
        last = last.max(at);
    }
    longest
}

fn serve(
    url: &str,
    clients: usize,
    limit: u32,
    is_over: &Arc<AtomicBool>,
    grants: &mpsc::Sender<Instant>,
) -> Seen {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let mut seen = Seen::default();
        let work = (0..clients).map(|client| {
            let (url, is_over, grants) = (url.to_owned(), Arc::clone(is_over), grants.clone());
            tokio::spawn(come_and_go(url, client as u64, limit, is_over, grants))
        });
        let work: Vec<_> = work.collect();
        let watching = tokio::spawn(watch(url.to_owned(), Arc::clone(is_over)));
        for client in work {
            let (holds, errors) = client.await.expect("a client runs");
            seen.holds.extend(holds);
            seen.errors += errors;
        }
        (seen.lines, seen.left) = watching.await.expect("the observer runs");
        seen
    })
}

async fn come_and_go(
    url: String,
    client: u64,
    limit: u32,
    is_over: Arc<AtomicBool>,
    grants: mpsc::Sender<Instant>,
) -> (Vec<Hold>, u64) {
    let seinpaal = Seinpaal::connect(&url).await.expect("the ensemble is there");
    let semaphore = seinpaal.semaphore("load").limit(limit);
    let (mut holds, mut errors, mut draw) = (Vec::new(), 0, client * 7 + 1);
    while !is_over.load(Ordering::SeqCst) {
        let asked = Instant::now();
        let permit = match semaphore.acquire().await {
            Ok(permit) => permit,
            Err(error) => {
                eprintln!("client {client}: {error}");
                errors += 1;
                continue;
            }
        };
        let from = Instant::now();
        let _ = grants.send(from); // nobody counts any more at the end
        draw = draw * 5 % 8_191;
        let mut until = from;
        while permit.is_held() && until < from + Duration::from_millis(draw % 12) {
            until = Instant::now();
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let was_lost = !permit.is_held();
        until = if was_lost { until } else { Instant::now() };
        let (ticket, slot, fence) = (permit.ticket(), permit.slot(), permit.fence().0);
        holds.push(Hold { ticket, slot, fence, asked, from, until, was_lost });
        errors += u64::from(permit.release().await.is_err());
    }
    (holds, errors)
}

/// Looks at the line until the load is over, and then until all have left.
async fn watch(url: String, is_over: Arc<AtomicBool>) -> (Vec<Vec<Ticket>>, (u32, u32)) {
    let seinpaal = Seinpaal::connect(&url).await.expect("the ensemble is there");
    let semaphore = seinpaal.semaphore("load");
    let (mut lines, mut left) = (Vec::new(), (0, 0));
    let mut looks_left = 200;
    while looks_left > 0 {
        if let Ok(seen) = semaphore.snapshot().await {
            lines.push(seen.waiters.iter().map(|waiter| waiter.ticket).collect());
            left = (seen.permits_held, seen.waiting_total);
        }
        if is_over.load(Ordering::SeqCst) {
            looks_left -= 1;
            if left == (0, 0) {
                break;
            }
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    (lines, left)
}
