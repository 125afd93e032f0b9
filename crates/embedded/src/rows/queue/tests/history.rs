//! Random histories of two queues.

use std::collections::BTreeMap;

use fastrand::Rng;
use seinpaal_proto::{
    Contact, Contacts, Fence, Inbox, Limit, Name, Priority,
    queue::{
        Batch, Configure, Dedup, Delivery, Due, FailureReason, How, ItemId, ItemPosition,
        ItemState, Pop, Purge, Push, Renew, Reply, Request,
    },
    time::{Micros, SECOND, UNBOUNDED, margin},
};

/// Batches that follow from a seed, and from the answers so far.
pub(super) struct Random {
    rng: Rng,
    items: Vec<ItemId>,
    deliveries: Vec<Delivery>,
    last: BTreeMap<(Name, Inbox), Batch>,
}

#[derive(Clone)]
pub(super) struct Oracle(pub(super) u64);

impl Contacts for Oracle {
    fn contact(&mut self, inbox: Inbox) -> Contact {
        match (self.0 >> (inbox.0 >> 100)) % 8 {
            0 => Contact::Dead,
            1 => Contact::Silent,
            2 | 3 => Contact::Alive,
            _ => Contact::Listening,
        }
    }
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            rng: Rng::with_seed(seed),
            items: Vec::new(),
            deliveries: Vec::new(),
            last: BTreeMap::new(),
        }
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.rng.u64(..end)
    }

    fn one_in(&mut self, sides: u64) -> bool {
        self.below(sides) == 0
    }

    fn span(&mut self) -> Micros {
        match self.below(12) {
            0 => 40 * SECOND,
            1 => 3_600 * SECOND,
            n => n * SECOND / 4,
        }
    }

    pub(super) fn next_time(&mut self, now: Micros) -> Micros {
        match self.below(12) {
            0..=5 => now,
            6 => now - self.span(),
            _ => now + self.span(),
        }
    }

    /// Returns a new batch of some session, or its last batch again.
    pub(super) fn batch(&mut self, now: Micros) -> Batch {
        let name = Name::new(["a", "b"][self.below(2) as usize]).unwrap();
        // The ids have high bytes, so that the order of blobs matters.
        let session = Inbox(u128::from(1 + self.below(5)) << 100);
        let known = self.last.get(&(name.clone(), session));
        let number = 1 + known.map_or(0, |batch| batch.number);
        if let Some(known) = known.cloned()
            && self.one_in(6)
        {
            return known;
        }
        let not_after = now + 30 * SECOND;
        let requests = (0..self.below(4)).map(|_| self.request()).collect();
        let batch = Batch { name: name.clone(), session, number, not_after, seen: 0, requests };
        self.last.insert((name, session), batch.clone());
        batch
    }

    pub(super) fn learn(&mut self, batch: &Batch, replies: &[Reply]) {
        assert_eq!(batch.requests.len(), replies.len());
        for reply in replies {
            match reply {
                Reply::Pushed { id } => self.items.push(*id),
                Reply::Popped { items, .. } => {
                    self.deliveries.extend(items.iter().map(|popped| popped.delivery));
                }
                _ => {}
            }
        }
    }

    /// Returns requests that leave nothing in a queue.
    pub(super) fn emptying(&mut self) -> Vec<Vec<Request>> {
        let all = Request::Pop(Pop { items: 64, wait: false, ..self.pop() });
        let nothing = [Configure::Limit(None), Configure::GroupLimit(None), Configure::Resume];
        let mut steps = vec![nothing.map(Request::Configure).to_vec()];
        // Each delivery ends without an acknowledgement until the item has none left.
        steps.extend((0..20).map(|_| vec![all.clone()]));
        steps.push(vec![Request::Purge(Purge::Waiting), Request::Purge(Purge::Dead)]);
        steps.extend((0..20).map(|_| Vec::new()));
        steps
    }

    fn id(&mut self) -> ItemId {
        let back = self.below(12) as usize;
        self.items.iter().rev().nth(back).copied().unwrap_or(ItemId(1))
    }

    fn delivery(&mut self) -> Delivery {
        let back = self.below(8) as usize;
        let nothing = Delivery { id: ItemId(1), fence: Fence(1) };
        self.deliveries.iter().rev().nth(back).copied().unwrap_or(nothing)
    }

    fn request(&mut self) -> Request {
        match self.below(27) {
            0..=6 => Request::Push(self.push()),
            7..=12 => Request::Pop(self.pop()),
            13 => Request::Renew(self.renew()),
            14..=19 => Request::Finish { delivery: self.delivery(), how: self.how() },
            20 => Request::Leave,
            21 => Request::Cancel { id: self.id(), spares_work: self.one_in(2) },
            22 => Request::Replay { id: self.id() },
            23 => Request::Drop { id: self.id() },
            24 => Request::Configure(self.configure()),
            25 => Request::List { after: self.place(), rows: 3 },
            _ => match self.below(12) {
                0 => Request::Purge(Purge::Dead),
                1 => Request::Purge(Purge::Waiting),
                _ => Request::Inspect { rows: 4 },
            },
        }
    }

    /// Returns a place in some order, mostly before or among the items there.
    fn place(&mut self) -> ItemPosition {
        let (id, key) = (self.id(), 1_000_000 * SECOND - self.below(100) * SECOND);
        let group = self.below(4).checked_sub(1);
        let group = group.map(|n| Name::new(["a", "b", "\u{e9}"][n as usize]).unwrap());
        match self.below(9) {
            0 => ItemPosition::Open(key as i64, id),
            1 | 2 => ItemPosition::Grouped(group, key as i64, id),
            3 => ItemPosition::Delayed(key, id),
            4 => ItemPosition::InWork(self.below(1_000) * SECOND, id),
            5 => ItemPosition::Dead(id),
            n => ItemPosition::before(ItemState::ALL[n as usize % 4]),
        }
    }

    fn push(&mut self) -> Push {
        let group = self.below(5).checked_sub(2);
        let key = Name::new("k").unwrap();
        Push {
            payload: vec![b'x'; self.below(2_000) as usize],
            priority: Priority::new(self.below(5) as i32 - 2).unwrap(),
            due: match self.below(6) {
                0 => Due::In(self.span()),
                1 => Due::At(1_000_000 * SECOND + self.span()),
                _ => Due::Now,
            },
            group: group.map(|n| Name::new(["a", "b", "\u{e9}"][n as usize]).unwrap()),
            dedup: self.one_in(8).then(|| Dedup { key, window: self.span() }),
            most: 1 + self.below(3) as u32,
            about: "maker \u{1f} \u{e9}".into(),
        }
    }

    fn pop(&mut self) -> Pop {
        let ttl = [SECOND, 30 * SECOND][self.below(2) as usize];
        Pop {
            items: 1 + self.below(4) as u32,
            ttl,
            margin: if self.one_in(8) { UNBOUNDED } else { margin(ttl) },
            wait: self.one_in(2),
            drains: self.one_in(4),
            about: "worker".into(),
        }
    }

    fn renew(&mut self) -> Renew {
        let deliveries = (0..3).map(|_| self.delivery()).collect();
        Renew { ttl: 30 * SECOND, margin: margin(30 * SECOND), deliveries }
    }

    fn how(&mut self) -> How {
        match self.below(6) {
            0 => How::GiveBack { delay: self.below(2) * SECOND },
            1 | 2 => {
                How::Fail { delay: self.below(3) * SECOND, reason: FailureReason::new("n\u{e9}") }
            }
            _ => How::Acknowledge,
        }
    }

    fn configure(&mut self) -> Configure {
        let limit = match self.below(4) {
            0 => None,
            n => Some(Limit::new(n as u32).unwrap()),
        };
        match self.below(6) {
            0 | 1 => Configure::Limit(limit),
            2 | 3 => Configure::GroupLimit(limit),
            4 => Configure::Pause("why \u{e9}".into()),
            _ => Configure::Resume,
        }
    }
}
