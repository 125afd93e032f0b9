//! Looks at many names: to list them, and to forget those that no client uses any more.

use std::collections::BTreeSet;

use seinpaal_proto::{Batch, MemoryState, Name, Replies, Reply, Request, Snapshot, State};

use super::{call::undo, core::Core, link::SessionLink, paths::decode, replica::Replica};
use seinpaal_store::{
    Examination, StoreError,
    examination::{found, found_in_state, look_at},
};

/// The most waiters that a listed snapshot shows.
const LISTED_WAITERS: u32 = 64;
/// The number of names that one sweep looks at. They are drawn at random, so that the clients
/// together come to all names.
const SWEPT: usize = 16;

impl Core {
    /// Lists the names that start with `prefix`, and passes over damaged ones.
    pub(super) async fn list(&self, prefix: &str) -> Result<Vec<(Name, Snapshot)>, StoreError> {
        let link = self.link().await?;
        let mut listed = Vec::new();
        for name in self.names_there(&link).await? {
            if !name.as_str().starts_with(prefix) {
                continue;
            }
            match self.peek(&link, &name).await {
                Ok(snapshot) => listed.extend(snapshot.map(|snapshot| (name, snapshot))),
                // One damaged name must not hide all others.
                Err(error) if error.is_about_what_is_kept() => {
                    tracing::warn!(target: crate::TARGET, %name, %error, "passed over");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(listed)
    }

    async fn names_there(&self, link: &SessionLink) -> Result<BTreeSet<Name>, StoreError> {
        let children = link.children(&self.options.paths.names()).await?;
        Ok(children.iter().filter_map(|child| decode(child)).collect())
    }

    /// Looks at a name and writes nothing.
    async fn peek(&self, link: &SessionLink, name: &Name) -> Result<Option<Snapshot>, StoreError> {
        let requests = vec![Request::Inspect { rows: LISTED_WAITERS }];
        let batch = Batch { name: name.clone(), inbox: None, fence_seen: 0, requests };
        let reply = self.read(link, &batch).await?.replies.into_iter().next();
        let Some(Reply::Snapshot(mut snapshot)) = reply else { return Ok(None) };
        snapshot.holders.clear();
        Ok(snapshot.is_worth_listing().then_some(snapshot))
    }

    /// Executes a batch on a copy of its own, which is dropped.
    async fn read(&self, link: &SessionLink, batch: &Batch) -> Result<Replies, StoreError> {
        let mut replica = Replica::default();
        let floor = self.follow(link, &mut replica, &batch.name).await?;
        let nobody = BTreeSet::new();
        let executed = self.settle_doubts(link, &mut replica, batch, &nobody, floor).await?;
        undo(link, &mut replica, &batch.name)?;
        Ok(executed.outcome.replies)
    }

    /// Examines each name: the stored state first, and if that is sound, the snapshot of the name.
    pub(super) async fn examine(&self, most: usize) -> Result<Examination, StoreError> {
        let link = self.link().await?;
        let mut examination = Examination::default();
        for name in self.names_there(&link).await? {
            if examination.is_full(most) {
                break;
            }
            let looked = self.found_at(&link, &name).await;
            examination.take(&name, None, looked)?;
        }
        Ok(examination)
    }

    async fn found_at(&self, link: &SessionLink, name: &Name) -> Result<Vec<String>, StoreError> {
        let mut replica = Replica::default();
        self.follow(link, &mut replica, name).await?;
        let stored = found_in_state(&replica.state);
        if !stored.is_empty() {
            return Ok(stored);
        }
        let replies = self.read(link, &look_at(name)).await?;
        Ok(found(&replies))
    }

    /// Settles some names at which no client is any more (rule 12). Any client may have used them
    /// last.
    pub(super) async fn sweep(&self, link: &SessionLink) -> Result<(), StoreError> {
        let mut names: Vec<Name> = self.names_there(link).await?.into_iter().collect();
        for _ in 0..SWEPT.min(names.len()) {
            let name = names.swap_remove(below(names.len()));
            let mut replica = Replica::default();
            self.follow(link, &mut replica, &name).await?;
            let now = self.now(link, replica.leader()).await?;
            if is_over(&mut replica.state, now) {
                self.settle(link, &name, BTreeSet::new()).await?;
            }
        }
        Ok(())
    }
}

/// Returns whether no client is at the name, the first of its memories has run out, and its last
/// fence need not be known.
fn is_over(state: &mut MemoryState, now: u64) -> bool {
    let Ok(head) = state.head();
    let first = state.closed_memories().next().map_or(0, |memory| memory.until);
    state.is_at_rest()
        && !head.owes_fence(now)
        && first <= head.clock + now.saturating_sub(head.wall)
}

fn below(sides: usize) -> usize {
    let mut draw = [0; 8];
    // If no random numbers are to be had, the first one will do.
    let _ = getrandom::fill(&mut draw);
    u64::from_le_bytes(draw) as usize % sides.max(1)
}
