//! `queue work`: runs CMD for each item, from the first item to the last.

mod crew;
mod delivery;
mod payload;
mod slot;
mod watch;

use std::{
    path::{Path, PathBuf},
    rc::Rc,
    time::Duration,
};

use futures_util::future::join_all;
use seinpaal::{BackOff, Counts, Seinpaal};
use tokio::time::timeout;

use super::{Signals, find, guard::KillTerms};
use crate::{
    args::{Global, OnLost, queue::WorkArgs},
    connection::{connect, on_runtime, patience},
    exit::{Exit, Failure},
    output::{NamedStore, Voice},
    settings::{self, StoreChoice},
};
use crew::CmdCrew;
use slot::WorkSlot;
#[cfg(feature = "serve")]
pub(crate) use watch::watch as watch_store;

/// The name of the client in the store's lists.
const CLIENT: &str = "seinpaal queue work";
/// A worker that was told to stop waits without a bound for the commands that run.
const NO_END: Duration = Duration::from_secs(365 * 86_400);
/// The most connections. Each is an open database with some fifteen descriptors, and many systems
/// allow a process only a thousand.
const MOST_CONNECTIONS: u32 = 16;
/// How long to wait until the store has heard that we are gone.
const PARTING: Duration = Duration::from_secs(3);

/// Runs CMD for each item. A mistake that needs no store to find, such as a missing program, ends
/// it before an item is taken.
pub(crate) fn work(global: &Global, args: &WorkArgs, voice: Voice) -> Result<Exit, Failure> {
    let choice = settings::choose(global)?;
    let subject = NamedStore::new(&args.name, &choice.url);
    let program = find::find(&args.command[0]).map_err(|failure| failure.about(subject))?;
    let worked = on_runtime(async {
        let mut signals = Signals::listen()?;
        let crew = Rc::new(CmdCrew::new(signals.mask, voice));
        let queue_work = QueueWork { args, choice: &choice, program, crew };
        let slots = queue_work.slots(&mut signals).await?;
        let worked = tokio::select! {
            worked = queue_work.work(&slots) => worked,
            never = watch::watch(&slots[0].seinpaal, subject, voice) => never,
            never = queue_work.watch_pause(&slots[0].seinpaal, subject) => never,
            never = queue_work.crew.command(&mut signals) => never,
        };
        for slot in &slots {
            let _ = timeout(PARTING, slot.seinpaal.close()).await;
        }
        worked
    });
    worked.map_err(|failure| failure.about(subject))
}

/// The command to run, and its queue.
struct QueueWork<'a> {
    args: &'a WorkArgs,
    choice: &'a StoreChoice,
    program: PathBuf,
    crew: Rc<CmdCrew>,
}

impl QueueWork<'_> {
    /// Makes the slots. On a store where the process itself is the lease, each CMD has its own
    /// connection, as long as there are few. If we are killed, each CMD then holds its own item and
    /// no other. On other stores one connection serves all commands.
    async fn slots(&self, signals: &mut Signals) -> Result<Vec<WorkSlot<'_>>, Failure> {
        let all = self.args.concurrency;
        let mut next = self.connect(signals, self.crew.voice).await?;
        let connections = if next.presence_fds().is_some() { all.min(MOST_CONNECTIONS) } else { 1 };
        let share = |at: u32| all / connections + u32::from(at < all % connections);
        let mut slots = Vec::new();
        for at in 1..connections {
            slots.push(self.slot(next, share(at)));
            // This connection prints nothing, because the first one has printed all messages about
            // the store.
            next = self.connect(signals, Voice::new(true, 0)).await?;
        }
        slots.push(self.slot(next, share(0)));
        Ok(slots)
    }

    async fn connect(&self, signals: &mut Signals, voice: Voice) -> Result<Seinpaal, Failure> {
        connect(self.choice, self.args.ttl, CLIENT, patience(self.choice), voice, signals).await
    }

    fn slot(&self, seinpaal: Seinpaal, concurrency: u32) -> WorkSlot<'_> {
        let kill_after = self.args.kill_after;
        let schedule = seinpaal.schedule(self.choice.ttl(self.args.ttl));
        let (on_lost, spare) = (OnLost::Term, Duration::ZERO);
        let terms = KillTerms { on_lost, kill_after, schedule, spare };
        WorkSlot {
            args: self.args,
            program: Path::new(&self.program),
            store: &self.choice.url,
            seinpaal,
            concurrency,
            terms,
            crew: Rc::clone(&self.crew),
            guards: Rc::default(),
        }
    }

    /// Watches for a pause while the queue is to be emptied. A worker without an end waits anyway.
    async fn watch_pause<T>(&self, seinpaal: &Seinpaal, subject: NamedStore<'_>) -> T {
        let voice = self.crew.voice;
        if !self.args.until_empty || voice.is_quiet() {
            return std::future::pending().await;
        }
        watch::watch_pause(&seinpaal.queue(&self.args.name), subject, voice).await
    }

    async fn work(&self, slots: &[WorkSlot<'_>]) -> Result<Exit, Failure> {
        let worked = join_all(slots.iter().map(|slot| self.work_at(slot))).await;
        if let Some(failure) = self.crew.take_failure() {
            return Err(failure);
        }
        let mut total = Counts::default();
        for counts in worked {
            add(&mut total, counts?);
        }
        self.crew.voice.explain(format!("{}: {}", self.args.name, words(&total)));
        Ok(self.crew.exit(self.args.until_empty))
    }

    async fn work_at(&self, slot: &WorkSlot<'_>) -> Result<Counts, Failure> {
        let WorkArgs { retry_base, retry_max, .. } = *self.args;
        let queue = slot.seinpaal.queue(&self.args.name);
        let mut worker = queue
            .worker(slot.concurrency, |item| slot.work_on(item))
            .ttl(self.choice.ttl(self.args.ttl))
            .retry(BackOff::exponential(retry_base, retry_max))
            .grace(NO_END)
            // The leash ends the CMD of a lost item, and must not be dropped before CMD has ended.
            .run_on_when_lost();
        if self.args.until_empty {
            worker = worker.until_empty();
        }
        let worked = worker.run_until(self.crew.is_stopped()).await;
        // If the store refuses one worker, the others stop, too.
        worked.inspect_err(|_| self.crew.stop()).map_err(Failure::from)
    }
}

fn add(total: &mut Counts, counts: Counts) {
    total.acknowledged += counts.acknowledged;
    total.failed += counts.failed;
    total.died += counts.died;
    total.given_back += counts.given_back;
    total.lost += counts.lost;
    total.unknown += counts.unknown;
}

fn words(counts: &Counts) -> String {
    let Counts { acknowledged, failed, died, given_back, lost, unknown, .. } = counts;
    format!(
        "{acknowledged} done, {failed} to be tried again, {died} dead, {given_back} given back, {lost} lost, \
         {unknown} in doubt"
    )
}
