//! Pops. A program describes a pop by its methods, and then awaits it.

use std::{thread, time::Duration};

use seinpaal_proto::{
    Name,
    queue::{Batch, session::Until},
};
use tokio::sync::mpsc::{self, error::TryRecvError};

use super::{Item, PopError, Queue};
use crate::{
    acquire::PROMPT,
    driver::{Handed, QueueCommand, WantedItems},
    error::BadSetting,
    request::{Described, request},
    store::StoreError,
};

/// A request for an item that waits until there is one. It sends nothing before it is awaited.
///
/// # Cancel safety
/// Dropping the future, at any point, leaves the line. An item that was delivered meanwhile goes
/// back to its old place, and that delivery does not count.
///
/// # If the store is unreachable
/// The request is tried again for as long as the connection's [patience](crate::Builder::patience)
/// lasts.
///
/// # Errors
/// [`PopError`]. Bad input is one of these errors, and is found before anything is sent.
#[must_use = "a request does nothing before it is awaited"]
pub struct Pop(Described<PopOne, Result<Item, PopError>>);

/// A request for an item that does not wait. It gives `Ok(None)` if no item can be had now.
///
/// If the store does not answer within the [timeout](Self::timeout), the error is
/// [`PopError::Store`]. See [`Pop`] for everything else.
#[must_use = "a request does nothing before it is awaited"]
pub struct TryPop(Described<PopNow, Result<Option<Item>, PopError>>);

/// A request for items that waits until there is at least one. See [`Pop`] for everything else.
#[must_use = "a request does nothing before it is awaited"]
pub struct PopMany(Described<PopSome, Result<Vec<Item>, PopError>>);

#[derive(Debug)]
struct PopOne(PopSome);

#[derive(Debug)]
struct PopNow {
    queue: Queue,
    ttl: Option<Duration>,
    timeout: Duration,
}

#[derive(Debug)]
struct PopSome {
    queue: Queue,
    items: u32,
    ttl: Option<Duration>,
    timeout: Option<Duration>,
}

macro_rules! ttl {
    ($($at:tt)?) => {
        /// Sets how long the lease lasts without renewal, 100 ms to 24 h. Default: the connection's
        /// ttl. The lease is renewed at a third of that time. A longer lease outlasts longer
        /// silences of the store, and a shorter one returns the items of a dead worker earlier.
        pub fn ttl(self, ttl: Duration) -> Self {
            Self(self.0.with(|it| it$(.$at)?.ttl = Some(ttl)))
        }
    };
}

macro_rules! timeout {
    ($($at:tt)?) => {
        /// Stops waiting after this long, counted from the first poll. The error is
        /// [`PopError::TimedOut`] if there was no item to be had, and [`PopError::Store`] if the
        /// store did not answer. Default: never.
        pub fn timeout(self, timeout: Duration) -> Self {
            Self(self.0.with(|it| it$(.$at)?.timeout = Some(timeout)))
        }
    };
}

impl Pop {
    pub(super) fn new(queue: Queue) -> Self {
        Self(Described::new(PopOne(PopSome { queue, items: 1, ttl: None, timeout: None })))
    }

    ttl!(0);
    timeout!(0);
}

impl PopOne {
    async fn run(self) -> Result<Item, PopError> {
        self.0.run().await?.into_iter().next().ok_or(PopError::TimedOut)
    }
}

impl TryPop {
    pub(super) fn new(queue: Queue) -> Self {
        Self(Described::new(PopNow { queue, ttl: None, timeout: PROMPT }))
    }

    ttl!();

    /// Sets how long the store may take to answer, counted from the first poll. Default 5 s.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self(self.0.with(|it| it.timeout = timeout))
    }
}

impl PopNow {
    async fn run(self) -> Result<Option<Item>, PopError> {
        let answer_by = self.queue.seinpaal.handle.clock().after(self.timeout);
        let items = pop(&self.queue, 1, self.ttl, Until::Answered(Some(answer_by))).await?;
        Ok(items.into_iter().next())
    }
}

impl PopMany {
    pub(super) fn new(queue: Queue, items: u32) -> Self {
        Self(Described::new(PopSome { queue, items, ttl: None, timeout: None }))
    }

    ttl!();
    timeout!();
}

impl PopSome {
    async fn run(self) -> Result<Vec<Item>, PopError> {
        let clock = self.queue.seinpaal.handle.clock();
        let until = Until::Served(self.timeout.map(|timeout| clock.after(timeout)));
        pop(&self.queue, self.items, self.ttl, until).await
    }
}

request!(Pop => Result<Item, PopError>);
request!(TryPop => Result<Option<Item>, PopError>);
request!(PopMany => Result<Vec<Item>, PopError>);

async fn pop(
    queue: &Queue,
    items: u32,
    ttl: Option<Duration>,
    until: Until,
) -> Result<Vec<Item>, PopError> {
    if !(1..=Batch::MOST_ITEMS).contains(&items) {
        return Err(BadSetting::Items(items).into());
    }
    let mut want = OpenPop::new(queue, items, ttl, until, false)?;
    match want.next().await {
        Got::Items(items) => Ok(items),
        // `Drained` comes only to a caller that asks for it, as workers do.
        Got::TimedOut | Got::Drained => Err(PopError::TimedOut),
        Got::Failed(error) => Err(error.into()),
    }
}

/// A want for items under way. If it is dropped, it asks for no more items, and items that no
/// caller took are given back.
pub(super) struct OpenPop {
    queue: Queue,
    name: Name,
    number: u64,
    from: mpsc::UnboundedReceiver<Handed>,
}

/// The result of a want.
pub(super) enum Got {
    Items(Vec<Item>),
    Drained,
    TimedOut,
    Failed(StoreError),
}

impl OpenPop {
    pub(super) fn new(
        queue: &Queue,
        items: u32,
        ttl: Option<Duration>,
        until: Until,
        drains: bool,
    ) -> Result<Self, PopError> {
        let name = queue.name.clone()?;
        let ttl = ttl.map(|ttl| queue.seinpaal.checked_ttl(ttl)).transpose()?;
        let about = queue.about(Vec::new())?;
        let (to, from) = mpsc::unbounded_channel();
        let number = queue.seinpaal.handle.next_request();
        let wanted = WantedItems { number, items, ttl, until, drains, about, to };
        queue.send(name.clone(), QueueCommand::Pop(wanted));
        Ok(Self { queue: queue.clone(), name, number, from })
    }

    pub(super) async fn next(&mut self) -> Got {
        match self.from.recv().await {
            Some(handed) => self.got(handed),
            None => Got::Failed(self.queue.seinpaal.handle.gone()),
        }
    }

    fn got(&self, handed: Handed) -> Got {
        let item = |(popped, lease)| Item::new(&self.queue.seinpaal, &self.name, popped, lease);
        match handed {
            Handed::Items(items) => Got::Items(items.into_iter().map(item).collect()),
            Handed::Drained => Got::Drained,
            Handed::TimedOut => Got::TimedOut,
            Handed::Failed(error) => Got::Failed(error),
        }
    }

    /// Asks for no more items, and gives back items that no caller took.
    pub(super) fn stop(&mut self) {
        // The items belong to the parent process. Its driver's thread is not in this process, so
        // what it was handing over at the fork never comes.
        if self.queue.seinpaal.handle.is_forked() {
            return;
        }
        self.queue.send(self.name.clone(), QueueCommand::Unpop { number: self.number });
        // From here on the driver gives items back instead of handing them over, because no caller
        // can take them.
        self.from.close();
        loop {
            match self.from.try_recv() {
                Ok(handed) => {
                    if let Got::Items(items) = self.got(handed) {
                        items.into_iter().for_each(Item::return_unseen);
                    }
                }
                // The driver began to hand items over before the channel was closed, and has not
                // finished yet. It needs a few instructions more, on another thread.
                Err(TryRecvError::Empty) => thread::yield_now(),
                Err(TryRecvError::Disconnected) => return,
            }
        }
    }
}

impl Drop for OpenPop {
    fn drop(&mut self) {
        self.stop();
    }
}
