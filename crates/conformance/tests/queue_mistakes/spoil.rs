//! The mistakes that a store of queues can have. Each mistake spoils requests, answers or news on
//! their way.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use seinpaal::store::{News, NewsSender, Store, StoreError};
use seinpaal_proto::{
    Inbox, Name, Priority,
    queue::{
        Batch, Configure, Delivery, Due, FailureReason, How, Pop, Popped, Push, Renew, Replies,
        Reply, Request, Snapshot, What,
    },
    time::UNBOUNDED,
};
use seinpaal_rig::{Between, seam::SeamResult};

use super::mistake::Mistake;

/// Spoils requests, answers and news of all stores of one harness.
#[derive(Debug)]
pub(crate) struct Spoiler {
    mistake: Mistake,
    /// The number of the last batch. It replaces the number that the sender gave.
    number: AtomicU64,
    /// The last deliveries.
    delivered: Mutex<Vec<Popped>>,
    everybody: Mutex<BTreeMap<Inbox, NewsSender>>,
    /// Stores of clients that have died. They are kept open, so that the memory store does not
    /// notice the death.
    undead: Mutex<Vec<Arc<dyn Store>>>,
}

impl Spoiler {
    pub(crate) fn new(mistake: Mistake) -> Self {
        Self {
            mistake,
            number: AtomicU64::new(1),
            delivered: Mutex::default(),
            everybody: Mutex::default(),
            undead: Mutex::default(),
        }
    }

    pub(crate) fn listen(&self, inbox: Inbox, news: NewsSender) {
        self.everybody.lock().unwrap().insert(inbox, news);
    }

    pub(crate) fn bury(&self, store: Arc<dyn Store>) {
        if self.mistake == Mistake::NeverEndsLeases {
            self.undead.lock().unwrap().push(store);
        }
    }

    fn tell_everybody(&self, news: &News) {
        let inboxes: Vec<_> = self.everybody.lock().unwrap().keys().copied().collect();
        for inbox in inboxes {
            let mut news = news.clone();
            if let News::Queue(wakeup) = &mut news {
                wakeup.inbox = inbox;
            }
            self.deliver(inbox, news);
        }
    }

    fn deliver(&self, inbox: Inbox, news: News) {
        // An error means that the client is gone.
        let _ = self.everybody.lock().unwrap()[&inbox].send(news);
    }

    async fn call(&self, store: &dyn Store, batch: &Batch) -> Result<Replies, StoreError> {
        let mut spoilt = self.batch(batch);
        if self.mistake == Mistake::BelievesLateWorkers {
            believe(store, &mut spoilt).await?;
        }
        let mut replies = store.call_queue(&spoilt).await?;
        for (request, reply) in batch.requests.iter().zip(&mut replies.replies) {
            self.reply(request, reply);
            if let (Request::Pop(pop), Reply::Popped { items, .. }) = (request, reply)
                && self.mistake == Mistake::AnswersWithoutBound
            {
                items.extend(self.pop_more(store, &spoilt, pop, items.len()).await?);
            }
        }
        if self.mistake == Mistake::TellsNobodyToLook {
            replies.look_in = None;
        }
        Ok(replies)
    }

    fn batch(&self, batch: &Batch) -> Batch {
        let mut batch = batch.clone();
        let renumbers =
            matches!(self.mistake, Mistake::RepeatsBatches | Mistake::AnswersWithoutBound);
        if renumbers && batch.number > 0 {
            batch.number = self.number.fetch_add(1, Ordering::Relaxed);
        }
        if self.mistake == Mistake::IgnoresDeadlines {
            batch.not_after += 3_600_000_000;
        }
        if self.mistake == Mistake::CutsNames {
            let kept: String = batch.name.chars().filter(char::is_ascii_alphanumeric).collect();
            batch.name = Name::new(&kept).unwrap();
        }
        batch.requests.iter_mut().for_each(|request| self.request(request));
        batch
    }

    fn request(&self, request: &mut Request) {
        match request {
            Request::Push(push) => self.push(push),
            Request::Pop(pop) if self.mistake == Mistake::NeverEndsLeases => {
                (pop.ttl, pop.margin) = (pop.ttl * 1_000_000, UNBOUNDED);
            }
            Request::Renew(renew) if self.mistake == Mistake::ForgetsRenewals => {
                renew.deliveries.clear();
            }
            Request::Cancel { spares_work, .. } if self.mistake == Mistake::SparesNobody => {
                *spares_work = false;
            }
            Request::Configure(change) => self.change(change),
            Request::Finish { delivery, how } => {
                self.end(how);
                if self.mistake == Mistake::ForgetsAcknowledgements && *how == How::Acknowledge {
                    *request = renewal(*delivery);
                }
            }
            _ => {}
        }
    }

    fn push(&self, push: &mut Push) {
        match (self.mistake, push.due) {
            (Mistake::IgnoresPriority, _) => push.priority = Priority::default(),
            (Mistake::RoundsDelays, Due::In(delay)) => {
                push.due = Due::In(delay / 1_000_000 * 1_000_000);
            }
            (Mistake::ForgetsKeys, _) => push.dedup = None,
            (Mistake::NeverBuries, _) => push.most = 1_000_000,
            (Mistake::TakesPayloadsForText, _) => {
                push.payload = String::from_utf8_lossy(&push.payload).into_owned().into_bytes();
            }
            (Mistake::CutsPayloadsAtZero, _) => {
                push.payload = push.payload.split(|byte| *byte == 0).next().unwrap().to_vec();
            }
            _ => {}
        }
    }

    fn change(&self, change: &mut Configure) {
        match (self.mistake, &*change) {
            (Mistake::IgnoresLimit, Configure::Limit(_)) => *change = Configure::Limit(None),
            (Mistake::IgnoresGroupLimit, Configure::GroupLimit(_)) => {
                *change = Configure::GroupLimit(None);
            }
            (Mistake::IgnoresPauses, Configure::Pause(_)) => *change = Configure::Resume,
            _ => {}
        }
    }

    fn end(&self, how: &mut How) {
        match (self.mistake, &mut *how) {
            (Mistake::ForgetsReasons, How::Fail { reason, .. }) => *reason = FailureReason::new(""),
            (Mistake::CountsGivingBack, How::GiveBack { delay }) => {
                *how = How::Fail { delay: *delay, reason: FailureReason::default() };
            }
            (Mistake::GivesBackToTheEnd, How::GiveBack { delay }) => *delay = (*delay).max(1),
            _ => {}
        }
    }

    fn reply(&self, request: &Request, reply: &mut Reply) {
        match (request, &mut *reply) {
            (Request::Finish { delivery, .. }, Reply::Renewed { lost, .. }) => {
                let id = delivery.id;
                let is_lost = !lost.is_empty();
                *reply = if is_lost { Reply::Lost { id } } else { Reply::Acknowledged { id } };
            }
            (Request::Configure(change), Reply::Configured { limit, group_limit }) => {
                match change {
                    Configure::Limit(stated) => *limit = stated.map(|stated| stated.get()),
                    Configure::GroupLimit(stated) => *group_limit = stated.map(|it| it.get()),
                    _ => {}
                }
            }
            (_, Reply::Popped { items, .. }) => self.popped(items),
            (_, Reply::Items { rows, next }) => self.mistake.spoil_page(rows, next),
            _ => {}
        }
    }

    fn popped(&self, items: &mut Vec<Popped>) {
        let mut delivered = self.delivered.lock().unwrap();
        match self.mistake {
            Mistake::LosesOrder => items.reverse(),
            Mistake::DeliversTwice if items.is_empty() => items.clone_from(&delivered),
            _ => {}
        }
        delivered.clone_from(items);
    }

    /// Pops the items that the memory store left out of one answer.
    async fn pop_more(
        &self,
        store: &dyn Store,
        batch: &Batch,
        pop: &Pop,
        had: usize,
    ) -> Result<Vec<Popped>, StoreError> {
        let more = Pop { items: pop.items - had as u32, wait: false, ..pop.clone() };
        let requests = vec![Request::Pop(more)];
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let replies = store.call_queue(&Batch { number, requests, ..batch.clone() }).await?.replies;
        match replies.into_iter().next() {
            Some(Reply::Popped { items, .. }) => Ok(items),
            other => panic!("not popped: {other:?}"),
        }
    }
}

impl Between for Spoiler {
    fn call_queue<'a>(&'a self, store: &'a dyn Store, batch: &'a Batch) -> SeamResult<'a, Replies> {
        Box::pin(self.call(store, batch))
    }

    fn list_queues<'a>(
        &'a self,
        store: &'a dyn Store,
        prefix: &'a str,
    ) -> SeamResult<'a, Vec<(Name, Snapshot)>> {
        Box::pin(async move {
            let mut list = store.list_queues(prefix).await?;
            list.retain(|(_, seen)| self.mistake != Mistake::ListsFull || seen.ready > 0);
            Ok(list)
        })
    }

    fn tell(&self, inbox: Inbox, _client: &NewsSender, news: News) {
        let what = if let News::Queue(wakeup) = &news { Some(wakeup.what) } else { None };
        match (self.mistake, what) {
            (Mistake::DropsCalls, Some(What::Called))
            | (Mistake::TellsNobodyToLook, Some(What::Watch { .. }))
            | (Mistake::TellsOfNoLoss, Some(What::Lost(_))) => {}
            (Mistake::CallsEverybody, Some(What::Called)) => self.tell_everybody(&news),
            _ => self.deliver(inbox, news),
        }
    }
}

/// A request that tells whether a delivery is under way, and ends nothing.
fn renewal(delivery: Delivery) -> Request {
    Request::Renew(Renew { ttl: 30_000_000, margin: UNBOUNDED, deliveries: vec![delivery] })
}

/// Treats the end of any delivery of an item as the end of the one under way.
async fn believe(store: &dyn Store, batch: &mut Batch) -> Result<(), StoreError> {
    let requests = vec![Request::Inspect { rows: 1_000 }];
    let look = Batch { number: 0, requests, ..batch.clone() };
    let replies = store.call_queue(&look).await?.replies;
    let Some(Reply::Snapshot(seen)) = replies.first() else { panic!("{replies:?}") };
    for request in &mut batch.requests {
        if let Request::Finish { delivery, .. } = request
            && let Some(row) = seen.work.iter().find(|row| row.id == delivery.id)
        {
            delivery.fence = row.fence;
        }
    }
    Ok(())
}
