//! Inspecting a queue, and steering it.

use seinpaal_proto::{
    Limit,
    queue::{Configure, ItemId, ItemState, Purge, Reply, Request},
};

use super::{Queue, QueueError, QueueSnapshot};
use crate::error::BadSetting;

/// The most items in work, and groups, that [`Queue::snapshot`] lists.
const ROWS: u32 = 1_000;
/// The longest reason for a pause, in bytes.
const MAX_REASON_BYTES: usize = 512;

impl Queue {
    /// Sets how many items may be in work at the same time, 0 to 1 000 000 000. `None` means any
    /// number. Lowering the limit ends no delivery, and no item is delivered until few enough are
    /// in work.
    ///
    /// # Cancel safety
    /// Dropping the future does not take the request back: it may or may not be executed.
    ///
    /// # If the store is unreachable
    /// The request is sent again for as long as the connection's
    /// [patience](crate::Builder::patience) lasts, and takes effect once, however often it was
    /// sent. After that time the error says whether the request was not executed, or its outcome is
    /// unknown.
    ///
    /// # Errors
    /// [`QueueError`] for bad input or a store that does not answer.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let mails = seinpaal.queue("mails with a limit");
    /// mails.limit(Some(1)).await?;
    /// mails.push("to: ann").await?;
    /// mails.push("to: bob").await?;
    /// let first = mails.pop().await?;
    /// assert!(mails.try_pop().await?.is_none());
    /// first.acknowledge().await?;
    /// mails.pop().await?.acknowledge().await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn limit(&self, limit: Option<u32>) -> Result<(), QueueError> {
        let limit = limit.map(Limit::new).transpose()?;
        self.configure(Configure::Limit(limit)).await
    }

    /// Sets how many items of one group may be in work at the same time. `None` means any number. A
    /// full group does not hold up other groups.
    ///
    /// # Cancel safety
    /// As [`limit`](Self::limit).
    ///
    /// # Errors
    /// As [`limit`](Self::limit).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let mails = seinpaal.queue("mails with groups");
    /// mails.group_limit(Some(1)).await?;
    /// assert_eq!(mails.snapshot().await?.group_limit, Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn group_limit(&self, limit: Option<u32>) -> Result<(), QueueError> {
        let limit = limit.map(Limit::new).transpose()?;
        self.configure(Configure::GroupLimit(limit)).await
    }

    /// Stops deliveries until [`resume`](Self::resume). Workers finish the items that they have.
    /// People who look at the queue see `reason`, at most 512 bytes without control characters.
    ///
    /// # Cancel safety
    /// As [`limit`](Self::limit).
    ///
    /// # Errors
    /// As [`limit`](Self::limit).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let mails = seinpaal.queue("mails in a pause");
    /// mails.push("to: ann").await?;
    /// mails.pause("the mail server moves").await?;
    /// assert!(mails.try_pop().await?.is_none());
    /// mails.resume().await?;
    /// mails.pop().await?.acknowledge().await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn pause(&self, reason: &str) -> Result<(), QueueError> {
        if reason.len() > MAX_REASON_BYTES || reason.chars().any(char::is_control) {
            return Err(BadSetting::Reason.into());
        }
        self.configure(Configure::Pause(reason.to_owned())).await
    }

    /// Resumes deliveries after a [`pause`](Self::pause).
    ///
    /// # Cancel safety
    /// As [`limit`](Self::limit).
    ///
    /// # Errors
    /// As [`limit`](Self::limit).
    ///
    /// # Examples
    /// See [`pause`](Self::pause).
    pub async fn resume(&self) -> Result<(), QueueError> {
        self.configure(Configure::Resume).await
    }

    /// Reads everything about the queue. It lists at most 1000 items in work and 1000 groups.
    ///
    /// # Cancel safety
    /// Yes. The call only reads.
    ///
    /// # Errors
    /// As [`limit`](Self::limit).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let mails = seinpaal.queue("mails to look at");
    /// mails.push("to: ann").await?;
    /// let seen = mails.snapshot().await?;
    /// assert_eq!((seen.ready, seen.in_work), (1, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn snapshot(&self) -> Result<QueueSnapshot, QueueError> {
        let Reply::Snapshot(seen) = self.ask(Request::Inspect { rows: ROWS }).await? else {
            return Err(QueueError::misfit());
        };
        Ok(QueueSnapshot::new(self.name.clone()?, seen))
    }

    /// Turns a dead letter into a ready item again, at the end of the line. All its deliveries are
    /// allowed anew.
    ///
    /// # Cancel safety
    /// As [`limit`](Self::limit).
    ///
    /// # Errors
    /// [`QueueError::NoSuchItem`] if there is no such dead letter. Otherwise as
    /// [`limit`](Self::limit).
    ///
    /// # Examples
    /// See [`dead`](Self::dead).
    pub async fn replay(&self, id: ItemId) -> Result<(), QueueError> {
        match self.ask(Request::Replay { id }).await? {
            Reply::Replayed { .. } => Ok(()),
            other => Err(no_such(&other)),
        }
    }

    /// Forgets a dead letter.
    ///
    /// # Cancel safety
    /// As [`limit`](Self::limit).
    ///
    /// # Errors
    /// As [`replay`](Self::replay).
    ///
    /// # Examples
    /// See [`dead`](Self::dead), with this in place of `replay`.
    pub async fn drop_dead(&self, id: ItemId) -> Result<(), QueueError> {
        match self.ask(Request::Drop { id }).await? {
            Reply::Dropped { .. } => Ok(()),
            other => Err(no_such(&other)),
        }
    }

    /// Takes an item out of the queue, and returns the state that it had. If a worker works on the
    /// item, the worker hears at once that its delivery has ended.
    ///
    /// # Cancel safety
    /// As [`limit`](Self::limit).
    ///
    /// # Errors
    /// [`QueueError::NoSuchItem`] if there is no such item, or it is a dead letter. Otherwise as
    /// [`limit`](Self::limit).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let mails = seinpaal.queue("mails that nobody needs");
    /// let pushed = mails.push("to: ann").await?;
    /// mails.cancel(pushed.id).await?;
    /// assert!(mails.try_pop().await?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn cancel(&self, id: ItemId) -> Result<ItemState, QueueError> {
        self.cancel_if(id, false).await
    }

    /// Cancels an item. With `spares_work` it stays if a worker works on it.
    pub(super) async fn cancel_if(
        &self,
        id: ItemId,
        spares_work: bool,
    ) -> Result<ItemState, QueueError> {
        match self.ask(Request::Cancel { id, spares_work }).await? {
            Reply::Cancelled { was, .. } => Ok(was),
            other => Err(no_such(&other)),
        }
    }

    /// Takes out all ready and delayed items, and returns their number. Items in work and dead
    /// letters stay.
    ///
    /// # Cancel safety
    /// Items are taken out in steps. Dropping the future stops after the step under way.
    ///
    /// # Errors
    /// As [`limit`](Self::limit). Some items may have been taken out before the error.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let mails = seinpaal.queue("mails to throw away");
    /// mails.push("to: ann").await?;
    /// assert_eq!(mails.purge().await?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn purge(&self) -> Result<u64, QueueError> {
        self.purge_all(Purge::Waiting).await
    }

    /// Forgets all dead letters, and returns their number.
    ///
    /// # Cancel safety
    /// As [`purge`](Self::purge).
    ///
    /// # Errors
    /// As [`purge`](Self::purge).
    ///
    /// # Examples
    /// See [`purge`](Self::purge).
    pub async fn purge_dead(&self) -> Result<u64, QueueError> {
        self.purge_all(Purge::Dead).await
    }

    async fn purge_all(&self, what: Purge) -> Result<u64, QueueError> {
        let mut total = 0;
        loop {
            let Reply::Purged { removed, more } = self.ask(Request::Purge(what)).await? else {
                return Err(QueueError::misfit());
            };
            total += u64::from(removed);
            if !more {
                return Ok(total);
            }
        }
    }

    async fn configure(&self, change: Configure) -> Result<(), QueueError> {
        match self.ask(Request::Configure(change)).await? {
            Reply::Configured { .. } => Ok(()),
            _ => Err(QueueError::misfit()),
        }
    }
}

fn no_such(reply: &Reply) -> QueueError {
    match reply {
        Reply::Unknown { id } => QueueError::NoSuchItem(*id),
        _ => QueueError::misfit(),
    }
}
