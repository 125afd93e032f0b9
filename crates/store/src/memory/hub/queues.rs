//! The queues of a memory store.

use std::ops::Bound;

use seinpaal_proto::{
    Inbox, Name,
    queue::{Batch, MemoryQueue, Replies, Reply, Request, Snapshot, execute},
    time::Micros,
};

use super::{HubState, MemoryHub, SWEEP};
use crate::{News, StoreError};

impl MemoryHub {
    pub(in crate::memory) fn call_queue(&self, batch: &Batch) -> Result<Replies, StoreError> {
        let mut inner = self.lock()?;
        let now = self.now();
        let replies = inner.execute_queue(now, batch);
        inner.sweep_queues(now);
        Ok(replies)
    }

    pub(in crate::memory) fn list_queues(
        &self,
        prefix: &str,
    ) -> Result<Vec<(Name, Snapshot)>, StoreError> {
        let mut inner = self.lock()?;
        let now = self.now();
        let with_prefix = |name: &&Name| name.as_str().starts_with(prefix);
        let names: Vec<_> = inner.queues.keys().filter(with_prefix).cloned().collect();
        Ok(names.into_iter().filter_map(|name| inner.listed_queue(now, name)).collect())
    }

    /// Returns how many queues the hub stores. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn queues(&self) -> usize {
        self.lock().map_or(0, |inner| inner.queues.len())
    }
}

impl HubState {
    pub(super) fn execute_queue(&mut self, now: Micros, batch: &Batch) -> Replies {
        let state = self.queues.entry(batch.name.clone()).or_default();
        let Ok(outcome) = execute(state, &mut self.inboxes, now, batch);
        if state.is_empty() {
            self.queues.remove(&batch.name);
        }
        for wakeup in outcome.wakeups {
            self.inboxes.tell(wakeup.inbox, News::Queue(wakeup));
        }
        outcome.replies
    }

    fn settle_queue(&mut self, now: Micros, name: Name) -> Replies {
        self.execute_queue(now, &reading(name, Vec::new()))
    }

    /// Ends the deliveries of a client that is gone, so that others get the items.
    pub(super) fn end_deliveries(&mut self, inbox: Inbox, now: Micros) {
        let queues = self.queues.iter_mut();
        let touched = queues.filter_map(|(name, queue)| queue.end_leases_of(inbox).then_some(name));
        for name in touched.cloned().collect::<Vec<_>>() {
            while self.settle_queue(now, name.clone()).backlog {}
        }
    }

    /// Removes queues of which only memories are left (rule 12), even if nobody ever asks for them
    /// again.
    fn sweep_queues(&mut self, now: Micros) {
        for _ in 0..SWEEP {
            let after = self.swept_queue.take().map_or(Bound::Unbounded, Bound::Excluded);
            let next = self.queues.range((after, Bound::Unbounded)).next();
            let Some((name, at_rest)) = next.map(at_rest) else { return };
            if at_rest {
                self.settle_queue(now, name.clone());
            }
            self.swept_queue = Some(name);
        }
    }

    fn listed_queue(&mut self, now: Micros, name: Name) -> Option<(Name, Snapshot)> {
        let batch = reading(name, vec![Request::Inspect { rows: 0 }]);
        let Reply::Snapshot(snapshot) = self.execute_queue(now, &batch).replies.pop()? else {
            return None;
        };
        snapshot.is_worth_listing().then_some((batch.name, snapshot))
    }
}

fn at_rest((name, queue): (&Name, &MemoryQueue)) -> (Name, bool) {
    (name.clone(), queue.is_at_rest())
}

/// Returns a batch that belongs to no session. It changes only what is due anyway.
fn reading(name: Name, requests: Vec<Request>) -> Batch {
    // The ledger remembers nothing of a batch with the number 0.
    Batch { name, session: Inbox(0), number: 0, not_after: Micros::MAX, seen: 0, requests }
}
