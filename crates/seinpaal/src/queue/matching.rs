//! Requests about all items that a program chooses, and not about one.

use std::collections::HashSet;

use futures_util::future::join_all;
use seinpaal_proto::queue::{ItemId, ItemState};

use super::{ListedItem, Queue, QueueError};

/// How many requests are made at the same time.
const AT_ONCE: usize = 64;

impl Queue {
    /// Replays the dead letters that `is_wanted` chooses, and returns their number. They are chosen
    /// once, at the beginning. So an item that dies again in the meantime is not replayed twice.
    ///
    /// # Cancel safety
    /// Dropping the future takes nothing back. Items that were replayed by then stay replayed, and
    /// the others are left alone.
    ///
    /// # Errors
    /// As [`limit`](Self::limit). Some items may have been replayed before the error.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # use std::time::Duration;
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let mails = seinpaal.queue("mails of two groups");
    /// for group in ["acme", "other"] {
    ///     mails.push("to: ann").group(group).deliveries(1).await?;
    ///     mails.pop().await?.fail("no route to host", Duration::ZERO).await?;
    /// }
    /// let replayed = mails.replay_all(|letter| letter.group.as_deref() == Some("acme")).await?;
    /// assert_eq!((replayed, mails.snapshot().await?.dead), (1, 1));
    /// # mails.pop().await?.acknowledge().await?;
    /// # assert_eq!(mails.remove_all(seinpaal::ItemState::Dead, |_| true).await?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn replay_all(
        &self,
        is_wanted: impl FnMut(&ListedItem) -> bool,
    ) -> Result<u64, QueueError> {
        let chosen = self.chosen(ItemState::Dead, is_wanted).await?;
        many_at_once(&chosen, |id| self.replay(id)).await
    }

    /// Takes the items of a state that `is_wanted` chooses out of the queue, and returns their
    /// number. They are chosen once, at the beginning. [`purge`](Self::purge) and
    /// [`purge_dead`](Self::purge_dead) take out all items with fewer calls.
    ///
    /// Ready and delayed items that a worker took in the meantime are left alone. If an item was in
    /// work when it was chosen, its worker hears at once that the delivery has ended.
    ///
    /// # Cancel safety
    /// Dropping the future takes nothing back. Items that were taken out by then are gone, and the
    /// others are left alone.
    ///
    /// # Errors
    /// As [`limit`](Self::limit). Some items may have been taken out before the error.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # use seinpaal::ItemState;
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let mails = seinpaal.queue("mails of two customers");
    /// mails.push("to: ann").label("job", "42").await?;
    /// mails.push("to: bob").label("job", "43").await?;
    /// let of_job = |job: &str, item: &seinpaal::ListedItem| {
    ///     item.pushed_by.labels.iter().any(|(key, value)| key == "job" && value == job)
    /// };
    /// let removed = mails.remove_all(ItemState::Ready, |item| of_job("42", item)).await?;
    /// assert_eq!((removed, mails.snapshot().await?.ready), (1, 1));
    /// # mails.purge().await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn remove_all(
        &self,
        state: ItemState,
        is_wanted: impl FnMut(&ListedItem) -> bool,
    ) -> Result<u64, QueueError> {
        let chosen = self.chosen(state, is_wanted).await?;
        many_at_once(&chosen, |id| self.remove(state, id)).await
    }

    /// Takes out an item that was found in this state.
    async fn remove(&self, state: ItemState, id: ItemId) -> Result<(), QueueError> {
        match state {
            ItemState::Dead => self.drop_dead(id).await,
            _ => self.cancel_if(id, state != ItemState::InWork).await.map(drop),
        }
    }

    /// The numbers of the chosen items. Each stands there once, although an item in work can be
    /// listed again.
    async fn chosen(
        &self,
        state: ItemState,
        mut is_wanted: impl FnMut(&ListedItem) -> bool,
    ) -> Result<Vec<ItemId>, QueueError> {
        let mut ids = Vec::new();
        self.each_item(state, |item| ids.extend(is_wanted(item).then_some(item.id))).await?;
        let mut seen = HashSet::new();
        ids.retain(|id| seen.insert(*id));
        Ok(ids)
    }
}

/// Makes many requests at the same time, so that they share calls.
async fn many_at_once<D: Future<Output = Result<(), QueueError>>>(
    items: &[ItemId],
    act: impl Fn(ItemId) -> D,
) -> Result<u64, QueueError> {
    let mut total = 0;
    for items in items.chunks(AT_ONCE) {
        for done in join_all(items.iter().map(|id| act(*id))).await {
            total += u64::from(is_done(done)?);
        }
    }
    Ok(total)
}

/// Returns whether this call has done it. Otherwise another client was faster.
fn is_done(done: Result<(), QueueError>) -> Result<bool, QueueError> {
    match done {
        Ok(()) => Ok(true),
        Err(QueueError::NoSuchItem(_)) => Ok(false),
        Err(error) => Err(error),
    }
}
