//! A queue in several parts, for when it must carry more than one server does.

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
/// cluster lie on different servers. Everybody has to say the same number of parts. See
/// [`Queue::spread`].
///
/// Order and limits are kept within each part. Items of a group go to one part, so limits of groups
/// are those of the whole; deduplication keys are, too, where items of the same key have the same
/// group or none.
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
            // Whatever is awaited says what is wrong with it.
            Err(_) => vec![whole()],
        };
        Self { parts, next: Arc::default() }
    }

    /// Returns the parts, for looking at each and steering it.
    pub fn parts(&self) -> &[Queue] {
        &self.parts
    }

    /// Pushes an item to the part of its group, else of its deduplication key, else to each part in
    /// turn.
    pub fn push(&self, push: Push) -> PushRequest {
        let at = match push.part_key() {
            Some(key) => (hash(key) % self.parts.len() as u64) as usize,
            None => self.next.fetch_add(1, Ordering::Relaxed) % self.parts.len(),
        };
        PushRequest::new(self.parts[at].clone(), push)
    }

    /// Works on the items of all parts, at most `concurrency` of each part at a time. With a
    /// `shutdown` that is done, every part is shut down; `describe` sets what else there is to say
    /// of the worker of a part.
    ///
    /// # Cancel safety
    /// As [`Worker::run`].
    ///
    /// # Errors
    /// As [`Worker::run`], the first of any part.
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

/// FNV-1a: the same everywhere and for ever, for the parts are chosen by it.
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
