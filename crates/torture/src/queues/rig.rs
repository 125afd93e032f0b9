//! The run: a store, somebody who pushes, workers that are killed, and faults.

use std::{
    io,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use seinpaal::{Push, PushError, Queue, Seinpaal};

use super::{NAME, Plan, history::What, place::Place, worker::payload};
use crate::{draw::Draw, history::Pen};

/// Items in a push.
const BATCH: u64 = 50;
/// More deliveries than anything has, so that nothing becomes a dead letter.
const DELIVERIES: u32 = 100_000;
/// −1 to 1: within a run a few minutes of waiting may outweigh a step.
const PRIORITIES: u64 = 3;
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long a queue may stand still. A dead worker's items are away for a ttl, a failed-over master for half a minute.
const STILL: Duration = Duration::from_secs(90);
const END: Duration = Duration::from_secs(60);
/// Time before and between faults.
const CALM: Duration = Duration::from_secs(3);

/// Runs it; what happened is in the history then.
///
/// # Errors
/// If processes, files or the store fail in a way that is no part of the run.
pub fn run(plan: &Plan) -> io::Result<()> {
    if plan.history.exists() {
        let why = format!("{} is there already: remove it first", plan.history.display());
        return Err(io::Error::other(why));
    }
    let place = plan.kind.start()?;
    let pen = Pen::open(&plan.history, "rig")?;
    let url = place.url();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let pushing = scope.spawn(|| {
            let pushed = push_and_watch(plan, &url, &pen);
            is_over.store(true, Ordering::SeqCst);
            pushed
        });
        let breaking = scope.spawn(|| break_it(plan, place, &pen, &is_over));
        Crew::start(plan, &url, &pen)?.suffer(&is_over)?;
        pushing.join().map_err(|_| io::Error::other("the pusher panicked"))??;
        breaking.join().map_err(|_| io::Error::other("the store did not come back")).map(drop)
    })
}

// ---- the one that pushes

fn push_and_watch(plan: &Plan, url: &str, pen: &Pen) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let seinpaal =
            Seinpaal::builder(url).ttl(plan.ttl).connect().await.map_err(io::Error::other)?;
        let queue = seinpaal.queue(NAME);
        let mut draw = Draw::new(plan.seed).fork(1);
        for first in (0..plan.items).step_by(BATCH as usize) {
            push(&queue, first..plan.items.min(first + BATCH), &mut draw, pen).await;
        }
        until_empty(&queue, pen).await;
        let _ = seinpaal.close().await;
        Ok(())
    })
}

async fn push(queue: &Queue, numbers: std::ops::Range<u64>, draw: &mut Draw, pen: &Pen) {
    let mut priority = || draw.below(PRIORITIES) as i8 - 1;
    let items: Vec<(u64, i8)> = numbers.map(|n| (n, priority())).collect();
    let push = |(n, priority): &(u64, i8)| {
        Push::new(payload(*n)).priority((*priority).into()).deliveries(DELIVERIES)
    };
    let pushed = queue.push_all(items.iter().map(push)).await;
    for ((n, priority), pushed) in items.into_iter().zip(pushed) {
        pen.write(match pushed {
            Ok(pushed) => What::Pushed { n, id: pushed.id.0, priority },
            Err(error) => {
                let may_be = matches!(error, PushError::Unknown(_));
                What::NotPushed { n, may_be, why: error.to_string() }
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
                return pen.write(What::Left { items, dead: seen.dead });
            }
            if before != Some(items) {
                (before, moved) = (Some(items), Instant::now());
            }
        } else if moved.elapsed() > STILL {
            return pen.write(What::Hangs { what_hangs: "the store does not answer".to_owned() });
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

// ---- faults

fn break_it(plan: &Plan, mut place: Place, pen: &Pen, is_over: &AtomicBool) -> Place {
    let (fault, times) = plan.faults;
    for _ in 0..times {
        let until = Instant::now() + CALM;
        while Instant::now() < until && !is_over.load(Ordering::SeqCst) {
            thread::sleep(LOOK_EVERY);
        }
        if is_over.load(Ordering::SeqCst) {
            break;
        }
        pen.write(What::Broken { fault: fault.to_string() });
        place.suffer(fault);
        pen.write(What::Whole);
    }
    place
}

// ---- workers

struct Crew<'a> {
    plan: &'a Plan,
    url: &'a str,
    pen: &'a Pen,
    members: Vec<Member>,
}

struct Member {
    lives: u64,
    process: Child,
}

impl<'a> Crew<'a> {
    fn start(plan: &'a Plan, url: &'a str, pen: &'a Pen) -> io::Result<Self> {
        let mut crew = Self { plan, url, pen, members: Vec::new() };
        for number in 0..plan.workers {
            let process = crew.begin_life(number, 1)?;
            crew.members.push(Member { lives: 1, process });
        }
        Ok(crew)
    }

    fn begin_life(&self, number: u64, life: u64) -> io::Result<Child> {
        let plan = self.plan;
        let seed = Draw::new(plan.seed).fork(number + 2).fork(life).number();
        Command::new(&plan.program)
            .args(["worker", self.url, &format!("w{number}.{life}")])
            .arg(&plan.history)
            .args(
                [seed, plan.ttl.as_millis() as u64, plan.concurrency.into()].map(|n| n.to_string()),
            )
            .stdin(Stdio::piped())
            .spawn()
    }

    /// Kills one after the other until all is done, and then lets all end.
    fn suffer(mut self, is_over: &AtomicBool) -> io::Result<()> {
        let mut draw = Draw::new(self.plan.seed).fork(0);
        let mut next = self.plan.kill_every.map(|every| Instant::now() + every);
        while !is_over.load(Ordering::SeqCst) {
            match (next, self.plan.kill_every) {
                (Some(due), Some(every)) if Instant::now() >= due => {
                    self.replace(draw.below(self.plan.workers))?;
                    next = Some((due + every).max(Instant::now()));
                }
                (Some(due), _) => {
                    thread::sleep(due.saturating_duration_since(Instant::now()).min(LOOK_EVERY));
                }
                (None, _) => thread::sleep(LOOK_EVERY),
            }
        }
        self.finish();
        Ok(())
    }

    fn replace(&mut self, number: u64) -> io::Result<()> {
        let at = usize::try_from(number).unwrap_or_default();
        let lives = self.members[at].lives;
        let life = format!("w{number}.{lives}");
        self.pen.write(What::Killing { life: life.clone() });
        let process = &mut self.members[at].process;
        process.kill()?;
        process.wait()?;
        self.pen.write(What::Killed { life });
        let process = self.begin_life(number, lives + 1)?;
        self.members[at] = Member { lives: lives + 1, process };
        Ok(())
    }

    fn finish(&mut self) {
        for member in &mut self.members {
            drop(member.process.stdin.take());
        }
        let until = Instant::now() + END;
        for (number, member) in self.members.iter_mut().enumerate() {
            if !ends(&mut member.process, until) {
                let what_hangs = format!("w{number}.{} does not end, or ends badly", member.lives);
                self.pen.write(What::Hangs { what_hangs });
            }
        }
    }
}

fn ends(process: &mut Child, until: Instant) -> bool {
    while Instant::now() < until {
        if let Ok(Some(status)) = process.try_wait() {
            return status.success();
        }
        thread::sleep(Duration::from_millis(5));
    }
    false
}

impl Drop for Crew<'_> {
    fn drop(&mut self) {
        for member in &mut self.members {
            let _ = (member.process.kill(), member.process.wait()); // both fail only if it has ended
        }
    }
}
