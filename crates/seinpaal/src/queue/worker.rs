//! Working on items as they come.

mod counts;
mod give_back;
mod under_way;

use std::{
    any::Any,
    error::Error,
    fmt,
    future::{Future, pending},
    iter::successors,
    panic::AssertUnwindSafe,
    pin::pin,
    sync::Arc,
    time::Duration,
};

use futures_util::{
    FutureExt, StreamExt,
    future::{Either, OptionFuture, select},
    stream::FuturesUnordered,
};
use seinpaal_proto::{
    queue::{
        FailureReason, How,
        session::{DeliveryEnd, Until},
    },
    time::micros,
};

use super::{
    BackOff, Item, PopError, Queue, WorkError,
    item::SharedItem,
    pop::{Got, OpenPop},
};
use crate::error::BadSetting;

pub use self::{counts::Counts, give_back::GiveBack};
use self::{counts::ItemEnd, give_back::find_give_back, under_way::WorkUnderWay};

/// How long running handlers may go on after the shutdown by default.
const GRACE: Duration = Duration::from_secs(30);

/// Works on items as they come, up to a number of them at a time. Nothing happens before the worker
/// is [run](Self::run).
///
/// | the handler | the item |
/// |---|---|
/// | returns `Ok(())` | is acknowledged |
/// | returns [`GiveBack`] as its error | goes back; the delivery does not count |
/// | returns any other error, or panics | is delivered again after the [back-off](Self::retry), with the texts of the error and its sources as the reason; after its last delivery it becomes a dead letter |
/// | ends the item itself | is what the handler said |
///
/// When a delivery is [lost](Item::lost), its handler is dropped at its next `await`, because
/// another worker may have the item. With [`run_on_when_lost`](Self::run_on_when_lost) the handler
/// goes on.
///
/// Handlers run inside the future of the worker, on the executor that polls it, and so on one core.
/// A handler that computes or blocks holds up the others, and should spawn a task instead. An acknowledgement and the next item
/// share one round trip.
#[must_use = "a worker does nothing before it is run"]
pub struct Worker<H> {
    queue: Queue,
    concurrency: u32,
    handler: H,
    ttl: Option<Duration>,
    retry: BackOff,
    until_empty: bool,
    grace: Duration,
    runs_on: bool,
}

impl<H> Worker<H> {
    pub(super) fn new(queue: Queue, concurrency: u32, handler: H) -> Self {
        Self {
            queue,
            concurrency,
            handler,
            ttl: None,
            retry: BackOff::default(),
            until_empty: false,
            grace: GRACE,
            runs_on: false,
        }
    }

    /// Sets how long leases last without renewal, 100 ms to 24 h. Default: the connection's ttl.
    /// See [`Pop::ttl`](super::Pop::ttl).
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Sets how long an item waits after a failed delivery. Default: a second, doubled each time,
    /// five minutes at most.
    pub fn retry(mut self, retry: BackOff) -> Self {
        self.retry = retry;
        self
    }

    /// Ends the work when no item is ready, delayed or in work with any worker.
    pub fn until_empty(mut self) -> Self {
        self.until_empty = true;
        self
    }

    /// Sets how long running handlers may go on after the shutdown. Default 30 s.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Lets a handler go on after its delivery was lost. The handler can find that out by
    /// [`Item::lost`] and [`Item::is_held`].
    pub fn run_on_when_lost(mut self) -> Self {
        self.runs_on = true;
        self
    }
}

impl<H, F, E> Worker<H>
where
    H: Fn(Item) -> F,
    F: Future<Output = Result<(), E>>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    /// Works for ever or, with [`until_empty`](Self::until_empty), until the queue is empty.
    /// Returns the counts of the items by their ends.
    ///
    /// # Cancel safety
    /// Dropping the future drops the handlers, and gives back the items that they worked on. Prefer
    /// [`run_until`](Self::run_until).
    ///
    /// # Errors
    /// [`WorkError`] for bad input, or for a store that refuses for good. A store that is silent is
    /// waited for.
    ///
    /// # Examples
    /// See [`run_until`](Self::run_until).
    pub async fn run(self) -> Result<Counts, WorkError> {
        self.run_until(pending()).await
    }

    /// Works as [`run`](Self::run) does, until `shutdown` is done. Then the worker takes no more
    /// items, and running handlers may go on for the [grace](Self::grace) period. Items that are
    /// not done by then are given back.
    ///
    /// # Cancel safety
    /// As [`run`](Self::run).
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Examples
    /// ```no_run
    /// # async fn example(mails: seinpaal::Queue, ctrl_c: impl Future<Output = ()>) -> Result<(), seinpaal::WorkError> {
    /// let worker = mails.worker(8, |item| async move {
    ///     println!("{}", String::from_utf8_lossy(item.payload()));
    ///     Ok::<(), std::io::Error>(())
    /// });
    /// let counts = worker.run_until(ctrl_c).await?;
    /// println!("{} done", counts.acknowledged);
    /// # Ok(()) }
    /// ```
    pub async fn run_until(self, shutdown: impl Future<Output = ()>) -> Result<Counts, WorkError> {
        if self.concurrency == 0 {
            return Err(BadSetting::Concurrency.into());
        }
        let mut want = self.want()?;
        let (mut counts, mut running) = (Counts::default(), FuturesUnordered::new());
        let (mut shutdown, mut grace) = (pin!(shutdown), pin!(OptionFuture::from(None)));
        let (mut goes_on, mut is_shut, mut refusal) = (true, false, None);
        while goes_on || !running.is_empty() {
            tokio::select! {
                // The order matters: no item is taken once the shutdown is done, and handlers that
                // have ended are counted before the grace period can end the loop.
                biased;
                // The shutdown also bounds handlers that are still at work after the last item was
                // taken.
                () = &mut shutdown, if !is_shut => {
                    want.stop();
                    (goes_on, is_shut) = (false, true);
                    grace.set(Some(self.sleep()).into());
                }
                Some(outcome) = running.next(), if !running.is_empty() => counts.add(outcome),
                got = want.next(), if goes_on => match got {
                    Got::Items(items) => running.extend(items.into_iter().map(|item| self.begin(item))),
                    Got::Failed(error) => (goes_on, refusal) = (false, Some(error)),
                    Got::Drained | Got::TimedOut => goes_on = false,
                },
                Some(()) = &mut grace => break,
            }
        }
        running.iter().for_each(|work| counts.add(work.cut_short()));
        refusal.map_or(Ok(counts), |error| Err(error.into()))
    }

    fn want(&self) -> Result<OpenPop, WorkError> {
        let want = OpenPop::new(
            &self.queue,
            self.concurrency,
            self.ttl,
            Until::Unpopped,
            self.until_empty,
        );
        want.map_err(|error| match error {
            PopError::Name(error) => error.into(),
            PopError::Setting(error) => error.into(),
            PopError::Store(error) => error.into(),
            PopError::Closed => WorkError::Closed,
            PopError::TimedOut => WorkError::Store(crate::driver::misfit()),
        })
    }

    /// Waits by the driver's clock, so that the worker runs on any executor.
    fn sleep(&self) -> impl Future<Output = ()> + use<H, F, E> {
        let (handle, grace) = (Arc::clone(&self.queue.seinpaal.handle), self.grace);
        async move { handle.sleep(grace).await }
    }

    fn begin(&self, item: Item) -> WorkUnderWay<impl Future<Output = ItemEnd>> {
        WorkUnderWay { item: item.share(), work: Box::pin(self.work_on(item)) }
    }

    async fn work_on(&self, item: Item) -> ItemEnd {
        let hand = Hand(item.share());
        let attempt = hand.0.attempt();
        // The call is inside the future as well, so that a panic before its first `await` is
        // caught.
        let handled = async { (self.handler)(item).await };
        let handled = pin!(AssertUnwindSafe(handled).catch_unwind());
        let lost = async {
            match self.runs_on {
                true => pending().await,
                false => hand.0.lost().await,
            }
        };
        let how = match select(handled, pin!(lost)).await {
            Either::Left((Ok(Ok(())), _)) => How::Acknowledge,
            Either::Left((Ok(Err(error)), _)) => self.how(attempt, error.into().as_ref()),
            Either::Left((Err(panic), _)) => self.failed(attempt, &words(panic.as_ref())),
            // The delivery has ended already, and this frees its place.
            Either::Right(_) => How::GiveBack { delay: 0 },
        };
        let end = hand.0.finish(how).await.unwrap_or(DeliveryEnd::Unknown);
        ItemEnd { end, is_given_back: hand.0.is_given_back() }
    }

    fn how(&self, attempt: u32, error: &(dyn Error + Send + Sync + 'static)) -> How {
        match find_give_back(error) {
            Some(delay) => How::GiveBack { delay: micros(delay) },
            None => self.failed(attempt, &with_sources(error)),
        }
    }

    fn failed(&self, attempt: u32, reason: &str) -> How {
        let delay = micros(self.retry.delay(attempt));
        How::Fail { delay, reason: FailureReason::new(reason) }
    }
}

/// An item that a worker works on. If the worker is dropped, the item goes back, and the delivery
/// does not count as failed.
struct Hand(Arc<SharedItem>);

impl Drop for Hand {
    fn drop(&mut self) {
        self.0.finish_unheard(How::GiveBack { delay: 0 });
    }
}

/// The text of an error and of its sources. Many errors have the text of their source in their own,
/// and it is not repeated.
fn with_sources(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    for source in successors(error.source(), |&error| error.source()) {
        let source = source.to_string();
        if !text.ends_with(&source) {
            text = format!("{text}: {source}");
        }
    }
    text
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.map_or_else(|| "panicked".to_owned(), |text| format!("panicked: {text}"))
}

impl<H> fmt::Debug for Worker<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("queue", &self.queue)
            .field("concurrency", &self.concurrency)
            .finish_non_exhaustive()
    }
}
