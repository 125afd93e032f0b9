//! Requests for permits: described, then awaited.

use std::{
    fmt,
    future::{Future, IntoFuture},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::future::join_all;
use seinpaal_proto::{
    BadName, Enqueue, Kind, Limit, LimitRule, MAX_ABOUT_BYTES, Name, OnMismatch, Permits, Priority,
    Ticket, time::Micros,
};
use tokio::sync::oneshot;

use crate::{
    all::Named,
    boottime,
    driver::{Command, Grant, Handle, Request, Wanted},
    error::{AcquireError, BadSetting},
    permit::Permit,
    seinpaal::Seinpaal,
};

/// A request for permits that waits its turn. Nothing is sent before it is awaited.
///
/// Waiters are served first come, first served; a request for many permits is not passed by small ones behind
/// it, so it holds those back while it is first.
///
/// # Cancel safety
/// Dropping the future, at any point, leaves the queue and gives back what may have been granted meanwhile.
/// Awaiting a new one starts at the end of the line.
///
/// # If the store is unreachable
/// It is tried again for as long as the connection's patience lasts; the place in the queue is kept if the
/// store comes back within the waiter's lease (15 s).
///
/// # Errors
/// [`AcquireError`], bad input among it: that is found before anything is sent.
#[must_use = "a request does nothing before it is awaited"]
pub struct Acquire {
    plan: Plan,
    timeout: Option<Duration>,
    max_waiting: Option<u32>,
    on_queued: Option<Box<dyn FnOnce(u32) + Send>>,
}

/// A request for permits that does not wait: `Ok(None)` when they cannot be had now.
///
/// See [`Acquire`] for everything else.
#[must_use = "a request does nothing before it is awaited"]
pub struct TryAcquire {
    plan: Plan,
}

/// A request to become the holder of a ticket that another client detached or holds.
///
/// # Errors
/// [`AcquireError::Unknown`] if there is no such ticket, [`AcquireError::Ended`] if it is over.
#[must_use = "a request does nothing before it is awaited"]
pub struct Attach {
    plan: Plan,
    ticket: Ticket,
}

/// What the kinds of requests have in common.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seinpaal: Seinpaal,
    pub(crate) name: Result<Name, BadName>,
    pub(crate) kind: Kind,
    pub(crate) limit: Option<u32>,
    pub(crate) on_mismatch: OnMismatch,
    pub(crate) permits: u32,
    pub(crate) priority: i32,
    pub(crate) ttl: Option<Duration>,
    pub(crate) labels: Vec<(String, String)>,
}

macro_rules! shared_options {
    () => {
        /// Asks for this many permits at once, all or nothing. Default 1. More than the limit is refused.
        pub fn permits(mut self, permits: u32) -> Self {
            self.plan.permits = permits;
            self
        }

        /// Sets the rank among waiters, −100…100, higher first. Default 0. Ten seconds of waiting outweigh one
        /// step, so nobody waits for ever.
        pub fn priority(mut self, priority: i32) -> Self {
            self.plan.priority = priority;
            self
        }

        /// Sets how long the lease lasts without renewal, 100 ms to 24 h. Default: the connection's. It is
        /// renewed at a third of it, together with all others of this ttl.
        pub fn ttl(mut self, ttl: Duration) -> Self {
            self.plan.ttl = Some(ttl);
            self
        }

        /// Adds a label for people who look at holders and waiters.
        pub fn label(mut self, key: &str, value: &str) -> Self {
            self.plan.labels.push((key.to_owned(), value.to_owned()));
            self
        }
    };
}

impl Acquire {
    pub(crate) fn new(plan: Plan) -> Self {
        Self { plan, timeout: None, max_waiting: None, on_queued: None }
    }

    shared_options!();

    /// Stops waiting after this long, counted from the first poll. Default: never.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Does not queue if this many wait already.
    pub fn max_waiting(mut self, waiting: u32) -> Self {
        self.max_waiting = Some(waiting);
        self
    }

    /// Calls `tell` once if the request has to wait, with the number of requests that wait then, this one among
    /// them. It is called on the connection's thread and must not block.
    pub fn on_queued(mut self, tell: impl FnOnce(u32) + Send + 'static) -> Self {
        self.on_queued = Some(Box::new(tell));
        self
    }

    async fn run(self) -> Result<Permit, AcquireError> {
        self.until(None).await
    }

    /// Waits no longer than until `deadline`, on [`boottime`].
    pub(crate) async fn until(self, deadline: Option<Micros>) -> Result<Permit, AcquireError> {
        let mut wanted = self.plan.wanted()?;
        wanted.enqueue = Enqueue::Yes { max_waiting: self.max_waiting };
        let own = self.timeout.map(boottime::after);
        wanted.deadline = own.into_iter().chain(deadline).min();
        ask(&self.plan.seinpaal.handle, wanted, self.on_queued).await
    }
}

impl TryAcquire {
    pub(crate) fn new(plan: Plan) -> Self {
        Self { plan }
    }

    shared_options!();

    async fn run(self) -> Result<Option<Permit>, AcquireError> {
        let wanted = self.plan.wanted()?;
        match ask(&self.plan.seinpaal.handle, wanted, None).await {
            Ok(permit) => Ok(Some(permit)),
            Err(error) if error.is_contention() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Attach {
    pub(crate) fn new(plan: Plan, ticket: Ticket) -> Self {
        Self { plan, ticket }
    }

    /// Sets how long the lease lasts without renewal from now on, 100 ms to 24 h. Default: the connection's.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.plan.ttl = Some(ttl);
        self
    }

    async fn run(self) -> Result<Permit, AcquireError> {
        let mut wanted = self.plan.wanted()?;
        wanted.attach = Some(self.ticket);
        ask(&self.plan.seinpaal.handle, wanted, None).await
    }
}

macro_rules! named {
    ($request:ty) => {
        impl Named for $request {
            fn name(&self) -> &str {
                self.plan.name.as_ref().map_or("", Name::as_str)
            }

            fn wanted(&self) -> Result<Wanted, AcquireError> {
                self.plan.wanted()
            }

            fn is_of(&self, seinpaal: &Seinpaal) -> bool {
                Arc::ptr_eq(&self.plan.seinpaal.handle, &seinpaal.handle)
            }
        }
    };
}

named!(Acquire);
named!(TryAcquire);

macro_rules! awaited {
    ($request:ty => $output:ty) => {
        impl IntoFuture for $request {
            type Output = $output;
            type IntoFuture = Pin<Box<dyn Future<Output = $output> + Send>>;

            fn into_future(self) -> Self::IntoFuture {
                Box::pin(self.run())
            }
        }

        impl fmt::Debug for $request {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($request)).field(&self.plan).finish()
            }
        }
    };
}

awaited!(Acquire => Result<Permit, AcquireError>);
awaited!(TryAcquire => Result<Option<Permit>, AcquireError>);
awaited!(Attach => Result<Permit, AcquireError>);

impl Plan {
    /// Checks everything before anything is sent.
    fn wanted(&self) -> Result<Wanted, AcquireError> {
        let limit = match self.limit {
            Some(limit) => {
                Some(LimitRule { limit: Limit::new(limit)?, on_mismatch: self.on_mismatch })
            }
            None => None,
        };
        Ok(Wanted {
            name: self.name.clone()?,
            kind: self.kind,
            permits: Permits::new(self.permits)?,
            limit,
            enqueue: Enqueue::No,
            priority: Priority::new(self.priority)?,
            ttl: self.ttl.map(|ttl| self.seinpaal.checked_ttl(ttl)).transpose()?,
            deadline: None,
            about: self.about()?,
            attach: None,
        })
    }

    fn about(&self) -> Result<String, BadSetting> {
        check_labels(&self.labels)?;
        let about = self.seinpaal.client.about(self.labels.clone()).encode();
        if about.len() > MAX_ABOUT_BYTES {
            return Err(BadSetting::AboutTooLong(about.len()));
        }
        Ok(about)
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

async fn ask(
    handle: &Arc<Handle>,
    wanted: Wanted,
    on_queued: Option<Box<dyn FnOnce(u32) + Send>>,
) -> Result<Permit, AcquireError> {
    let (request, asking) = Asking::new(handle, wanted, on_queued);
    handle.send(Command::Acquire(request));
    asking.permit().await
}

/// Asks for permits of several names in one step. What each was told, in order.
pub(crate) async fn ask_together(
    handle: &Arc<Handle>,
    wanted: Vec<Wanted>,
) -> Vec<Result<Permit, AcquireError>> {
    let (requests, asking): (Vec<_>, Vec<_>) =
        wanted.into_iter().map(|wanted| Asking::new(handle, wanted, None)).unzip();
    handle.send(Command::AcquireTogether(requests));
    join_all(asking.into_iter().map(Asking::permit)).await
}

/// A request under way. Dropped before its answer was taken, it abandons the request, and gives back a grant
/// that nobody took out.
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
        on_queued: Option<Box<dyn FnOnce(u32) + Send>>,
    ) -> (Request, Self) {
        let (reply, answer) = oneshot::channel();
        let number = handle.next_request();
        let asking = Self { handle: Arc::clone(handle), number, answer, is_over: false };
        (Request { number, wanted, on_queued, reply }, asking)
    }

    async fn permit(self) -> Result<Permit, AcquireError> {
        let handle = Arc::clone(&self.handle);
        Ok(Permit::new(handle, self.await?))
    }
}

impl Future for Asking {
    type Output = Result<Arc<Grant>, AcquireError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = std::task::ready!(Pin::new(&mut self.answer).poll(context));
        self.is_over = true;
        Poll::Ready(answer.unwrap_or_else(|_| Err(crate::driver::is_over().into())))
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
