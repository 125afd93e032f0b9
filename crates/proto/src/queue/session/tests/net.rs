//! The network of the tests: one queue, one ledger, virtual time.

mod links;

use alloc::{collections::BTreeMap, string::String, vec::Vec};
use std::format;

use crate::{
    Inbox, Name,
    id::mix,
    queue::{
        Batch, Delivery, Due, How, ItemId, MemoryQueue, Push, Request, State,
        session::{Answer, Bearings, DeliveryEnd, Event, OneOffId, PopId, Session, Until, Want},
    },
    session::SessionConfig,
    time::{Micros, SECOND},
};
use links::Parcel;

/// The faults of links, in per cent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fate {
    pub(super) lose_requests: u64,
    pub(super) lose_replies: u64,
    pub(super) repeat: u64,
    pub(super) lose_wakeups: bool,
    pub(super) slow: bool,
    /// How long everything takes, if not a millisecond.
    pub(super) lag: Micros,
    /// A planted mistake: sessions count from the reply, not from the request.
    pub(super) count_from_reply: bool,
    /// The session whose requests and wakeups are all lost.
    pub(super) cut_off: Option<usize>,
}

/// The deliveries in a program's hand.
#[derive(Clone, Debug)]
pub(super) struct InHand {
    pub(super) who: usize,
    pub(super) until: Option<Micros>,
    pub(super) attempt: u32,
}

pub(super) struct Net {
    pub(super) now: Micros,
    pub(super) sessions: Vec<Session>,
    pub(super) state: MemoryQueue,
    pub(super) fate: Fate,
    pub(super) calls: usize,
    pub(super) requests: usize,
    pub(super) largest_call: usize,
    pub(super) told: Vec<(usize, Micros, Event)>,
    pub(super) held: BTreeMap<Delivery, InHand>,
    pub(super) ends: BTreeMap<Delivery, DeliveryEnd>,
    pub(super) answers: BTreeMap<(usize, OneOffId), Answer>,
    /// How often each text was put into the queue by the ledger.
    pub(super) pushed: BTreeMap<String, u32>,
    /// Items that were acknowledged, as their programs were told.
    pub(super) done: Vec<ItemId>,
    pub(super) texts: BTreeMap<ItemId, String>,
    /// Wants that are not fulfilled.
    pub(super) wanted: BTreeMap<(usize, PopId), Until>,
    /// How far the store's clock is from where it would be.
    pub(super) clock_step: i64,
    inboxes: Vec<Inbox>,
    parcels: BTreeMap<(Micros, u64), Parcel>,
    draws: u64,
    count: u64,
}

pub(super) fn name() -> Name {
    Name::new("q").unwrap()
}

pub(super) fn item(text: &str) -> Push {
    Push {
        payload: text.as_bytes().to_vec(),
        priority: crate::Priority::default(),
        due: Due::Now,
        group: None,
        dedup: None,
        most: 1000,
        about: String::new(),
    }
}

pub(super) fn want(items: u32, until: Until, ttl: Micros) -> Want {
    Want { items, ttl, until, drains: false, about: String::new() }
}

impl Net {
    pub(super) fn new(sessions: usize, seed: u64) -> Self {
        Self::with(sessions, seed, &SessionConfig::default())
    }

    pub(super) fn with(sessions: usize, seed: u64, config: &SessionConfig) -> Self {
        let inboxes: Vec<Inbox> = (1..=sessions as u64)
            .map(|i| Inbox(u128::from(mix(i)) << 64 | u128::from(mix(seed))))
            .collect();
        let session =
            |inbox: &Inbox| Session::new(*inbox, name(), config.clone(), Bearings::default());
        Self {
            now: 1000 * SECOND,
            sessions: inboxes.iter().map(session).collect(),
            state: MemoryQueue::default(),
            fate: Fate::default(),
            calls: 0,
            requests: 0,
            largest_call: 0,
            told: Vec::new(),
            held: BTreeMap::new(),
            ends: BTreeMap::new(),
            answers: BTreeMap::new(),
            pushed: BTreeMap::new(),
            done: Vec::new(),
            texts: BTreeMap::new(),
            wanted: BTreeMap::new(),
            clock_step: 0,
            inboxes,
            parcels: BTreeMap::new(),
            draws: seed << 20,
            count: 0,
        }
    }

    pub(super) fn push(&mut self, who: usize, push: Push) -> OneOffId {
        self.sessions[who].one_off(self.now, Request::Push(push))
    }

    pub(super) fn push_text(&mut self, who: usize, text: &str) -> OneOffId {
        self.push(who, item(text))
    }

    pub(super) fn push_texts(&mut self, count: usize) {
        for i in 0..count {
            self.push_text(0, &format!("{i}"));
        }
    }

    pub(super) fn pop(&mut self, who: usize, want: Want) -> PopId {
        let until = want.until;
        let pop = self.sessions[who].pop(want);
        self.wanted.insert((who, pop), until);
        pop
    }

    pub(super) fn finish(&mut self, delivery: Delivery, how: How) {
        let Some(held) = self.held.remove(&delivery) else { return };
        self.sessions[held.who].finish(delivery, how);
    }

    pub(super) fn draw(&mut self, below: u64) -> u64 {
        self.draws += 1;
        mix(self.draws) % below
    }

    /// The deliveries that this client believes to have in hand now.
    pub(super) fn in_hand(&self, who: usize) -> Vec<Delivery> {
        let its = self.held.iter().filter(|(_, held)| held.who == who);
        let believed = its.filter(|(_, held)| held.until.is_none_or(|until| until > self.now));
        believed.map(|(delivery, _)| *delivery).collect()
    }

    /// Nobody believes in a delivery that the ledger has ended, and no item is believed in by two.
    pub(super) fn check(&mut self) {
        let mut items = BTreeMap::new();
        for who in 0..self.sessions.len() {
            for delivery in self.in_hand(who) {
                let Ok(item) = self.state.item(delivery.id);
                let is_in_work = item.as_ref().is_some_and(|item| {
                    item.work().is_some_and(|work| work.fence == delivery.fence)
                });
                let is_done = item.is_none() && self.done.contains(&delivery.id);
                assert!(is_in_work && !is_done, "{delivery:?} at {}: {item:?}", self.now);
                assert_eq!(items.insert(delivery.id, who), None, "{delivery:?} is in two hands");
            }
        }
        self.state.check().unwrap();
    }

    /// Somebody looks at the queue, which settles what is due. Says whether somebody believes in
    /// what is over.
    pub(super) fn somebody_is_wrong(&mut self) -> bool {
        let (session, requests) = (Inbox(0), Vec::new());
        let batch = Batch { name: name(), session, number: 0, not_after: 0, seen: 0, requests };
        self.execute(&batch);
        let believed: Vec<_> = (0..self.sessions.len()).flat_map(|who| self.in_hand(who)).collect();
        believed.into_iter().any(|delivery| {
            let Ok(item) = self.state.item(delivery.id);
            let fence = item.and_then(|item| item.work().map(|work| work.fence));
            fence != Some(delivery.fence)
        })
    }

    /// Which items are in the queue now that were not before.
    fn note_pushes(&mut self, last: u64, now: Micros) {
        let Ok(head) = self.state.head();
        for id in now.max(last + 1)..=head.last {
            self.note_push(ItemId(id));
        }
    }

    fn note_push(&mut self, id: ItemId) {
        let Ok(Some(_)) = self.state.item(id) else { return };
        let Ok(payload) = self.state.payload(id);
        let text = String::from_utf8(payload).unwrap();
        if self.texts.insert(id, text.clone()).is_none() {
            *self.pushed.entry(text).or_default() += 1;
        }
    }

    fn listen(&mut self, who: usize) {
        while let Some(event) = self.sessions[who].poll_event() {
            self.take(who, &event);
            self.told.push((who, self.now, event));
        }
    }

    fn take(&mut self, who: usize, event: &Event) {
        match event {
            Event::Delivered { pop, items } => {
                for delivered in items {
                    let held = InHand {
                        who,
                        until: delivered.valid_until,
                        attempt: delivered.item.attempt,
                    };
                    let before = self.held.insert(delivered.item.delivery, held);
                    assert!(before.is_none(), "delivered twice to a program");
                }
                if self.wanted.get(&(who, *pop)).is_some_and(|until| *until != Until::Unpopped) {
                    self.wanted.remove(&(who, *pop));
                }
            }
            Event::Drained { pop } | Event::TimedOut { pop } | Event::Failed { pop } => {
                self.wanted.remove(&(who, *pop));
            }
            Event::Renewed { delivery, valid_until } => {
                self.held.entry(*delivery).and_modify(|held| held.until = *valid_until);
            }
            Event::Lost { delivery, .. } => drop(self.held.remove(delivery)),
            Event::Finished { delivery, end } => {
                if *end == DeliveryEnd::Acknowledged {
                    assert!(!self.done.contains(&delivery.id), "acknowledged twice");
                    self.done.push(delivery.id);
                }
                self.ends.insert(*delivery, *end);
            }
            Event::Answer { one_off, answer } => {
                self.answers.insert((who, *one_off), answer.clone());
            }
            Event::Danger { .. } => {}
        }
    }

    pub(super) fn run_for(&mut self, time: Micros) {
        let end = self.now + time;
        loop {
            self.step();
            let timeouts = self.sessions.iter().filter_map(Session::poll_timeout);
            let parcel = self.parcels.keys().next().map(|key| key.0);
            let Some(next) = timeouts.chain(parcel).min().filter(|next| *next <= end) else {
                break;
            };
            self.now = next.max(self.now);
            self.deliver();
        }
        self.now = end;
    }
}
