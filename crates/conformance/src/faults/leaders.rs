//! A ZooKeeper ensemble whose leader is killed again and again, clients at one name, and an
//! observer of the line.

mod verdict;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use seinpaal::{Seinpaal, Ticket, store::zookeeper::SESSIONS_LOST};
use seinpaal_rig::ZookeeperEnsemble;

use super::{
    field::BusyField,
    load::{ClientLoad, HeldPermit},
    tally::{FieldTally, SortedTimes},
};
pub use verdict::{broken, table};

const NAME: &str = "load";
/// How often the observer looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// The largest number of looks of the observer after all clients have left.
const LAST_LOOKS: u32 = 200;

/// The plan of a run.
#[derive(Clone, Debug)]
pub struct LeadersPlan {
    /// How many clients, each with a session of its own.
    pub clients: usize,
    /// How many leaders are killed, one after the other.
    pub kills: usize,
    /// How many permits the clients share.
    pub limit: u32,
    /// How many grants there are between the moment when all servers take part and the next kill.
    pub grants_between: u64,
    /// How many grants there are between a kill and the return of the server.
    pub grants_after: usize,
}

/// The results of a run.
#[derive(Clone, Debug, Default)]
pub struct LeadersReport {
    /// The figures of the clients.
    pub tally: FieldTally,
    /// Each permit that was given back or lost.
    pub held: Vec<HeldPermit>,
    /// The line, each time that the observer saw it.
    pub lines: Vec<Vec<Ticket>>,
    /// The longest time without a grant around each kill.
    pub recoveries: SortedTimes,
    /// Sessions that expired. Their permits and places are lost, as promised.
    pub sessions_lost: u64,
    /// The time from the first request to the last.
    pub took: Duration,
    /// How many holders and waiters there were at the last look after all clients had left. `None`
    /// if no such look was answered.
    pub left: Option<(u32, u32)>,
}

/// Runs the load until the last leader was killed and work went on.
///
/// # Panics
/// If a server does not start, or there is no grant for a minute.
#[must_use]
pub fn run(plan: &LeadersPlan) -> LeadersReport {
    let mut ensemble = ZookeeperEnsemble::start(3);
    let url = format!("{}/leaders", ensemble.url());
    let sessions_lost = || SESSIONS_LOST.load(Ordering::Relaxed);
    let lost_before = sessions_lost();
    let (begun, is_over) = (Instant::now(), Arc::new(AtomicBool::new(false)));
    let field = BusyField::start(load(plan), &url);
    let observer = {
        let is_over = Arc::clone(&is_over);
        thread::spawn(move || observe(&url, &is_over))
    };
    let recoveries = kill_leaders(&mut ensemble, plan, &field);
    let (tally, held) = field.end();
    is_over.store(true, Ordering::SeqCst);
    let (lines, left) = observer.join().expect("the observer ends");
    LeadersReport {
        tally,
        held,
        lines,
        recoveries,
        sessions_lost: sessions_lost() - lost_before,
        took: begun.elapsed(),
        left,
    }
}

fn load(plan: &LeadersPlan) -> ClientLoad {
    ClientLoad {
        clients: plan.clients,
        names: vec![(NAME.to_owned(), plan.limit)],
        ttl: None,
        wait: None,
        hold: |_, _, drawn| Duration::from_millis(drawn % 12),
        rest: Duration::ZERO,
        seed: 1,
    }
}

fn kill_leaders(
    ensemble: &mut ZookeeperEnsemble,
    plan: &LeadersPlan,
    field: &BusyField,
) -> SortedTimes {
    let mut recoveries = SortedTimes::default();
    for _ in 0..plan.kills {
        field.until_grants(plan.grants_between);
        let leader = ensemble.leader().expect("somebody leads");
        let killed = Instant::now();
        ensemble.kill(leader);
        recoveries.add([field.longest_pause(killed, plan.grants_after)]);
        ensemble.revive(leader);
        assert!(ensemble.is_ready_in_time(), "a server does not come back");
    }
    recoveries
}

/// The lines that an observer saw, and how many were left in the end.
type ObservedLines = (Vec<Vec<Ticket>>, Option<(u32, u32)>);

/// Looks at the line until the load is over, and then until all have left.
fn observe(url: &str, is_over: &AtomicBool) -> ObservedLines {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let semaphore = Seinpaal::connect(url).await.expect("the ensemble").semaphore(NAME);
        let (mut lines, mut left, mut looks_left) = (Vec::new(), None, LAST_LOOKS);
        while looks_left > 0 {
            let is_after = is_over.load(Ordering::SeqCst);
            if let Ok(seen) = semaphore.snapshot().await {
                lines.push(seen.waiters.iter().map(|waiter| waiter.ticket).collect());
                left = is_after.then_some((seen.permits_held, seen.waiting_total));
            }
            if left == Some((0, 0)) {
                break;
            }
            looks_left -= u32::from(is_after);
            tokio::time::sleep(LOOK_EVERY).await;
        }
        (lines, left)
    })
}
