//! A queue in several parts, for a load that is too much for one server.

use std::{
    error::Error,
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures_util::{FutureExt, future::try_join_all};

use super::{Counts, Item, Push, PushRequest, Queue, WorkError, Worker};

/// A queue in several parts: queues of their own named `NAME/0`, `NAME/1` and so on, which on a
/// cluster lie on different servers. All programs have to state the same number of parts. See
/// [`Queue::spread`].
///
/// Order and limits are kept within each part. Items of a group go to one part, so a limit of
/// groups holds for the whole queue. So does a deduplication key, if all items with that key have
/// the same group or none.
#[derive(Clone, Debug)]
#[must_use]
pub struct Spread {
    parts: Vec<Queue>,
    next: Arc<AtomicUsize>,
}

impl Spread {
    pub(super) fn new(queue: &Queue, parts: u32) -> Self {
        let part = |at| Queue::new(queue.seinpaal.clone(), &format!("{}/{at}", queue.name()));
        let whole = || Queue { seinpaal: queue.seinpaal.clone(), name: queue.name.clone() };
        let parts = match queue.name {
            Ok(_) => (0..parts.max(1)).map(part).collect(),
            // The name is bad, and any request to this part reports that.
            Err(_) => vec![whole()],
        };
        Self { parts, next: Arc::default() }
    }

    /// Returns the parts, to look at each of them and to steer it.
    pub fn parts(&self) -> &[Queue] {
        &self.parts
    }

    /// Pushes an item to the part of its group or, without a group, of its deduplication key.
    /// Without both, items go to the parts in turn.
    pub fn push(&self, push: Push) -> PushRequest {
        let at = match push.part_key() {
            Some(key) => (hash(key) % self.parts.len() as u64) as usize,
            None => self.next.fetch_add(1, Ordering::Relaxed) % self.parts.len(),
        };
        PushRequest::new(self.parts[at].clone(), push)
    }

    /// Works on the items of all parts, at most `concurrency` of each part at a time. When
    /// `shutdown` is done, every part shuts down. `describe` sets the other options of each part's
    /// worker.
    ///
    /// # Cancel safety
    /// As [`Worker::run`].
    ///
    /// # Errors
    /// As [`Worker::run`]. This is the first error of any part.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// use seinpaal::Push;
    ///
    /// let clicks = seinpaal.queue("clicks").spread(8);
    /// for user in ["ann", "bob"] {
    ///     clicks.push(Push::new("click").group(user)).await?;
    /// }
    /// let handler = |item: seinpaal::Item| async move {
    ///     println!("{:?}", item.group());
    ///     Ok::<(), std::io::Error>(())
    /// };
    /// let counts = clicks.work(4, handler, |worker| worker.until_empty(), std::future::pending()).await?;
    /// assert_eq!(counts.acknowledged, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn work<H, F, E, S>(
        &self,
        concurrency: u32,
        handler: H,
        describe: impl Fn(Worker<&H>) -> Worker<&H>,
        shutdown: S,
    ) -> Result<Counts, WorkError>
    where
        H: Fn(Item) -> F,
        F: Future<Output = Result<(), E>>,
        E: Into<Box<dyn Error + Send + Sync>>,
        S: Future<Output = ()>,
    {
        let shutdown = shutdown.shared();
        let workers = self.parts.iter().map(|part| {
            let worker = describe(part.worker(concurrency, &handler));
            worker.run_until(shutdown.clone())
        });
        let counts = try_join_all(workers).await?;
        Ok(counts.into_iter().fold(Counts::default(), Counts::and))
    }
}

/// FNV-1a. The hash must be the same everywhere and for ever, because it chooses the part of an
/// item.
fn hash(key: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    key.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn parts_are_chosen_as_they_always_were() {
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c);
    }
}
