//! Mistakes put in on purpose, each as a wrapper around the real machines.

use seinpaal_proto::{
    queue::{
        Batch, Delivery, Item, MemoryQueue, Replies, Reply, Request, Standing, State, WorkerCall,
    },
    time::Micros,
};

/// A planted mistake.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Plant {
    /// An acknowledgement counts for an item's present delivery, whichever delivery it names.
    LateAcknowledged,
    /// An item whose delivery's lease ended is not put back.
    ExpiredGone,
    /// A batch that arrives twice is executed twice.
    RepeatDone,
    /// The ledger allows one more item of a group in work.
    GroupOneMore,
    /// The ledger waits for a worker that was called and does not come.
    CallForEver,
    /// The watching worker is not told of an item that is due sooner.
    WatchUntold,
    /// An item that is given back goes to the end of the line.
    PlaceLost,
    /// A worker is not told that its delivery is over.
    LossIgnored,
    /// A renewal revives a delivery that is over.
    RenewalRevives,
    /// A delivery is not counted.
    Uncounted,
    /// An item has one delivery more than it may.
    OneMore,
    /// Numbers are the clock alone.
    NumberIsClock,
    /// The answer to a push names another item.
    AnotherPushed,
    /// A total is one more than what it counts.
    Miscounted,
    /// An item loses what its maker said of it.
    AboutLost,
}

impl Plant {
    /// All mistakes.
    pub const ALL: [Self; 15] = [
        Self::LateAcknowledged,
        Self::ExpiredGone,
        Self::RepeatDone,
        Self::GroupOneMore,
        Self::CallForEver,
        Self::WatchUntold,
        Self::PlaceLost,
        Self::LossIgnored,
        Self::RenewalRevives,
        Self::Uncounted,
        Self::OneMore,
        Self::NumberIsClock,
        Self::AnotherPushed,
        Self::Miscounted,
        Self::AboutLost,
    ];

    /// Describes the mistake.
    #[must_use]
    pub const fn says(self) -> &'static str {
        match self {
            Self::LateAcknowledged => "queue: a delivery that is over can acknowledge its item",
            Self::ExpiredGone => "queue: an item whose lease ended is not put back",
            Self::RepeatDone => "queue: a batch that comes twice is done twice",
            Self::GroupOneMore => "queue: one item of a group is in work beyond its limit",
            Self::CallForEver => "queue: a worker that was called is waited for, for ever",
            Self::WatchUntold => "queue: the watch is not told of an item that is due sooner",
            Self::PlaceLost => "queue: an item that is given back goes to the end",
            Self::LossIgnored => "queue: a worker does not hear that its delivery is over",
            Self::RenewalRevives => "queue: a renewal revives a delivery that is over",
            Self::Uncounted => "queue: a delivery is not counted",
            Self::OneMore => "queue: an item has one delivery too many",
            Self::NumberIsClock => "queue: numbers are the clock alone",
            Self::AnotherPushed => "queue: the answer to a push names another item",
            Self::Miscounted => "queue: the ledger counts one too many",
            Self::AboutLost => "queue: an item loses what its maker said of it",
        }
    }

    /// Returns the batch as it arrives with the mistake.
    pub(super) fn request(self, batch: &Batch, ledger: &MemoryQueue) -> Batch {
        let mut batch = batch.clone();
        for request in &mut batch.requests {
            match (self, request) {
                (Self::LateAcknowledged, Request::Finish { delivery, .. }) => {
                    let item = ledger.all_items().find(|item| item.id == delivery.id);
                    let work = item.and_then(Item::work);
                    delivery.fence = work.map_or(delivery.fence, |work| work.fence);
                }
                (Self::OneMore, Request::Push(push)) => push.most += 1,
                (Self::AboutLost, Request::Push(push)) => push.about.clear(),
                _ => {}
            }
        }
        batch
    }

    /// Changes the ledger before it executes a batch.
    pub(super) fn before(self, ledger: &mut MemoryQueue, now: Micros) {
        let Ok(mut head) = ledger.head();
        match self {
            Self::RepeatDone => {
                while let Ok(Some((_, session))) = ledger.first_session() {
                    let Ok(()) = ledger.remove_session(session);
                }
                head.sessions = 0;
            }
            Self::CallForEver => {
                let called = ledger.workers().filter(|(_, call)| *call != WorkerCall::InLine);
                for (inbox, _) in called.collect::<Vec<_>>() {
                    if let Ok(Some(mut place)) = ledger.place(inbox) {
                        place.call = WorkerCall::Since(now);
                        let Ok(()) = ledger.put_place(&place);
                    }
                }
                return;
            }
            Self::WatchUntold => head.watch_at = now + 1,
            Self::NumberIsClock => head.last = 0,
            _ => return,
        }
        if !ledger.is_empty() {
            let Ok(()) = ledger.set_head(&head);
        }
    }

    /// Changes the ledger after it has executed a batch.
    pub(super) fn after(
        self,
        before: &MemoryQueue,
        ledger: &mut MemoryQueue,
        batch: &Batch,
        now: Micros,
    ) {
        let Ok(mut head) = ledger.head();
        head.delayed += u32::from(self == Self::Miscounted && ledger.all_items().next().is_some());
        for old in before.all_items() {
            let Ok(item) = ledger.item(old.id);
            let Some(mut item) = item else { continue };
            let is_back = old.work().is_some() && item.standing == (Standing::Ready { open: true });
            let finishes = |request: &Request| matches!(request, Request::Finish { delivery, .. } if delivery.id == old.id);
            let is_finished = batch.requests.iter().any(finishes);
            match self {
                Self::ExpiredGone if is_back && !is_finished => {
                    let Ok(()) = ledger.remove_item(item.id);
                    (head.ready, head.open) = (head.ready - 1, head.open - 1);
                }
                Self::PlaceLost if is_back && is_finished => {
                    item.rank = now as i64;
                    let Ok(()) = ledger.put_item(&item);
                }
                Self::Uncounted if old.work().is_none() && item.work().is_some() => {
                    item.attempt -= 1;
                    let Ok(()) = ledger.put_item(&item);
                }
                Self::RenewalRevives if is_back && !is_finished => {
                    if let (Some(work), true) = (old.work(), renews(batch, old)) {
                        item.standing = Standing::InWork(work.clone());
                        let Ok(()) = ledger.put_item(&item);
                        (head.ready, head.open) = (head.ready - 1, head.open - 1);
                        head.in_work += 1;
                    }
                }
                _ => {}
            }
        }
        if !ledger.is_empty() {
            let Ok(()) = ledger.set_head(&head);
        }
    }
}

impl Plant {
    /// Changes the replies before the client hears them.
    pub(super) fn replies(self, replies: &mut Replies) {
        if self != Self::AnotherPushed {
            return;
        }
        for reply in &mut replies.replies {
            if let Reply::Pushed { id } = reply {
                id.0 += 1;
            }
        }
    }
}

fn renews(batch: &Batch, item: &Item) -> bool {
    let fence = item.work().map(|work| work.fence);
    let is_it = |it: &Delivery| it.id == item.id && Some(it.fence) == fence;
    batch.requests.iter().any(|request| match request {
        Request::Renew(renew) => renew.deliveries.iter().any(is_it),
        _ => false,
    })
}
