//! The one case that knows the answers beforehand: it sends the same requests to the ledger itself.

use std::time::Duration;

use fastrand::Rng;
use seinpaal_proto::{
    Limit, Name, Priority,
    queue::{
        Batch, Configure, Dedup, Delivery, Due, ItemId, ItemPosition, ItemState, MemoryQueue, Pop,
        Purge, Push, Reply, Request, execute,
    },
};

use crate::{
    CaseStage,
    queue::{
        QueueClient,
        requests::{acknowledge, fail, finish, give_back, item, pop, renew},
    },
    stage::{Everybody, random},
};

const STEPS: usize = 500;

/// Requests that follow from a seed, and from the answers so far.
struct QueueDice {
    rng: Rng,
    ids: Vec<ItemId>,
    deliveries: Vec<Delivery>,
}

impl QueueDice {
    fn seconds(&mut self) -> Duration {
        self.rng.choice([0, 0, 1, 7, 60].map(Duration::from_secs)).unwrap()
    }

    /// The id of one of the latest items, most likely one that the queue still knows.
    fn id(&mut self) -> ItemId {
        let back = self.rng.usize(..12);
        self.ids.iter().rev().nth(back).copied().unwrap_or(ItemId(1))
    }

    fn delivery(&mut self) -> Delivery {
        let back = self.rng.usize(..8);
        let nothing = Delivery { id: ItemId(1), fence: seinpaal_proto::Fence(1) };
        self.deliveries.iter().rev().nth(back).copied().unwrap_or(nothing)
    }

    fn push(&mut self, now: u64) -> Push {
        let name = |text: &str| Name::new(text).unwrap();
        let key = Dedup { key: name("{k}"), window: 30_000_000 };
        let ago = self.rng.u64(..9_000_000);
        Push {
            payload: vec![self.rng.u8(..); self.rng.usize(..40)],
            priority: Priority::new(self.rng.i32(-2..3)).unwrap(),
            due: self
                .rng
                .choice([Due::Now, Due::Now, Due::In(2 * ago), Due::At(now + 5_000_000 - ago)])
                .unwrap(),
            group: self.rng.choice([None, None, Some(name("a")), Some(name("{b}"))]).unwrap(),
            dedup: self.rng.choice([None, None, None, Some(key)]).unwrap(),
            most: self.rng.u32(1..=3),
            about: format!("{{{}}}", self.rng.usize(..10)),
        }
    }

    fn pop(&mut self) -> Pop {
        let ttl = self.rng.choice([1_000_000, 30_000_000]).unwrap();
        let margin = self.rng.choice([ttl / 4, ttl / 4, pop(1).margin]).unwrap();
        let (wait, drains) = (self.rng.bool(), self.rng.usize(..4) == 0);
        Pop { ttl, margin, wait, drains, ..pop(self.rng.u32(1..=5)) }
    }

    fn change(&mut self) -> Configure {
        let limit = self.rng.choice([None, Some(0), Some(1), Some(2), Some(5)]).unwrap();
        let limit = limit.map(|limit| Limit::new(limit).unwrap());
        let paused = Configure::Pause("{p}".into());
        let (all, groups) = (Configure::Limit(limit), Configure::GroupLimit(limit));
        self.rng.choice([all, groups, paused, Configure::Resume, Configure::Resume]).unwrap()
    }

    fn request(&mut self, now: u64) -> Request {
        match self.rng.usize(..26) {
            0..=7 => Request::Push(self.push(now)),
            8..=12 => Request::Pop(self.pop()),
            13..=15 => acknowledge(self.delivery()),
            16 => finish(self.delivery(), give_back(self.seconds())),
            17 => finish(self.delivery(), fail("{r}", self.seconds())),
            18 => renew(&[self.delivery(), self.delivery()]),
            19 => Request::Cancel { id: self.id(), spares_work: self.rng.bool() },
            20 => Request::Replay { id: self.id() },
            21 => Request::Configure(self.change()),
            22 if self.rng.bool() => Request::Drop { id: self.id() },
            22 => Request::Leave,
            23 => {
                let state = self.rng.choice(ItemState::ALL).unwrap();
                // A store may page through items in work in an order of its own.
                let least = if state == ItemState::InWork { 100 } else { 1 };
                let rows = self.rng.choice([1, 3, 100]).unwrap().max(least);
                Request::List { after: ItemPosition::before(state), rows }
            }
            24 if self.rng.usize(..5) == 0 => {
                Request::Purge(self.rng.choice([Purge::Waiting, Purge::Dead]).unwrap())
            }
            _ => Request::Inspect { rows: 100 },
        }
    }

    fn learn(&mut self, replies: &[Reply]) {
        for reply in replies {
            match reply {
                Reply::Pushed { id } => self.ids.push(*id),
                Reply::Popped { items, .. } => {
                    self.deliveries.extend(items.iter().map(|popped| popped.delivery));
                }
                _ => {}
            }
        }
    }

    /// A new batch, the session's last batch again, or a batch that came too late.
    fn batch(&mut self, client: &QueueClient<'_>, last: &Batch, now: u64) -> Batch {
        match self.rng.usize(..12) {
            0 | 1 => last.clone(),
            2 => Batch { number: last.number.saturating_sub(1), ..last.clone() },
            _ => client.batch((0..self.rng.usize(..5)).map(|_| self.request(now)).collect()),
        }
    }
}

pub async fn a_random_history_is_answered_as_the_ledger_answers_it(stage: &CaseStage) {
    let seed = random() as u64 | 1;
    let mut dice = QueueDice { rng: Rng::with_seed(seed), ids: Vec::new(), deliveries: Vec::new() };
    let mut state = MemoryQueue::default();
    let clients =
        [stage.queue_client().await, stage.queue_client().await, stage.queue_client().await];
    let mut last = clients.each_ref().map(|client| client.batch(vec![Request::Push(item("x"))]));
    for step in 0..STEPS {
        stage.advance(
            dice.rng.choice([0, 1, 300, 1_000, 9_000, 60_000].map(Duration::from_millis)).unwrap(),
        );
        if dice.rng.usize(..20) == 0 {
            stage.set_back(
                dice.rng.choice([1, 1_000, 30_000, 3_600_000].map(Duration::from_millis)).unwrap(),
            );
        }
        let who = dice.rng.usize(..3);
        let batch = dice.batch(&clients[who], &last[who], stage.now());
        let asked = clients[who].call(&batch).await;
        let mut everybody = Everybody(stage.harness().contact());
        let Ok(known) = execute(&mut state, &mut everybody, stage.now(), &batch);
        assert_eq!(asked, known.replies, "seed {seed}, step {step}: {batch:#?}");
        dice.learn(&asked.replies);
        last[who] = batch;
    }
}
