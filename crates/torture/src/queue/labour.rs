//! The tasks of a worker at a queue: one task pushes, and the others pop.

use std::time::Duration;

use fastrand::Rng;
use seinpaal::{Failed, FinishError, Item, Push, PushError, Queue};
use seinpaal_rig::between;
use tokio::sync::watch;

use super::NAME;
use crate::{
    clock,
    history::{Pen, TortureWhat},
};

const MS: Duration = Duration::from_millis(1);
const AFTER_TROUBLE: Duration = Duration::from_millis(100);

/// A task of a worker.
pub(crate) struct Labour {
    pub(crate) pen: Pen,
    pub(crate) queue: Queue,
    pub(crate) who: String,
    pub(crate) ttl: Duration,
    pub(crate) rng: Rng,
    pub(crate) stop: watch::Receiver<bool>,
}

impl Labour {
    /// Pushes until the task is told to stop.
    pub(crate) async fn push(mut self) {
        for number in 0_u64.. {
            if *self.stop.borrow() {
                return;
            }
            self.push_one(format!("{}.{number}", self.who)).await;
            let rest = between(&mut self.rng, 20 * MS, 120 * MS);
            tokio::time::sleep(rest).await;
        }
    }

    async fn push_one(&mut self, req: String) {
        let group = (self.rng.u64(..100) < 30).then(|| format!("g{}", self.rng.u64(..3)));
        let delay = if self.rng.u64(..100) < 20 {
            between(&mut self.rng, MS, 800 * MS)
        } else {
            Duration::ZERO
        };
        let mut push =
            Push::new(req.as_bytes()).deliveries(if self.rng.u64(..100) < 10 { 2 } else { 50 });
        if let Some(group) = &group {
            push = push.group(group);
        }
        if !delay.is_zero() {
            push = push.delay(delay);
        }
        let told = u64::try_from(delay.as_micros()).unwrap_or(u64::MAX);
        self.pen.write(TortureWhat::Push { req: req.clone(), delay: told, group });
        let answer = self.queue.push_all([push]).await.pop();
        match answer {
            Some(Ok(pushed)) => self.pen.write(TortureWhat::Pushed { req, id: pushed.id.0 }),
            Some(Err(error)) => {
                let maybe = matches!(error, PushError::Unknown(_));
                self.pen.write(TortureWhat::NotPushed { req, maybe, why: error.to_string() });
                tokio::time::sleep(AFTER_TROUBLE).await;
            }
            None => {}
        }
    }

    /// Pops, works and ends each delivery until the task is told to stop.
    pub(crate) async fn work(mut self) {
        for number in 0_u64.. {
            if *self.stop.borrow() {
                return;
            }
            let req = format!("{}.{number}", self.who);
            self.pen.write(TortureWhat::Pop { req: req.clone() });
            let popped = tokio::select! {
                biased;
                popped = async { self.queue.pop().ttl(self.ttl).await } => Some(popped),
                _ = self.stop.wait_for(|stop| *stop) => None,
            };
            match popped {
                Some(Ok(item)) => self.deal_with(&req, item).await,
                Some(Err(error)) => {
                    self.pen.write(TortureWhat::PopEnded { req, why: error.to_string() });
                    tokio::time::sleep(AFTER_TROUBLE).await;
                }
                None => self.pen.write(TortureWhat::PopEnded { req, why: "stop".to_owned() }),
            }
        }
    }

    async fn deal_with(&mut self, req: &str, item: Item) {
        note(&self.pen, req, &item);
        let (id, fence) = (item.id().0, item.fence().0);
        let until = tokio::time::Instant::now() + self.hold();
        while item.is_held() && tokio::time::Instant::now() < until {
            let look = (tokio::time::Instant::now() + self.ttl / 6).min(until);
            tokio::select! {
                () = tokio::time::sleep_until(look) => {}
                _ = item.lost() => {}
            }
            let (at, until) = belief(&item);
            self.pen.write_at(at, TortureWhat::InHand { id, fence, until });
        }
        if !item.is_held() {
            self.pen.write(TortureWhat::ItemLost { id, fence });
        }
        self.end(item).await;
    }

    /// Draws how long to hold an item: mostly a short time, so that much happens, and sometimes so
    /// long that the lease must be renewed.
    fn hold(&mut self) -> Duration {
        match self.rng.u64(..1000) {
            0..900 => between(&mut self.rng, Duration::ZERO, 20 * MS),
            900..990 => between(&mut self.rng, 20 * MS, 200 * MS),
            _ => between(&mut self.rng, self.ttl / 3, self.ttl * 3 / 2),
        }
    }

    async fn end(&mut self, item: Item) {
        let (id, fence) = (item.id().0, item.fence().0);
        let delay =
            if self.rng.bool() { Duration::ZERO } else { between(&mut self.rng, MS, 300 * MS) };
        let drawn = self.rng.u64(..100);
        let how = match drawn {
            0..80 => "acknowledge",
            80..88 => "give-back",
            88..96 => "fail",
            _ => "drop",
        };
        self.pen.write(TortureWhat::Finishing { id, fence, how: how.to_owned() });
        let end = match how {
            "acknowledge" => word(item.acknowledge().await.map(|()| "acknowledged")),
            "give-back" => word(item.give_back(delay).await.map(|()| "returned")),
            "fail" => word(item.fail("so it was drawn", delay).await.map(|failed| match failed {
                Failed::Died => "died",
                _ => "returned",
            })),
            _ => return drop(item),
        };
        self.pen.write(TortureWhat::Finished { id, fence, end: end.to_owned() });
    }
}

fn word(end: Result<&'static str, FinishError>) -> &'static str {
    match end {
        Ok(word) => word,
        Err(FinishError::Lost) => "lost",
        Err(_) => "unknown",
    }
}

pub(super) fn note(pen: &Pen, req: &str, item: &Item) {
    let (at, until) = belief(item);
    let payload = String::from_utf8_lossy(item.payload()).into_owned();
    let (id, fence, group) = (item.id().0, item.fence().0, item.group().map(str::to_owned));
    pen.write_at(
        at,
        TortureWhat::Delivered { req: req.to_owned(), payload, id, fence, group, until },
    );
}

/// Returns the present moment, and the moment until which the worker believes in an item. The clock
/// is read first, so the belief is never too long.
fn belief(item: &Item) -> (u64, Option<u64>) {
    let at = clock::now();
    let left = item.remaining();
    let until = left.map(|left| at + u64::try_from(left.as_micros()).unwrap_or(u64::MAX / 2));
    (at, if item.is_held() { until } else { Some(at) })
}

/// Returns the queue that workers and the rig use.
pub(crate) fn queue(seinpaal: &seinpaal::Seinpaal) -> Queue {
    seinpaal.queue(NAME)
}
