//! A second client's look at the server after a call, in one round trip.

use std::time::Instant;

use redis::{PushKind, Value};
use seinpaal_proto::{Batch, Request, Whom};

use super::{
    Bench, KEY, MARKER,
    keys::{Kept, age_keys, is_felt},
    messages::text,
};

pub(super) struct Seen {
    /// The messages that were published, in order.
    pub(super) wakeups: Vec<String>,
    pub(super) kept: Kept,
    /// The marker of the guard. `None` without a guard, because the marker is not read then.
    pub(super) marker: Option<String>,
}

impl Bench {
    /// Looks, and then makes the keys older by the next step if there is one.
    pub(super) async fn look(&mut self, next: Option<i64>) -> Seen {
        let mut all = redis::pipe();
        all.cmd("PTTL").arg(KEY).cmd("PTTL").arg(format!("{KEY}:o"));
        all.cmd("HGET").arg(KEY).arg("h").cmd("HLEN").arg(KEY);
        if self.is_guarded() {
            all.cmd("HGET").arg(MARKER).arg("m");
        }
        if let Some(step) = next.filter(|step| is_felt(*step)) {
            all.add_command(age_keys(step));
        }
        let began = Instant::now();
        let answers: Vec<Value> = all.query_async(&mut self.observer).await.unwrap();
        let mut answers = answers.into_iter();
        let lasting = [(); 2].map(|()| next_of(&mut answers));
        self.aging.looked(began, lasting);
        if let Some(step) = next.filter(|step| is_felt(*step)) {
            self.aging.stepped(step);
        }
        let kept = Kept { lasting, head: next_of(&mut answers), fields: next_of(&mut answers) };
        let marker = if self.is_guarded() { next_of(&mut answers) } else { None };
        self.told = next.map(|_| answers.next().is_some_and(read));
        Seen { wakeups: self.wakeups(), kept, marker }
    }

    /// The messages that were published before the last answer that the observer has read. On one
    /// connection a message comes before the answer.
    pub(super) fn wakeups(&mut self) -> Vec<String> {
        let mut wakeups = Vec::new();
        while let Ok(push) = self.heard.try_recv() {
            if push.kind == PushKind::PMessage {
                wakeups.push(push.data[1..].iter().map(text).collect::<Vec<_>>().join(" "));
            }
        }
        wakeups
    }
}

/// Returns whether the lean path may execute the batch without a look at the guard. Then the guard
/// does not count the time of the call as passed.
pub(super) fn admits_nobody(batch: &Batch) -> bool {
    batch.requests.iter().all(|request| match request {
        Request::Release { slots, .. } => slots.is_none(),
        Request::Renew(renew) => match &renew.whom {
            Whom::All { .. } => true,
            Whom::Tickets(tickets) => tickets.len() == 1,
        },
        _ => false,
    })
}

/// Returns whether this marker was written at that time.
pub(super) fn is_of(marker: &str, now: u64) -> bool {
    marker.ends_with(&format!(" {now}"))
}

fn next_of<T: redis::FromRedisValue>(answers: &mut impl Iterator<Item = Value>) -> T {
    read(answers.next().unwrap())
}

fn read<T: redis::FromRedisValue>(answer: Value) -> T {
    redis::from_redis_value(answer).unwrap()
}
