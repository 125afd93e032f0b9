//! Requests for permits. A program describes a request by its methods, and then awaits the request.

mod attach;
mod options;
mod pending;
mod together;

use std::{future::Future, sync::Arc, time::Duration};

use futures_util::FutureExt;
use seinpaal_proto::{Enqueue, Name, Reply, Request, Snapshot, time::Micros};
use tokio::sync::oneshot;

pub use attach::Attach;
pub(crate) use options::{AcquireOptions, check_labels};
pub(crate) use together::{TogetherPart, ask_together};

use crate::{
    driver::{DriverCommand, Handle, WaitCallbacks, WantedPermits},
    error::AcquireError,
    permit::Permit,
    request::{Described, request},
    seinpaal::Seinpaal,
};
use pending::{PendingAcquire, begin, begun};

/// A request for permits that waits for its turn. It is a future, and sends nothing before it is
/// polled. Its methods describe the request, and have no effect once the future has been polled.
///
/// Waiters are served first come, first served. A small request never passes a request for many
/// permits. So a large request that is first in line holds up all requests behind it.
///
/// # Cancel safety
/// Dropping the future, at any point, leaves the line and gives back permits that may have been
/// granted meanwhile. A new request starts at the end of the line. So in a loop with `select!`,
/// poll `&mut` the same request:
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
/// poll, on the polling thread: one commit, without waiting for the disk. With a single Redis
/// server, the polling thread sends the request if no other call is under way. The connection's
/// threads do everything else.
///
/// # If the store is unreachable
/// The request is sent again for as long as the connection's [patience](crate::Builder::patience)
/// lasts (30 s by default), and then ends with a [`Store`](AcquireError::Store) error. A request
/// that has a place in line waits on, and keeps the place if the store comes back within 15 s. A
/// [`timeout`](Self::timeout) bounds the whole request, these retries included.
///
/// # If this process dies
/// The place in line is free at once on one machine (memory, embedded), and after at most 15 s on a
/// server. The waiters behind it are not held up for longer.
///
/// # Errors
/// [`AcquireError`]. Bad input is one of these errors, and is found before anything is sent.
#[must_use = "a request does nothing before it is awaited"]
pub struct Acquire(Described<Waited, Result<Permit, AcquireError>>);

/// A request for permits that does not wait. It gives `Ok(None)` if the permits cannot be had now.
///
/// If the store does not answer within the [timeout](Self::timeout), the request ends with a
/// [`Store`](AcquireError::Store) error. Permits that may have been granted meanwhile are given
/// back. See [`Acquire`] for everything else.
#[must_use = "a request does nothing before it is awaited"]
pub struct TryAcquire(Described<Tried, Result<Option<Permit>, AcquireError>>);

/// How long the store may take to answer a request that does not wait for other holders, unless the
/// caller sets another time.
pub(crate) const PROMPT: Duration = Duration::from_secs(5);
/// No store answers sooner than this for certain. A caller that waits for less, often the rest of a
/// time limit of its own, wants to know whether the permits are free.
const SHORTEST_WAIT: Duration = Duration::from_millis(1);
/// How long the store may take to say whether a name is paused.
const PAUSE_TIMEOUT: Duration = Duration::from_millis(500);

/// Returns whether a request with this timeout asks the store once and does not stand in line.
pub(crate) fn asks_once(timeout: Option<Duration>) -> bool {
    timeout.is_some_and(|timeout| timeout < SHORTEST_WAIT)
}

#[derive(Debug)]
struct Waited {
    options: AcquireOptions,
    timeout: Option<Duration>,
    max_waiting: Option<u32>,
    callbacks: WaitCallbacks,
}

#[derive(Debug)]
struct Tried {
    options: AcquireOptions,
    timeout: Duration,
}

macro_rules! shared_options {
    () => {
        /// Asks for this many permits at once, 1 to 1 000 000 000, all or none of them. Default 1.
        /// A request for more than the limit is [refused](AcquireError::TooMany).
        pub fn permits(self, permits: u32) -> Self {
            Self(self.0.with(|it| it.options.permits = permits))
        }

        /// Wishes that the slot with this [name](crate::Semaphore::name_slots) be among those
        /// granted. Can be repeated, up to as many times as there are [permits](Self::permits). The
        /// request waits for these slots, and does not hold up requests that can have other slots.
        /// A name that no slot has is [refused](AcquireError::NoSuchSlot).
        pub fn slot(self, name: &str) -> Self {
            Self(self.0.with(|it| it.options.wishes.push(name.to_owned())))
        }

        /// Sets the rank among waiters, −100 to 100, higher first. Default 0. Ten seconds of
        /// waiting outweigh one step, so no request waits for ever.
        pub fn priority(self, priority: i32) -> Self {
            Self(self.0.with(|it| it.options.priority = priority))
        }

        /// Sets how long the lease lasts without renewal, from 100 ms to 24 h. Default: the
        /// connection's ttl. The lease is renewed at a third of that time, together with all other
        /// leases of the same ttl.
        pub fn ttl(self, ttl: Duration) -> Self {
            Self(self.0.with(|it| it.options.ttl = Some(ttl)))
        }

        /// Tells people who look at holders that the permit is going to be
        /// [detached](Permit::detach), so no process renews it on a schedule. Without this, a
        /// detached permit that has not been renewed for half of its ttl is shown as that of a
        /// holder that may be dead.
        pub fn to_detach(self) -> Self {
            Self(self.0.with(|it| it.options.to_detach = true))
        }

        /// Adds a label for people who look at holders and waiters. Neither part may have control
        /// characters, and the key must not be empty or contain `=`. All labels and the client's
        /// own description may have 4096 bytes together.
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
use prompt;

impl Acquire {
    pub(crate) fn new(options: AcquireOptions) -> Self {
        Self(Described::new(Waited {
            options,
            timeout: None,
            max_waiting: None,
            callbacks: WaitCallbacks::default(),
        }))
    }

    shared_options!();

    /// Stops waiting after this long, counted from the first poll. The request then ends with
    /// [`AcquireError::TimedOut`] if other holders had the permits, with [`AcquireError::Paused`]
    /// if the name is paused (the store is asked for that, for half a second at most), and with
    /// [`AcquireError::Store`] if the store did not answer. Default: never.
    ///
    /// With a timeout of less than a millisecond, such as zero, the request asks once and does not
    /// stand in line, as a [`TryAcquire`] does.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self(self.0.with(|it| it.timeout = Some(timeout)))
    }

    /// Refuses the request, with [`AcquireError::TooManyWaiting`], if this many requests wait
    /// already.
    pub fn max_waiting(self, waiting: u32) -> Self {
        Self(self.0.with(|it| it.max_waiting = Some(waiting)))
    }

    /// Calls `tell` once if the request has to wait, with the number of requests that wait then,
    /// this one among them. The callback runs on the connection's thread and must not block.
    pub fn on_queued(self, tell: impl FnOnce(u32) + Send + 'static) -> Self {
        Self(self.0.with(|it| it.callbacks.on_queued = Some(Box::new(tell))))
    }

    /// Calls `tell` with the position of the request in the queue, from 1, about every five seconds
    /// while it waits. The store tells it with the renewal of the request's place, so it costs
    /// nothing. A quorum tells no positions, and of several requests of this connection at one name
    /// only the first may be told. The callback runs on the connection's thread and must not block.
    pub fn on_position(self, tell: impl Fn(u32) + Send + Sync + 'static) -> Self {
        Self(self.0.with(|it| it.callbacks.on_position = Some(Arc::new(tell))))
    }

    /// Waits until `deadline` of the connection's clock at the latest.
    pub(crate) async fn until(self, deadline: Option<Micros>) -> Result<Permit, AcquireError> {
        match self.0.into_description() {
            Some(waited) => waited.until(deadline).await,
            None => unreachable!("`acquire_all` polls none of its requests"),
        }
    }
}

impl Waited {
    fn run(self) -> impl Future<Output = Result<Permit, AcquireError>> {
        self.until(None)
    }

    fn until(self, deadline: Option<Micros>) -> impl Future<Output = Result<Permit, AcquireError>> {
        let (handle, name) = (Arc::clone(&self.options.seinpaal.handle), self.options.name.clone());
        let pending = begun(self.begin(deadline));
        async move {
            match (pending.await, name) {
                // A request that asks once is told that the name is busy or paused.
                (Err(error), Ok(name))
                    if error.is_contention() || matches!(error, AcquireError::TimedOut) =>
                {
                    Err(Box::pin(timed_out(handle, name)).await)
                }
                (answer, _) => answer,
            }
        }
    }

    fn begin(self, deadline: Option<Micros>) -> Result<PendingAcquire, AcquireError> {
        let handle = &self.options.seinpaal.handle;
        let mut wanted = self.options.wanted()?;
        let own = if asks_once(self.timeout) {
            Some(PROMPT)
        } else {
            wanted.enqueue = Enqueue::Yes { max_waiting: self.max_waiting };
            self.timeout
        };
        let own = own.map(|timeout| handle.clock().after(timeout));
        wanted.deadline = own.into_iter().chain(deadline).min();
        Ok(begin(handle, wanted, self.callbacks))
    }
}

/// The error of a request that has waited in vain. Only a look at the name tells a pause from
/// holders that took long, because a waiter hears of neither.
async fn timed_out(handle: Arc<Handle>, name: Name) -> AcquireError {
    if handle.pulse().outage().is_some_and(|outage| outage.error.is_some()) {
        return AcquireError::TimedOut;
    }
    let (reply, answer) = oneshot::channel();
    let request = Box::new(Request::Inspect { rows: 0 });
    let timeout = PAUSE_TIMEOUT;
    handle.send(DriverCommand::OneOff { name, request, as_nobody: false, timeout, reply });
    match answer.await {
        Ok(Ok(Reply::Snapshot(Snapshot { paused: Some(reason), .. }))) => {
            AcquireError::Paused { reason }
        }
        _ => AcquireError::TimedOut,
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

    fn begin(self) -> Result<PendingAcquire, AcquireError> {
        let handle = &self.options.seinpaal.handle;
        let mut wanted = self.options.wanted()?;
        wanted.deadline = Some(handle.clock().after(self.timeout));
        Ok(begin(handle, wanted, WaitCallbacks::default()))
    }
}

request!(Acquire => Result<Permit, AcquireError>);
request!(TryAcquire => Result<Option<Permit>, AcquireError>);

macro_rules! named {
    ($request:ty, $timeout:expr) => {
        impl TogetherPart for $request {
            fn name(&self) -> &str {
                let options = self.0.description().map(|it| &it.options);
                options.and_then(|options| options.name.as_ref().ok()).map_or("", Name::as_str)
            }

            fn wanted(&self) -> Result<WantedPermits, AcquireError> {
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
named!(Acquire, |it: &Waited| match it.timeout {
    Some(timeout) if !asks_once(it.timeout) => timeout.min(PROMPT),
    _ => PROMPT,
});
named!(TryAcquire, |it: &Tried| it.timeout);
