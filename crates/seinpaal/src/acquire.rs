//! Requests for permits. A program describes a request by its methods and then awaits it.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{
    FutureExt,
    future::{Either, Ready, join_all, ready},
};
use seinpaal_proto::{
    BadName, Enqueue, Kind, Limit, LimitRule, MAX_ABOUT_BYTES, Name, OnMismatch, Permits, Priority,
    RenewalPromise, SlotNames, Ticket, time::Micros,
};
use tokio::sync::oneshot;

use crate::{
    driver::{AskedFor, Command, Grant, Handle, OnQueued, Request, Wanted},
    error::{AcquireError, BadSetting},
    permit::Permit,
    request::{Described, request},
    seinpaal::Seinpaal,
};

/// A request for permits that waits for its turn. It is a future, and sends nothing before it is
/// polled. Its methods describe the request, and change nothing once it has been polled.
///
/// Waiters are served first come, first served. Small requests do not pass a request for many
/// permits, which so holds them back while it is first in line.
///
/// # Cancel safety
/// Dropping the future, at any point, leaves the queue and gives back what may have been granted
/// meanwhile. A new request starts at the end of the line. So in a loop with `select!`, poll `&mut`
/// the same request:
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let seinpaal = seinpaal::Seinpaal::in_memory();
/// let mut tick = tokio::time::interval(std::time::Duration::from_secs(1));
/// let mut request = seinpaal.semaphore("gpus").acquire();
/// let permit = loop {
///     tokio::select! {
///         permit = &mut request => break permit?,
///         _ = tick.tick() => println!("still waiting"),
///     }
/// };
/// # permit.release().await?; Ok(()) }
/// ```
///
/// # On which thread
/// In memory and with the embedded store, a request that need not wait is executed within the first
/// poll, on the polling thread: one commit, without waiting for the disk. The connection's threads
/// do everything else.
///
/// # If the store is unreachable
/// It is tried again for as long as the connection's [patience](crate::Builder::patience) lasts, then it is a
/// [`Store`](AcquireError::Store) error. A request that has a place in the queue waits on, and keeps the place if the
/// store comes back within the waiter's lease (15 s); say by [`timeout`](Self::timeout) how long that may take.
///
/// # Errors
/// [`AcquireError`], bad input among it: that is found before anything is sent.
#[must_use = "a request does nothing before it is awaited"]
pub struct Acquire(Described<Waited, Result<Permit, AcquireError>>);

/// A request for permits that does not wait: `Ok(None)` when they cannot be had now.
///
/// It is a [`Store`](AcquireError::Store) error if the store does not answer within the [timeout](Self::timeout). See
/// [`Acquire`] for everything else.
#[must_use = "a request does nothing before it is awaited"]
pub struct TryAcquire(Described<Tried, Result<Option<Permit>, AcquireError>>);

/// A request to become the holder of a ticket that another client holds or has detached.
///
/// # Errors
/// [`AcquireError::Unknown`] if there is no such ticket, [`AcquireError::Ended`] if it is over,
/// [`AcquireError::Store`] if the store does not answer within the [timeout](Self::timeout).
#[must_use = "a request does nothing before it is awaited"]
pub struct Attach(Described<Attached, Result<Permit, AcquireError>>);

/// How long the store may take to answer a request that does not wait for other holders, unless the
/// caller sets another time.
pub(crate) const PROMPT: Duration = Duration::from_secs(5);

#[derive(Debug)]
struct Waited {
    options: AcquireOptions,
    timeout: Option<Duration>,
    max_waiting: Option<u32>,
    on_queued: Option<OnQueued>,
}

#[derive(Debug)]
struct Tried {
    options: AcquireOptions,
    timeout: Duration,
}

#[derive(Debug)]
struct Attached {
    options: AcquireOptions,
    timeout: Duration,
    ticket: Ticket,
}

/// What the kinds of requests have in common.
#[derive(Clone, Debug)]
pub(crate) struct AcquireOptions {
    pub(crate) seinpaal: Seinpaal,
    pub(crate) name: Result<Name, BadName>,
    pub(crate) kind: Kind,
    pub(crate) limit: Option<u32>,
    pub(crate) on_mismatch: OnMismatch,
    pub(crate) permits: u32,
    pub(crate) wishes: Vec<String>,
    pub(crate) priority: i32,
    pub(crate) ttl: Option<Duration>,
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) to_detach: bool,
}

macro_rules! shared_options {
    () => {
        /// Asks for this many permits at once, all or none of them. Default 1. A request for more
        /// than the limit is refused.
        pub fn permits(self, permits: u32) -> Self {
            Self(self.0.with(|it| it.options.permits = permits))
        }

        /// Wishes for the slot with this [name](crate::Semaphore::name_slots), one of those asked for. Can be repeated,
        /// up to as many times as there are [permits](Self::permits). The request waits for its slot, and holds
        /// up nobody who can have another one. A name that no slot has is
        /// [refused](AcquireError::NoSuchSlot).
        pub fn slot(self, name: &str) -> Self {
            Self(self.0.with(|it| it.options.wishes.push(name.to_owned())))
        }

        /// Sets the rank among waiters, −100…100, higher first. Default 0. Ten seconds of waiting outweigh one
        /// step, so nobody waits for ever.
        pub fn priority(self, priority: i32) -> Self {
            Self(self.0.with(|it| it.options.priority = priority))
        }

        /// Sets how long the lease lasts without renewal, from 100 ms to 24 h. Default: the
        /// connection's ttl. The lease is renewed at a third of that time, together with all others
        /// of the same ttl.
        pub fn ttl(self, ttl: Duration) -> Self {
            Self(self.0.with(|it| it.options.ttl = Some(ttl)))
        }

        /// Says to those who look that the permit is going to be [detached](Permit::detach), so that nobody renews it on
        /// a schedule. Without it, a detached permit that has not been renewed for half of its ttl is shown as that
        /// of a holder that may be dead.
        pub fn to_detach(self) -> Self {
            Self(self.0.with(|it| it.options.to_detach = true))
        }

        /// Adds a label for people who look at holders and waiters.
        pub fn label(self, key: &str, value: &str) -> Self {
            Self(self.0.with(|it| it.options.labels.push((key.to_owned(), value.to_owned()))))
        }
    };
}

macro_rules! prompt {
    () => {
        /// Sets how long the store may take to answer, counted from the first poll. Default 5 s.
        pub fn timeout(self, timeout: Duration) -> Self {
            Self(self.0.with(|it| it.timeout = timeout))
        }
    };
}

impl Acquire {
    pub(crate) fn new(options: AcquireOptions) -> Self {
        Self(Described::new(Waited { options, timeout: None, max_waiting: None, on_queued: None }))
    }

    shared_options!();

    /// Stops waiting after this long, counted from the first poll: with [`AcquireError::TimedOut`] if others held the
    /// permits, with [`AcquireError::Store`] if the store did not answer. Default: never.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self(self.0.with(|it| it.timeout = Some(timeout)))
    }

    /// Refuses the request if this many requests wait already.
    pub fn max_waiting(self, waiting: u32) -> Self {
        Self(self.0.with(|it| it.max_waiting = Some(waiting)))
    }

    /// Calls `tell` once if the request has to wait, with the number of requests that wait then, this one among
    /// them. It is called on the connection's thread and must not block.
    pub fn on_queued(self, tell: impl FnOnce(u32) + Send + 'static) -> Self {
        Self(self.0.with(|it| it.on_queued = Some(OnQueued(Box::new(tell)))))
    }

    /// Waits until `deadline` of the connection's clock at the latest.
    pub(crate) async fn until(self, deadline: Option<Micros>) -> Result<Permit, AcquireError> {
        match self.0.into_description() {
            Some(waited) => waited.until(deadline).await,
            None => unreachable!("it was looked at, and not polled"),
        }
    }
}

impl Waited {
    fn run(self) -> Begun {
        self.until(None)
    }

    fn until(self, deadline: Option<Micros>) -> Begun {
        begun(self.begin(deadline))
    }

    fn begin(self, deadline: Option<Micros>) -> Result<Asking, AcquireError> {
        let handle = &self.options.seinpaal.handle;
        let mut wanted = self.options.wanted()?;
        wanted.enqueue = Enqueue::Yes { max_waiting: self.max_waiting };
        let own = self.timeout.map(|timeout| handle.clock().after(timeout));
        wanted.deadline = own.into_iter().chain(deadline).min();
        Ok(ask(handle, wanted, self.on_queued))
    }
}

impl TryAcquire {
    pub(crate) fn new(options: AcquireOptions) -> Self {
        Self(Described::new(Tried { options, timeout: PROMPT }))
    }

    shared_options!();
    prompt!();
}

impl Tried {
    fn run(self) -> impl Future<Output = Result<Option<Permit>, AcquireError>> {
        begun(self.begin()).map(|answer| match answer {
            Ok(permit) => Ok(Some(permit)),
            Err(error) if error.is_contention() => Ok(None),
            Err(error) => Err(error),
        })
    }

    fn begin(self) -> Result<Asking, AcquireError> {
        let handle = &self.options.seinpaal.handle;
        let mut wanted = self.options.wanted()?;
        wanted.deadline = Some(handle.clock().after(self.timeout));
        Ok(ask(handle, wanted, None))
    }
}

impl Attach {
    pub(crate) fn new(options: AcquireOptions, ticket: Ticket) -> Self {
        Self(Described::new(Attached { options, timeout: PROMPT, ticket }))
    }

    prompt!();

    /// Sets how long the lease lasts without renewal from now on, 100 ms to 24 h. Default: the connection's.
    pub fn ttl(self, ttl: Duration) -> Self {
        Self(self.0.with(|it| it.options.ttl = Some(ttl)))
    }
}

impl Attached {
    fn run(self) -> Begun {
        begun(self.begin())
    }

    fn begin(self) -> Result<Asking, AcquireError> {
        let handle = &self.options.seinpaal.handle;
        let mut wanted = self.options.wanted()?;
        wanted.attach = Some(self.ticket);
        wanted.deadline = Some(handle.clock().after(self.timeout));
        Ok(ask(handle, wanted, None))
    }
}

request!(Acquire => Result<Permit, AcquireError>);
request!(TryAcquire => Result<Option<Permit>, AcquireError>);
request!(Attach => Result<Permit, AcquireError>);

/// What both kinds of requests say of themselves.
pub(crate) trait Named {
    /// The name, or nothing if it is not one.
    fn name(&self) -> &str;
    /// What it asks for if it does not wait; finds what is wrong before anything is sent.
    fn wanted(&self) -> Result<Wanted, AcquireError>;
    /// Whether it was made by this connection.
    fn is_of(&self, seinpaal: &Seinpaal) -> bool;
}

macro_rules! named {
    ($request:ty, $timeout:expr) => {
        impl Named for $request {
            fn name(&self) -> &str {
                let options = self.0.description().map(|it| &it.options);
                options.and_then(|options| options.name.as_ref().ok()).map_or("", Name::as_str)
            }

            fn wanted(&self) -> Result<Wanted, AcquireError> {
                let it = self.0.description().unwrap_or_else(|| unreachable!("not polled"));
                let mut wanted = it.options.wanted()?;
                let timeout: fn(_) -> Duration = $timeout;
                wanted.deadline = Some(it.options.seinpaal.handle.clock().after(timeout(it)));
                Ok(wanted)
            }

            fn is_of(&self, seinpaal: &Seinpaal) -> bool {
                let options = self.0.description().map(|it| &it.options);
                options
                    .is_some_and(|options| Arc::ptr_eq(&options.seinpaal.handle, &seinpaal.handle))
            }
        }
    };
}

// Requests in one step do not wait, even if the caller waits afterwards.
named!(Acquire, |it: &Waited| it.timeout.map_or(PROMPT, |timeout| timeout.min(PROMPT)));
named!(TryAcquire, |it: &Tried| it.timeout);

impl AcquireOptions {
    /// Checks everything before anything is sent.
    fn wanted(&self) -> Result<Wanted, AcquireError> {
        let limit = match self.limit {
            Some(limit) => {
                Some(LimitRule { limit: Limit::new(limit)?, on_mismatch: self.on_mismatch })
            }
            None => None,
        };
        let ttl = self.ttl.map(|ttl| self.seinpaal.checked_ttl(ttl)).transpose()?;
        Ok(Wanted {
            name: self.name.clone()?,
            kind: self.kind,
            permits: Permits::new(self.permits)?,
            wishes: self.wishes()?,
            limit,
            enqueue: Enqueue::No,
            priority: Priority::new(self.priority)?,
            ttl,
            deadline: None,
            about: self.about(ttl)?,
            attach: None,
        })
    }

    fn wishes(&self) -> Result<SlotNames, BadSetting> {
        if self.wishes.is_empty() {
            return Ok(SlotNames::none());
        }
        let wishes = SlotNames::new(self.wishes.iter().cloned())?;
        if wishes.count() > self.permits {
            return Err(BadSetting::Wishes { slots: wishes.count(), permits: self.permits });
        }
        Ok(wishes)
    }

    fn about(&self, ttl: Option<Micros>) -> Result<Arc<str>, BadSetting> {
        check_labels(&self.labels)?;
        let about = self.seinpaal.client.about_with(&self.labels, self.promise(ttl));
        if about.len() > MAX_ABOUT_BYTES {
            return Err(BadSetting::AboutTooLong(about.len()));
        }
        Ok(about)
    }
}

impl AcquireOptions {
    /// A store whose own sessions end earlier keeps a lease as it likes, and frees it when the session ends.
    fn promise(&self, ttl: Option<Micros>) -> RenewalPromise {
        let config = self.seinpaal.handle.config();
        match ttl.unwrap_or(config.ttl) {
            ttl if self.to_detach || ttl > config.longest_lease => RenewalPromise::NONE,
            ttl => RenewalPromise::to(ttl),
        }
    }
}

pub(crate) fn check_labels(labels: &[(String, String)]) -> Result<(), BadSetting> {
    for (key, value) in labels {
        let is_odd = key.is_empty()
            || key.contains('=')
            || key.chars().chain(value.chars()).any(char::is_control);
        if is_odd {
            return Err(BadSetting::Label(format!("{key}={value}")));
        }
    }
    Ok(())
}

fn ask(handle: &Arc<Handle>, wanted: Wanted, on_queued: Option<OnQueued>) -> Asking {
    let (request, asking) = Asking::new(handle, wanted, on_queued);
    handle.request(Command::Acquire(request));
    asking
}

/// A request that was sent, or an error in what was asked. What was described is not kept while it waits.
type Begun = Either<Asking, Ready<Result<Permit, AcquireError>>>;

fn begun(asking: Result<Asking, AcquireError>) -> Begun {
    match asking {
        Ok(asking) => Either::Left(asking),
        Err(error) => Either::Right(ready(Err(error))),
    }
}

/// Asks for permits of several names in one step. Returns what each was told, in order.
pub(crate) async fn ask_together(
    handle: &Arc<Handle>,
    wanted: Vec<Wanted>,
) -> Vec<Result<Permit, AcquireError>> {
    let (requests, asking): (Vec<_>, Vec<_>) =
        wanted.into_iter().map(|wanted| Asking::new(handle, wanted, None)).unzip();
    handle.send(Command::AcquireTogether(requests));
    join_all(asking).await
}

/// A request under way. If it is dropped before its answer was taken, it abandons the request and
/// gives back a grant that nobody took.
struct Asking {
    handle: Arc<Handle>,
    number: u64,
    answer: oneshot::Receiver<Result<Arc<Grant>, AcquireError>>,
    is_over: bool,
}

impl Asking {
    fn new(
        handle: &Arc<Handle>,
        wanted: Wanted,
        on_queued: Option<OnQueued>,
    ) -> (Box<Request>, Self) {
        let (reply, answer) = oneshot::channel();
        let number = handle.next_request();
        let asking = Self { handle: Arc::clone(handle), number, answer, is_over: false };
        let asked = AskedFor::new(&wanted.name);
        (Box::new(Request { number, wanted, on_queued, asked, reply }), asking)
    }
}

impl Future for Asking {
    type Output = Result<Permit, AcquireError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = std::task::ready!(Pin::new(&mut self.answer).poll(context));
        self.is_over = true;
        let grant = answer.unwrap_or_else(|_| Err(self.handle.gone().into()));
        Poll::Ready(grant.map(|grant| Permit::new(Arc::clone(&self.handle), grant)))
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        self.answer.close();
        match self.answer.try_recv() {
            Ok(Ok(grant)) => drop(Permit::new(Arc::clone(&self.handle), grant)),
            Ok(Err(_)) => {}
            Err(_) => self.handle.send(Command::Abandon { number: self.number }),
        }
    }
}
