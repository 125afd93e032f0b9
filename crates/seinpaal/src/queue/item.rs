//! The item in hand.

mod finish;
mod shared;

use std::{
    fmt,
    future::Future,
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

pub(super) use self::shared::SharedItem;
#[cfg(feature = "serde")]
use super::BadJson;
use crate::{
    driver::LeaseInHand,
    permit_state::{Lost, PermitState},
    seinpaal::Seinpaal,
};
use futures_util::future::{Either, select};
use seinpaal_proto::{
    About, Fence, Name,
    queue::{How, ItemId, Popped},
};

/// An item to work on, until it is acknowledged, given back, failed or dropped.
///
/// An item is owned. It can be sent and kept anywhere, even outside a runtime. Its lease is renewed
/// meanwhile.
///
/// # If it is dropped
/// Dropping an item, for example by a panic or by `?`, counts as a failed delivery. The item is
/// delivered again at once, and becomes a dead letter after its last delivery. So an item that no
/// worker can handle is tried a few times and not for ever. A delivery that never reached the
/// program, because the future of its pop was dropped, does not count.
///
/// # If the worker dies
/// On one machine (memory, embedded) the item is delivered again at once. On a server it is
/// delivered again when the lease ends, at most a ttl later.
///
/// # If the store is unreachable
/// The delivery is first in [danger](Self::danger) and then [lost](Self::lost), both before the
/// store delivers the item to another worker. Give [`fence`](Self::fence) to the resource: only the
/// resource can refuse a worker that is late.
///
/// ```
/// # futures_executor::block_on(async {
/// # use std::time::Duration;
/// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
/// let mails = seinpaal.queue("mails in hand");
/// mails.push("to: ann").label("for", "ann").await?;
///
/// let item = mails.pop().await?;
/// assert_eq!((item.attempt(), item.deliveries()), (1, 5));
/// item.fail("no route to host", Duration::ZERO).await?;
///
/// let item = mails.pop().await?;
/// assert_eq!(item.attempt(), 2);
/// item.acknowledge().await?;
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[must_use = "an item that is dropped has failed"]
pub struct Item {
    shared: Arc<SharedItem>,
}

/// The fate of an item that failed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Failed {
    /// The item will be delivered again.
    Returned,
    /// This was the item's last delivery, so it is a dead letter now.
    Died,
}

impl Item {
    pub(super) fn new(
        seinpaal: &Seinpaal,
        queue: &Name,
        popped: Popped,
        lease: Arc<LeaseInHand>,
    ) -> Self {
        let shared = SharedItem {
            handle: Arc::clone(&seinpaal.handle),
            queue: queue.clone(),
            popped,
            lease,
            is_given_back: OnceLock::new(),
            end: OnceLock::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Returns the payload: the bytes that were pushed.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        &self.shared.popped.payload
    }

    /// Reads the payload as JSON.
    ///
    /// # Errors
    /// [`BadJson`] if it is not JSON, or not of this type.
    #[cfg(feature = "serde")]
    pub fn json<'a, T: serde::Deserialize<'a>>(&'a self) -> Result<T, BadJson> {
        serde_json::from_slice(self.payload()).map_err(|error| BadJson::new(&error))
    }

    /// Returns the item's number, which stays the same over all deliveries.
    #[must_use]
    pub fn id(&self) -> ItemId {
        self.shared.popped.delivery.id
    }

    /// Returns the number of this delivery. It grows with every delivery of the queue, and so with
    /// every delivery of the item.
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.shared.popped.delivery.fence
    }

    /// Returns the number of this delivery among those of the item, from 1. A delivery that was
    /// given back does not count.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.shared.popped.attempt
    }

    /// Returns how many deliveries the item is allowed.
    #[must_use]
    pub fn deliveries(&self) -> u32 {
        self.shared.popped.most
    }

    /// Returns the item's group: the name whose share of the queue it counts for.
    #[must_use]
    pub fn group(&self) -> Option<&str> {
        self.shared.popped.group.as_deref()
    }

    /// Returns the item's priority.
    #[must_use]
    pub fn priority(&self) -> i8 {
        self.shared.popped.priority.get()
    }

    /// Returns the item's labels, in the order in which they were added.
    #[must_use]
    pub fn labels(&self) -> Vec<(String, String)> {
        self.pushed_by().labels
    }

    /// Returns the description of the client that pushed the item.
    #[must_use]
    pub fn pushed_by(&self) -> About {
        About::decode(&self.shared.popped.about)
    }

    /// Returns when the item was pushed, by the store's clock.
    #[must_use]
    pub fn pushed_at(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_micros(self.shared.popped.pushed)
    }

    /// Returns the name of the item's queue.
    #[must_use]
    pub fn queue(&self) -> &str {
        self.shared.queue.as_str()
    }

    /// Returns whether this delivery goes on at this moment. The clock decides, and not the last
    /// note of a task, so the answer is never late.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.shared.lease.is_held()
    }

    /// Returns how long this delivery is certain to go on if the store is not heard from again.
    /// `None` means for as long as this process lives.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        self.shared.lease.remaining()
    }

    /// Returns the state of this delivery.
    #[must_use]
    pub fn state(&self) -> PermitState {
        self.shared.standing(self.shared.lease.noted())
    }

    /// Waits until [`state`](Self::state) or [`remaining`](Self::remaining) changes, which also
    /// happens at each renewal.
    ///
    /// # Cancel safety
    /// Yes. A change between two calls may be missed, but the state is not.
    ///
    /// # Examples
    /// See [`Permit::lost`](crate::Permit::lost), which waits in the same way.
    pub async fn changed(&self) {
        // The channel does not close, because this item keeps the lease, and the lease has the
        // sender.
        let _ = self.shared.lease.watch().changed().await;
    }

    /// Waits until this delivery is in danger (its lease was not renewed and ends soon) or lost.
    ///
    /// # Cancel safety
    /// Yes.
    ///
    /// # Examples
    /// See [`Permit::lost`](crate::Permit::lost), which waits in the same way.
    pub async fn danger(&self) {
        self.shared.until(|state| state != PermitState::Held).await;
    }

    /// Waits until this delivery is lost, so that another worker may have the item, and returns the
    /// cause. A program that was stopped may get this answer late, but [`is_held`](Self::is_held)
    /// is never late.
    ///
    /// # Cancel safety
    /// Yes.
    ///
    /// # Examples
    /// See [`Permit::lost`](crate::Permit::lost), which waits in the same way.
    pub async fn lost(&self) -> Lost {
        self.shared.lost().await
    }

    /// Runs `work` for as long as the delivery goes on. Drops `work` when the delivery is lost.
    ///
    /// # Cancel safety
    /// Dropping this future drops `work` where it waits. The delivery goes on.
    ///
    /// # Errors
    /// [`Lost`] if the delivery was lost before `work` was done.
    ///
    /// # Examples
    /// See [`Permit::while_held`](crate::Permit::while_held), which does this with a permit.
    pub async fn while_held<T>(&self, work: impl Future<Output = T>) -> Result<T, Lost> {
        let (work, lost) = (std::pin::pin!(work), std::pin::pin!(self.lost()));
        match select(lost, work).await {
            Either::Left((lost, _)) => Err(lost),
            Either::Right((done, _)) => Ok(done),
        }
    }

    /// Gives back a delivery that never reached the program.
    pub(super) fn return_unseen(self) {
        self.shared.finish_unheard(How::GiveBack { delay: 0 });
    }

    /// Returns the item's shared part. While it is kept, dropping the item does not end the
    /// delivery.
    pub(super) fn share(&self) -> Arc<SharedItem> {
        Arc::clone(&self.shared)
    }
}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Item")
            .field("queue", &self.queue())
            .field("id", &self.id())
            .field("fence", &self.fence())
            .field("attempt", &self.attempt())
            .finish_non_exhaustive()
    }
}
