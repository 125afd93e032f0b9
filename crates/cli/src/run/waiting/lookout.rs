//! Looks at the line now and then, to report the request's place.

use std::time::{Duration, Instant};

use seinpaal::{HoldTimes, Semaphore, Snapshot};
use tokio::{
    sync::mpsc,
    task::JoinHandle,
    time::{MissedTickBehavior, interval_at},
};

/// When to look for the first time, and how often after that.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub(super) first: Duration,
    pub(super) period: Duration,
}

/// At most so many holders and waiters are read. Otherwise the looks of a crowd would cost the
/// store more than its grants.
const MOST_ROWS: u32 = 16;
/// How often to look at a crowd at most. The positions come with renewals.
const CROWD_PERIOD: Duration = Duration::from_secs(10);

impl Pace {
    /// For a line that is drawn over, and for reports of each change.
    pub(super) const LIVE: Self =
        Self { first: Duration::from_secs(1), period: Duration::from_secs(1) };
    /// For lines that stay, as in the log of a job.
    pub(super) const RARE: Self =
        Self { first: Duration::from_secs(10), period: Duration::from_secs(600) };
}

/// Looks at the line of one name, from [`post`](Self::post) on.
#[derive(Debug, Default)]
pub(super) struct StoreLookout {
    task: Option<(JoinHandle<()>, mpsc::Receiver<Snapshot>)>,
}

impl StoreLookout {
    /// Stops to look at the previous name, and starts to look at this one if there is a pace.
    pub(super) fn post(&mut self, semaphore: &Semaphore, pace: Option<Pace>) {
        self.leave();
        if let Some(pace) = pace {
            let (sender, snapshots) = mpsc::channel(1);
            self.task = Some((tokio::spawn(look(semaphore.clone(), pace, sender)), snapshots));
        }
    }

    fn leave(&mut self) {
        if let Some((task, _)) = self.task.take() {
            task.abort();
        }
    }

    /// Waits for the next snapshot, and returns it with this request's place, from 1. The place is 0
    /// if so many hold or wait that they were not read. Cancel safe.
    pub(super) async fn next(&mut self) -> (Snapshot, u32) {
        let Some((_, snapshots)) = &mut self.task else { return std::future::pending().await };
        loop {
            let Some(snapshot) = snapshots.recv().await else {
                return std::future::pending().await;
            };
            if let Some(place) = our_place(&snapshot) {
                return (snapshot, place);
            }
            if is_crowded(&snapshot) {
                return (snapshot, 0);
            }
        }
    }
}

impl Drop for StoreLookout {
    fn drop(&mut self) {
        self.leave();
    }
}

async fn look(semaphore: Semaphore, pace: Pace, sender: mpsc::Sender<Snapshot>) {
    let (mut holds, began) = (HoldTimes::default(), Instant::now());
    let mut ticks = interval_at(tokio::time::Instant::now() + pace.first, pace.period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // The request itself deals with a store that does not answer.
        let Ok(mut snapshot) = semaphore.summary(MOST_ROWS).await else { continue };
        if is_crowded(&snapshot) {
            ticks.reset_after(pace.period.max(CROWD_PERIOD));
        } else {
            holds.look(&mut snapshot, began.elapsed());
        }
        if sender.send(snapshot).await.is_err() {
            return;
        }
    }
}

/// Returns whether the snapshot may lack rows.
fn is_crowded(snapshot: &Snapshot) -> bool {
    snapshot.holders_total.saturating_add(snapshot.waiting_total) > MOST_ROWS
}

/// Returns our place. This process has only one request that waits, so its process id finds it.
fn our_place(snapshot: &Snapshot) -> Option<u32> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let pid = std::process::id();
    let mut waiters = snapshot.waiters.iter();
    let at = waiters.position(|waiter| waiter.about.pid == pid && waiter.about.host == host)?;
    u32::try_from(at + 1).ok()
}
