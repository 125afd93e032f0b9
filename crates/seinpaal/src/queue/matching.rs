//! Acts on all items that a program chooses, and not on one.

use futures_util::future::join_all;
use seinpaal_proto::queue::ItemId;

use super::{DeadLetter, InWork, Queue, QueueError};

/// How many dead letters are asked for at once.
const PAGE: u32 = 100;
/// How many requests are made at once.
const AT_ONCE: usize = 64;

impl Queue {
    /// Shows every dead letter to `look`, in the order of their numbers.
    ///
    /// # Cancel safety
    /// Yes: it only reads.
    ///
    /// # Errors
    /// As [`limit`](Self::limit).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let mut groups = Vec::new();
    /// seinpaal.queue("letters").each_dead(|letter| groups.push(letter.group.clone())).await?;
    /// assert!(groups.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn each_dead(&self, mut look: impl FnMut(&DeadLetter)) -> Result<(), QueueError> {
        let mut after: Option<ItemId> = None;
        loop {
            let letters = self.dead(after, PAGE).await?;
            letters.iter().for_each(&mut look);
            match letters.last() {
                Some(last) => after = Some(last.id),
                None => return Ok(()),
            }
        }
    }

    /// Replays the dead letters that `is_wanted` chooses, and says how many. They are chosen once, at the beginning. So
    /// an item that dies again in the meantime is not replayed twice.
    ///
    /// # Cancel safety
    /// Dropping the future takes nothing back: what was done by then stays done, and the rest is
    /// not done.
    ///
    /// # Errors
    /// As [`limit`](Self::limit); then some may have been replayed.
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
    /// # assert_eq!(mails.drop_all_dead(|_| true).await?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn replay_all(
        &self,
        is_wanted: impl FnMut(&DeadLetter) -> bool,
    ) -> Result<u64, QueueError> {
        let chosen = self.chosen(is_wanted).await?;
        many_at_once(&chosen, |id| self.replay(id)).await
    }

    /// Forgets the dead letters that `is_wanted` chooses, and says how many. [`purge_dead`](Self::purge_dead) forgets
    /// all of them with fewer calls.
    ///
    /// # Cancel safety
    /// Dropping the future takes nothing back: what was done by then stays done, and the rest is
    /// not done.
    ///
    /// # Errors
    /// As [`limit`](Self::limit); then some may have been forgotten.
    ///
    /// # Examples
    /// As in [`replay_all`](Self::replay_all).
    pub async fn drop_all_dead(
        &self,
        is_wanted: impl FnMut(&DeadLetter) -> bool,
    ) -> Result<u64, QueueError> {
        let chosen = self.chosen(is_wanted).await?;
        many_at_once(&chosen, |id| self.drop_dead(id)).await
    }

    /// Takes the items in work that `is_wanted` chooses out of the queue, and says how many. Their workers learn of it
    /// at once. Of a queue with more than 1000 items in work those are looked at whose leases end first, again as long
    /// as some of them are chosen.
    ///
    /// # Cancel safety
    /// Dropping the future takes nothing back: what was done by then stays done, and the rest is
    /// not done.
    ///
    /// # Errors
    /// As [`limit`](Self::limit); then some may have been taken out.
    ///
    /// # Examples
    /// As in [`replay_all`](Self::replay_all).
    pub async fn cancel_in_work(
        &self,
        mut is_wanted: impl FnMut(&InWork) -> bool,
    ) -> Result<u64, QueueError> {
        let mut total = 0;
        loop {
            let seen = self.snapshot().await?;
            let chosen = seen.work.iter().filter(|item| is_wanted(item)).map(|item| item.id);
            let chosen: Vec<_> = chosen.collect();
            let cancel = async |id| self.cancel(id).await.map(drop);
            let cancelled = many_at_once(&chosen, cancel).await?;
            total += cancelled;
            if cancelled == 0 || seen.work.len() == seen.in_work as usize {
                return Ok(total);
            }
        }
    }

    async fn chosen(
        &self,
        mut is_wanted: impl FnMut(&DeadLetter) -> bool,
    ) -> Result<Vec<ItemId>, QueueError> {
        let mut ids = Vec::new();
        self.each_dead(|letter| ids.extend(is_wanted(letter).then_some(letter.id))).await?;
        Ok(ids)
    }
}

/// Requests that are made at the same time share a call.
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

/// Whether it was done here. Otherwise somebody else was faster.
fn is_done(done: Result<(), QueueError>) -> Result<bool, QueueError> {
    match done {
        Ok(()) => Ok(true),
        Err(QueueError::NoSuchItem(_)) => Ok(false),
        Err(error) => Err(error),
    }
}
