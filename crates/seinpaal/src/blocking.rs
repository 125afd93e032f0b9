//! The same for programs without a runtime: every function blocks the calling thread.
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
//! What is not here is reached through [`Seinpaal::asynchronous`] and [`wait`].

use std::{future::IntoFuture, time::Duration};

use crate::{
    error::{AcquireError, AdminError, ConnectError},
    inspect::Snapshot,
    permit::Permit,
};

/// Blocks the calling thread until a request, or any future of this crate, is done.
pub fn wait<F: IntoFuture>(future: F) -> F::Output {
    futures_executor::block_on(future.into_future())
}

/// A connection to a store. See [`crate::Seinpaal`].
#[derive(Clone, Debug)]
pub struct Seinpaal(crate::Seinpaal);

/// A name with a limit. See [`crate::Semaphore`].
#[derive(Clone, Debug)]
#[must_use]
pub struct Semaphore(crate::Semaphore);

impl Seinpaal {
    /// Connects. See [`crate::Seinpaal::connect`].
    ///
    /// # Errors
    /// As there.
    pub fn connect(url: &str) -> Result<Self, ConnectError> {
        wait(crate::Seinpaal::connect(url)).map(Self)
    }

    /// Returns the semaphore with this name.
    pub fn semaphore(&self, name: &str) -> Semaphore {
        Semaphore(self.0.semaphore(name))
    }

    /// Returns the asynchronous face of the same connection.
    #[must_use]
    pub fn asynchronous(&self) -> &crate::Seinpaal {
        &self.0
    }
}

impl Semaphore {
    /// Says how many permits exist. See [`crate::Semaphore::limit`].
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
