//! Blocking versions of the API, for programs without an async runtime: every function blocks the
//! calling thread.
//!
//! ```
//! use seinpaal::blocking::Seinpaal;
//!
//! let seinpaal = Seinpaal::connect("memory:")?;
//! let permit = seinpaal.semaphore("nightly").limit(1).acquire()?;
//! assert!(permit.is_held());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! For requests with options, and for methods without a blocking version, use the asynchronous API
//! and block on it with [`Wait`]:
//!
//! ```
//! use std::time::Duration;
//! use seinpaal::blocking::{Seinpaal, Wait};
//!
//! let seinpaal = Seinpaal::connect("memory:")?;
//! let gpus = seinpaal.asynchronous().semaphore("gpus").limit(4);
//! let permit = gpus.acquire().permits(2).timeout(Duration::from_secs(1)).label("job", "42").wait()?;
//! permit.release().wait()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::{future::IntoFuture, time::Duration};

use crate::{
    error::{AcquireError, AdminError, ConnectError, ReleaseError},
    guarded::{CommandGroup, GuardedError, Value},
    inspect::Snapshot,
    permit::Permit,
    queue::{Item, PopError, PushError, Pushed, QueueError, QueueSnapshot},
};

/// Blocks the calling thread, also that of a runtime, until a request or other future is done.
///
/// # Panics
/// If this thread is in a `wait` already: a future that is waited for awaits others.
pub fn wait<F: IntoFuture>(future: F) -> F::Output {
    futures_executor::block_on(future.into_future())
}

/// Takes leave of the stores. Waits for a second at most in all, until each connection whose last
/// handle this thread has dropped has given its permits back and has left its lines.
///
/// A thread does this on its own when it ends. The main thread does so only where the C library
/// runs the destructors of thread-local variables when the program ends: GNU's does, musl does not.
/// A program that is linked with musl calls this last, before the end of `main` or
/// [`std::process::exit`]. Otherwise its permits and places may stay until their leases have ended.
///
/// ```
/// let seinpaal = seinpaal::blocking::Seinpaal::connect("memory:")?;
/// let permit = seinpaal.semaphore("nightly").acquire()?;
/// drop((permit, seinpaal));
/// seinpaal::blocking::part();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn part() {
    crate::driver::part();
}

/// Blocks on the requests of the asynchronous face, with all their options.
pub trait Wait: IntoFuture + Sized {
    /// Blocks the calling thread until the request is done, and panics as [`wait`] does.
    fn wait(self) -> Self::Output {
        wait(self)
    }
}

impl<F: IntoFuture> Wait for F {}

/// Applies a group of commands if the permit is held. See [`Permit::guarded`].
///
/// # Errors
/// As [`Permit::guarded`].
pub fn guarded(
    permit: &Permit,
    describe: impl FnOnce(&mut CommandGroup),
) -> Result<Vec<Value>, GuardedError> {
    wait(permit.guarded(describe))
}

/// A connection to a store. See [`crate::Seinpaal`].
#[derive(Clone, Debug)]
pub struct Seinpaal(crate::Seinpaal);

/// A name with a limit. See [`crate::Semaphore`].
#[derive(Clone, Debug)]
#[must_use]
pub struct Semaphore(crate::Semaphore);

/// One holder at a time. See [`crate::Mutex`].
#[derive(Clone, Debug)]
#[must_use]
pub struct Mutex(crate::Mutex);

/// Many readers or one writer. See [`crate::RwLock`].
#[derive(Clone, Debug)]
#[must_use]
pub struct RwLock(crate::RwLock);

/// Items that wait for workers. See [`crate::Queue`].
#[derive(Clone, Debug)]
#[must_use]
pub struct Queue(crate::Queue);

impl Seinpaal {
    /// Connects. See [`crate::Seinpaal::connect`].
    ///
    /// # Errors
    /// As [`crate::Seinpaal::connect`].
    pub fn connect(url: &str) -> Result<Self, ConnectError> {
        wait(crate::Seinpaal::connect(url)).map(Self)
    }

    /// Gives back everything and ends every wait on this connection. See
    /// [`crate::Seinpaal::close`].
    ///
    /// # Errors
    /// As [`crate::Seinpaal::close`].
    pub fn close(&self) -> Result<(), ReleaseError> {
        wait(self.0.close())
    }

    /// Returns the semaphore with this name.
    pub fn semaphore(&self, name: &str) -> Semaphore {
        Semaphore(self.0.semaphore(name))
    }

    /// Returns the mutex with this name.
    pub fn mutex(&self, name: &str) -> Mutex {
        Mutex(self.0.mutex(name))
    }

    /// Returns the readers-writer lock with this name.
    pub fn rwlock(&self, name: &str) -> RwLock {
        RwLock(self.0.rwlock(name))
    }

    /// Returns the queue with this name.
    pub fn queue(&self, name: &str) -> Queue {
        Queue(self.0.queue(name))
    }

    /// Returns the asynchronous face of the same connection.
    #[must_use]
    pub fn asynchronous(&self) -> &crate::Seinpaal {
        &self.0
    }
}

impl Semaphore {
    /// States how many permits exist. See [`crate::Semaphore::limit`].
    pub fn limit(self, limit: u32) -> Self {
        Self(self.0.limit(limit))
    }

    /// Waits in line for a permit, for as long as it takes.
    ///
    /// # Errors
    /// As [`crate::Acquire`].
    pub fn acquire(&self) -> Result<Permit, AcquireError> {
        wait(self.0.acquire())
    }

    /// Waits in line for a permit, at most `timeout`.
    ///
    /// # Errors
    /// As [`crate::Acquire`], [`AcquireError::TimedOut`] among it.
    pub fn acquire_timeout(&self, timeout: Duration) -> Result<Permit, AcquireError> {
        wait(self.0.acquire().timeout(timeout))
    }

    /// Takes a permit if one is free.
    ///
    /// # Errors
    /// As [`crate::Acquire`].
    pub fn try_acquire(&self) -> Result<Option<Permit>, AcquireError> {
        wait(self.0.try_acquire())
    }

    /// Reads everything about the name.
    ///
    /// # Errors
    /// As [`crate::Semaphore::snapshot`].
    pub fn snapshot(&self) -> Result<Snapshot, AdminError> {
        wait(self.0.snapshot())
    }

    /// Returns the asynchronous face of the same semaphore.
    pub fn asynchronous(&self) -> &crate::Semaphore {
        &self.0
    }
}

impl Mutex {
    /// Waits in line for the mutex, for as long as it takes.
    ///
    /// # Errors
    /// As [`crate::Acquire`].
    pub fn lock(&self) -> Result<Permit, AcquireError> {
        wait(self.0.lock())
    }

    /// Takes the mutex if it is free.
    ///
    /// # Errors
    /// As [`crate::Acquire`].
    pub fn try_lock(&self) -> Result<Option<Permit>, AcquireError> {
        wait(self.0.try_lock())
    }

    /// Returns the asynchronous face of the same mutex.
    pub fn asynchronous(&self) -> &crate::Mutex {
        &self.0
    }
}

impl RwLock {
    /// Waits in line to read, for as long as it takes.
    ///
    /// # Errors
    /// As [`crate::Acquire`].
    pub fn read(&self) -> Result<Permit, AcquireError> {
        wait(self.0.read())
    }

    /// Waits in line to write, for as long as it takes.
    ///
    /// # Errors
    /// As [`crate::Acquire`].
    pub fn write(&self) -> Result<Permit, AcquireError> {
        wait(self.0.write())
    }

    /// Returns the asynchronous face of the same lock.
    pub fn asynchronous(&self) -> &crate::RwLock {
        &self.0
    }
}

impl Queue {
    /// Pushes an item with this payload. See [`crate::Queue::push`] for the options of an item.
    ///
    /// # Errors
    /// As [`crate::PushRequest`].
    pub fn push(&self, payload: impl Into<Vec<u8>>) -> Result<Pushed, PushError> {
        wait(self.0.push(payload))
    }

    /// Waits for an item to work on, for as long as it takes.
    ///
    /// # Errors
    /// As [`crate::Pop`].
    ///
    /// # Examples
    /// ```
    /// use seinpaal::blocking::{Seinpaal, wait};
    ///
    /// let mails = Seinpaal::connect("memory:")?.queue("mails, one by one");
    /// mails.push("to: ann")?;
    /// let item = mails.pop()?;
    /// wait(item.acknowledge())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pop(&self) -> Result<Item, PopError> {
        wait(self.0.pop())
    }

    /// Waits for an item to work on, at most `timeout`.
    ///
    /// # Errors
    /// As [`crate::Pop`], [`PopError::TimedOut`] among it.
    pub fn pop_timeout(&self, timeout: Duration) -> Result<Item, PopError> {
        wait(self.0.pop().timeout(timeout))
    }

    /// Takes an item to work on if there is one now.
    ///
    /// # Errors
    /// As [`crate::Pop`].
    pub fn try_pop(&self) -> Result<Option<Item>, PopError> {
        wait(self.0.try_pop())
    }

    /// Reads everything about the queue.
    ///
    /// # Errors
    /// As [`crate::Queue::snapshot`].
    pub fn snapshot(&self) -> Result<QueueSnapshot, QueueError> {
        wait(self.0.snapshot())
    }

    /// Returns the asynchronous face of the same queue.
    pub fn asynchronous(&self) -> &crate::Queue {
        &self.0
    }
}
