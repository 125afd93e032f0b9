//! Runs a load of items: a store, a task that pushes, workers that are killed, and faults.

use std::{
    io,
    ops::{Range, RangeInclusive},
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use seinpaal::{Push, PushError, Queue, Seinpaal};
use seinpaal_rig::fork;

use super::{ItemPlan, NAME, history::ItemEvent, store::RunningStore, worker::payload};

use crate::{history::Pen, lives::Lives};

/// How many items a push has.
const BATCH: u64 = 50;
/// How many deliveries an item may have: more than any gets, so that none becomes a dead letter.
const DELIVERIES: u32 = 100_000;
/// There are few priorities. In a run of several minutes, waiting may outweigh a step.
const PRIORITIES: RangeInclusive<i8> = -1..=1;
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long a queue may stand still. The items of a dead worker are away for a ttl, and after the
/// death of a master the store is away for half a minute.
const STILL: Duration = Duration::from_secs(90);
const END: Duration = Duration::from_secs(60);
/// The time before the first fault and between faults.
const CALM: Duration = Duration::from_secs(3);

/// Runs the load, and writes its history.
///
/// # Errors
/// If processes, files or the store fail in a way that the run does not plan.
pub fn run(plan: &ItemPlan) -> io::Result<()> {
    if plan.history.exists() {
        let why = format!("{} is there already: remove it first", plan.history.display());
        return Err(io::Error::other(why));
    }
    let store = plan.kind.start()?;
    let pen = Pen::open(&plan.history, "rig")?;
    let url = store.url();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let pushing = scope.spawn(|| {
            let pushed = push_and_watch(plan, &url, &pen);
            is_over.store(true, Ordering::SeqCst);
            pushed
        });
        let breaking = scope.spawn(|| break_it(plan, store, &pen, &is_over));
        torment_workers(plan, &url, &pen, &is_over)?;
        pushing.join().map_err(|_| io::Error::other("the pusher panicked"))??;
        breaking.join().map_err(|_| io::Error::other("the store did not come back")).map(drop)
    })
}

// ---- the task that pushes

fn push_and_watch(plan: &ItemPlan, url: &str, pen: &Pen) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let seinpaal =
            Seinpaal::builder(url).ttl(plan.ttl).connect().await.map_err(io::Error::other)?;
        let queue = seinpaal.queue(NAME);
        let mut rng = fork(plan.seed, 1);
        for first in (0..plan.items).step_by(BATCH as usize) {
            push(&queue, first..plan.items.min(first + BATCH), &mut rng, pen).await;
        }
        until_empty(&queue, pen).await;
        let _ = seinpaal.close().await;
        Ok(())
    })
}

async fn push(queue: &Queue, numbers: Range<u64>, rng: &mut Rng, pen: &Pen) {
    let mut priority = || rng.i8(PRIORITIES);
    let items: Vec<(u64, i8)> = numbers.map(|n| (n, priority())).collect();
    let push = |(n, priority): &(u64, i8)| {
        Push::new(payload(*n)).priority((*priority).into()).deliveries(DELIVERIES)
    };
    let pushed = queue.push_all(items.iter().map(push)).await;
    for ((n, priority), pushed) in items.into_iter().zip(pushed) {
        pen.write(match pushed {
            Ok(pushed) => ItemEvent::Pushed { n, id: pushed.id.0, priority },
            Err(error) => {
                let may_be = matches!(error, PushError::Unknown(_));
                ItemEvent::NotPushed { n, may_be, why: error.to_string() }
            }
        });
    }
}

async fn until_empty(queue: &Queue, pen: &Pen) {
    let (mut before, mut moved) = (None, Instant::now());
    loop {
        if let Ok(seen) = queue.snapshot().await {
            let items = seen.ready + seen.delayed + seen.in_work;
            if items == 0 || moved.elapsed() > STILL {
                return pen.write(ItemEvent::Left { items, dead: seen.dead });
            }
            if before != Some(items) {
                (before, moved) = (Some(items), Instant::now());
            }
        } else if moved.elapsed() > STILL {
            return pen
                .write(ItemEvent::Hangs { what_hangs: "the store does not answer".to_owned() });
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

// ---- faults

fn break_it(
    plan: &ItemPlan,
    mut store: RunningStore,
    pen: &Pen,
    is_over: &AtomicBool,
) -> RunningStore {
    let (fault, times) = plan.faults;
    for _ in 0..times {
        let until = Instant::now() + CALM;
        while Instant::now() < until && !is_over.load(Ordering::SeqCst) {
            thread::sleep(LOOK_EVERY);
        }
        if is_over.load(Ordering::SeqCst) {
            break;
        }
        pen.write(ItemEvent::Broken { fault: fault.to_string() });
        store.suffer(fault);
        pen.write(ItemEvent::Whole);
    }
    store
}

// ---- workers

/// Kills one worker after the other until every item is done, and then lets all workers end.
fn torment_workers(plan: &ItemPlan, url: &str, pen: &Pen, is_over: &AtomicBool) -> io::Result<()> {
    let mut lives = Lives::new(pen, plan.workers);
    (0..plan.workers).try_for_each(|worker| begin_life(&mut lives, worker, plan, url))?;
    let mut rng = fork(plan.seed, 0);
    let mut next = plan.kill_every.map(|every| Instant::now() + every);
    while !is_over.load(Ordering::SeqCst) {
        match (next, plan.kill_every) {
            (Some(due), Some(every)) if Instant::now() >= due => {
                let victim = rng.usize(..plan.workers);
                lives.kill(victim)?;
                begin_life(&mut lives, victim, plan, url)?;
                next = Some((due + every).max(Instant::now()));
            }
            (Some(due), _) => {
                thread::sleep(due.saturating_duration_since(Instant::now()).min(LOOK_EVERY));
            }
            (None, _) => thread::sleep(LOOK_EVERY),
        }
    }
    lives.finish(END);
    Ok(())
}

fn begin_life(lives: &mut Lives, worker: usize, plan: &ItemPlan, url: &str) -> io::Result<()> {
    lives.begin(worker, |life, name| {
        let seed = fork(plan.seed, (worker as u64 + 2) << 32 | life).u64(..);
        let numbers = [seed, plan.ttl.as_millis() as u64, plan.concurrency.into()];
        let mut command = Command::new(&plan.program);
        command
            .args(["item-worker", url, name])
            .arg(&plan.history)
            .args(numbers.map(|number| number.to_string()));
        command
    })
}
