//! The queue: items that wait for workers.

mod back_off;
mod error;
mod inspect;
mod item;
mod listing;
mod matching;
mod pop;
mod push;
mod spread;
mod steer;
mod worker;

use seinpaal_proto::{
    BadName, MAX_ABOUT_BYTES, Name,
    queue::{Reply, Request},
};
use tokio::sync::oneshot;

pub use back_off::BackOff;
#[cfg(feature = "serde")]
pub use error::BadJson;
pub use error::{FinishError, PopError, PushError, QueueError, WorkError};
pub use inspect::{GroupCount, InWork, QueueSnapshot};
pub use item::{Failed, Item};
pub use listing::{BadItemCursor, ItemCursor, ItemPage, ListedItem, ListedState};
pub use pop::{Pop, PopMany, TryPop};
pub use push::{Push, PushAll, PushRequest, Pushed};
pub use spread::Spread;
pub use worker::{Counts, GiveBack, Worker};

use crate::{
    driver::{DriverCommand, NotDone, QueueCommand, QueueOneOffResult},
    error::BadSetting,
    seinpaal::Seinpaal,
};

/// The error of a handler.
#[cfg(feature = "serde")]
type HandlerError = Box<dyn std::error::Error + Send + Sync>;

/// Items that wait for workers. Any program can push an item. A program that pops is delivered the
/// next one, by priority and age.
///
/// Cheap to clone. Nothing is sent before something is awaited.
///
/// # At least once
/// An item is delivered to one worker at a time, under a lease that is renewed while the [`Item`]
/// is in hand. If the worker dies or is cut off, the item is delivered again, with a higher
/// [fence](Item::fence). Its effect may then happen twice, unless the resource refuses a lower
/// fence than it has seen.
///
/// # Idle workers
/// A program that waits for items makes one call a minute, and is called when there are some.
///
/// ```
/// # futures_executor::block_on(async {
/// let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
/// let mails = seinpaal.queue("mails");
/// mails.push("to: ann").await?;
/// let item = mails.pop().await?;
/// assert_eq!(item.payload(), b"to: ann");
/// item.acknowledge().await?;
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Queue {
    seinpaal: Seinpaal,
    name: Result<Name, BadName>,
}

impl Queue {
    pub(crate) fn new(seinpaal: Seinpaal, name: &str) -> Self {
        Self { seinpaal, name: Name::new(name) }
    }

    /// Returns the name; empty if it is a bad one.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_ref().map_or("", Name::as_str)
    }

    /// Pushes an item with this payload. Await what is returned.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # use std::time::Duration;
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let mails = seinpaal.queue("mails to push");
    /// let hour = Duration::from_secs(3600);
    /// let first = mails.push("to: ann").priority(10).dedup("ann", hour).await?;
    /// let again = mails.push("to: ann").dedup("ann", hour).await?;
    /// assert!(again.is_duplicate && again.id == first.id);
    /// mails.push("to: bob").delay(hour).group("bob").await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn push(&self, payload: impl Into<Vec<u8>>) -> PushRequest {
        PushRequest::new(self.clone(), Push::new(payload))
    }

    /// Pushes an item with this value as JSON for its payload. Await what is returned.
    #[cfg(feature = "serde")]
    pub fn push_json<T: serde::Serialize + ?Sized>(&self, value: &T) -> PushRequest {
        PushRequest::new(self.clone(), Push::json(value))
    }

    /// Pushes many items in as few round trips as possible, in order. Await what is returned: an
    /// answer each.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// use seinpaal::Push;
    ///
    /// let mails = seinpaal.queue("mails of today");
    /// let pushes = ["ann", "bob"].map(|to| Push::new(to).group(to));
    /// for pushed in mails.push_all(pushes).await {
    ///     println!("item {}", pushed?.id);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn push_all(&self, pushes: impl IntoIterator<Item = Push>) -> PushAll {
        PushAll::new(self.clone(), pushes.into_iter().collect())
    }

    /// Waits for an item to work on. Await what is returned.
    pub fn pop(&self) -> Pop {
        Pop::new(self.clone())
    }

    /// Takes an item to work on if there is one now. Await what is returned.
    pub fn try_pop(&self) -> TryPop {
        TryPop::new(self.clone())
    }

    /// Waits for items to work on, at least one and at most `items` (1 to 64). Await what is
    /// returned.
    pub fn pop_many(&self, items: u32) -> PopMany {
        PopMany::new(self.clone(), items)
    }

    /// Works on items as they come, at most `concurrency` at a time. [Run](Worker::run) what is
    /// returned.
    ///
    /// See [`Worker`] for what becomes of the answers of `handler`.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// # async fn send(_mail: &[u8]) -> Result<(), std::io::Error> { Ok(()) }
    /// let mails = seinpaal.queue("mails to send");
    /// mails.push("to: ann").await?;
    /// let counts = mails
    ///     .worker(8, |item| async move { send(item.payload()).await })
    ///     .until_empty()
    ///     .run()
    ///     .await?;
    /// assert_eq!(counts.acknowledged, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn worker<H, F, E>(&self, concurrency: u32, handler: H) -> Worker<H>
    where
        H: Fn(Item) -> F,
        F: Future<Output = Result<(), E>>,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        Worker::new(self.clone(), concurrency, handler)
    }

    /// Works on items whose payloads are JSON, as [`worker`](Self::worker) does. The handler is
    /// given the value, and the item to look at. A payload that is not what was expected counts as
    /// an error of the handler: the item is delivered again, and becomes a dead letter in the end.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::in_memory();
    /// let sums = seinpaal.queue("sums");
    /// sums.push_json(&(2, 3)).await?;
    /// let add = |(a, b): (i32, i32), _| async move {
    ///     println!("{}", a + b);
    ///     Ok::<(), std::io::Error>(())
    /// };
    /// assert_eq!(sums.worker_json(4, add).until_empty().run().await?.acknowledged, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    #[cfg(feature = "serde")]
    pub fn worker_json<T, H, F, E>(
        &self,
        concurrency: u32,
        handler: H,
    ) -> Worker<impl Fn(Item) -> crate::store::BoxFuture<'static, Result<(), HandlerError>>>
    where
        T: serde::de::DeserializeOwned,
        H: Fn(T, Item) -> F,
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<HandlerError>,
    {
        self.worker(concurrency, move |item: Item| {
            let handled = item.json().map(|value| handler(value, item));
            let handled: crate::store::BoxFuture<'static, _> = match handled {
                Ok(handled) => Box::pin(async move { handled.await.map_err(Into::into) }),
                Err(error) => Box::pin(async move { Err(error.into()) }),
            };
            handled
        })
    }

    /// Spreads the queue over this many queues with derived names, for when it must carry more than
    /// one server does.
    pub fn spread(&self, parts: u32) -> Spread {
        Spread::new(self, parts)
    }

    // ---- inside

    fn send(&self, name: Name, command: QueueCommand) {
        self.seinpaal.handle.send(DriverCommand::Queue { name, command: Box::new(command) });
    }

    /// Sends many requests. Returns the answer to each, in order.
    async fn ask_all(&self, name: Name, requests: Vec<Request>) -> Vec<QueueOneOffResult> {
        let (asks, answers): (Vec<_>, Vec<_>) = requests
            .into_iter()
            .map(|request| {
                let (reply, answer) = oneshot::channel();
                ((request, reply), answer)
            })
            .unzip();
        let handle = &self.seinpaal.handle;
        // Read before the command is sent: what is sent to a closed connection is not done, and
        // what was sent before the close may have been.
        let is_gone = handle.is_gone();
        self.send(name, QueueCommand::OneOffs(asks));
        let gone =
            |_| Err(if is_gone { NotDone::Refused } else { NotDone::Unknown }(handle.gone()));
        let answers = answers.into_iter().map(|answer| async { answer.await.unwrap_or_else(gone) });
        futures_util::future::join_all(answers).await
    }

    async fn ask(&self, request: Request) -> Result<Reply, QueueError> {
        let answers = self.ask_all(self.name.clone()?, vec![request]).await;
        let answer = answers.into_iter().next().unwrap_or_else(|| unreachable!("one was asked"));
        Ok(answer?)
    }

    fn about(&self, labels: Vec<(String, String)>) -> Result<String, BadSetting> {
        crate::acquire::check_labels(&labels)?;
        let about = self.seinpaal.client.about(&labels);
        if about.len() > MAX_ABOUT_BYTES {
            return Err(BadSetting::AboutTooLong(about.len()));
        }
        Ok(about)
    }
}
