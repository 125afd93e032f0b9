//! Expiry: time ends leases, and the memory of sessions and keys.

use super::Ledger;
use crate::{
    ledger::{Contact, Contacts},
    queue::{
        item::{Delivery, Ending, Item, Standing, Work},
        reply::What,
        state::State,
    },
};

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    /// Ends the leases that have run out, as for semaphores. The ledger's clock decides. If nobody
    /// listens at the inbox of the worker, the store's clock decides as well.
    pub(super) fn expire(&mut self) -> Result<(), S::Error> {
        while let Some((item, work)) = worked(self.first_work_by_end()?) {
            if work.ends > self.head.clock || !self.has_work() {
                break;
            }
            match self.contact(work.by) {
                Contact::Alive => self.vouch(item)?,
                _ => self.end(item, &work)?,
            }
        }
        while let Some((item, work)) = worked(self.first_work_by_wall()?) {
            if work.ends_wall > self.now || !self.has_work() {
                break;
            }
            match self.contact(work.by) {
                Contact::Alive => self.vouch(item)?,
                Contact::Listening => self.trust(item)?,
                Contact::Dead | Contact::Silent => self.end(item, &work)?,
            }
        }
        Ok(())
    }

    /// Renews a lease whose worker lives, as the kernel says.
    fn vouch(&mut self, mut item: Item) -> Result<(), S::Error> {
        if let Standing::InWork(work) = &mut item.standing {
            work.ends = self.head.clock + work.ttl;
            work.ends_wall = self.now + work.ttl;
        }
        self.state.put_item(&item)
    }

    /// Lets only the ledger's clock end a lease whose worker listens.
    fn trust(&mut self, mut item: Item) -> Result<(), S::Error> {
        if let Standing::InWork(work) = &mut item.standing {
            // The end moves by at least 1. Otherwise this very loop would find the lease again.
            work.ends_wall = self.now + work.ends.saturating_sub(self.head.clock).max(1);
        }
        self.state.put_item(&item)
    }

    fn end(&mut self, item: Item, work: &Work) -> Result<(), S::Error> {
        self.wake(work.by, What::Lost(Delivery { id: item.id, fence: work.fence }));
        self.stop_work(&item)?;
        self.fail(item, 0, Ending::Expired)?;
        Ok(())
    }

    /// Forgets a few sessions and keys whose time is over.
    pub(super) fn forget(&mut self, most: usize) -> Result<(), S::Error> {
        for _ in 0..most {
            let Some((until, session)) = self.first_session()? else { break };
            // A batch that comes right at its deadline is still executed, so it must be known then.
            if until >= self.now {
                break;
            }
            self.head.sessions = self.head.sessions.saturating_sub(1);
            self.state.remove_session(session)?;
        }
        for _ in 0..most {
            let Some(known) = self.first_key()? else { break };
            if known.until > self.now {
                break;
            }
            self.head.keys = self.head.keys.saturating_sub(1);
            self.state.remove_key(&known.key)?;
        }
        Ok(())
    }
}

fn worked(item: Option<Item>) -> Option<(Item, Work)> {
    let item = item?;
    let work = item.work()?.clone();
    Some((item, work))
}
