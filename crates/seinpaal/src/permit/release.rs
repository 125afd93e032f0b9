//! Giving permits back.

use std::{future::Future, sync::Arc, time::Duration};

use tokio::sync::oneshot;

use super::{GrantPart, Permit};
use crate::{
    driver::{ANSWER, DriverCommand, Giving, ReleaseReply},
    error::ReleaseError,
    request::{Described, request},
};

impl Permit {
    /// Gives the permits back. Await the returned request to learn the result.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// use std::time::Duration;
    /// use seinpaal::ReleaseError;
    ///
    /// # let seinpaal = seinpaal::Seinpaal::in_memory();
    /// let permit = seinpaal.semaphore("gpus").acquire().await?;
    /// match permit.release().timeout(Duration::from_secs(1)).await {
    ///     Ok(()) => println!("free"),
    ///     Err(ReleaseError::Unknown { at_most }) => println!("free in at most {at_most:?}"),
    ///     Err(error) => println!("{error}"),
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn release(self) -> Release {
        Release(Described::new(Releasing { permit: self, timeout: ANSWER }))
    }
}

/// A request to give permits back. It is a future.
///
/// # Cancel safety
/// Dropping the future, at any point, gives the permits back in the background.
///
/// # Errors
/// [`ReleaseError::NotHeld`] if the permits had been lost. [`ReleaseError::Unknown`] if the store
/// did not answer within the [timeout](Self::timeout). The release is then repeated in the
/// background until the lease must have ended by itself. [`ReleaseError::Forked`] in a process that
/// was forked from the one that has connected.
#[must_use = "await it to learn how that went; a permit that is dropped is released, too"]
pub struct Release(Described<Releasing, Result<(), ReleaseError>>);

impl Release {
    /// Sets how long the store may take to confirm the release, counted from the first poll.
    /// Default 5 s.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self(self.0.with(|it| it.timeout = timeout))
    }
}

request!(Release => Result<(), ReleaseError>);

#[derive(Debug)]
struct Releasing {
    permit: Permit,
    timeout: Duration,
}

impl Releasing {
    fn run(self) -> impl Future<Output = Result<(), ReleaseError>> {
        let Self { mut permit, timeout } = self;
        let handle = Arc::clone(&permit.handle);
        let release = |part: GrantPart| {
            let (reply, answer) = oneshot::channel();
            handle.request(part.release(timeout, Some(reply)));
            answer
        };
        // The parts are taken out, because the drop of the permit would release them a second time.
        let answers: Vec<_> = std::mem::take(&mut permit.parts).into_iter().map(release).collect();
        async move {
            let mut result = Ok(());
            for answer in answers {
                let gone = || Err(handle.gone_release());
                result = result.and(answer.await.unwrap_or_else(|_| gone()));
            }
            result
        }
    }
}

impl GrantPart {
    fn release(self, timeout: Duration, reply: Option<ReleaseReply>) -> DriverCommand {
        let (ticket, fence) = (self.grant.ticket, self.grant.fence);
        DriverCommand::Release(Giving { ticket, fence, slots: self.slots, timeout, reply })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        for part in std::mem::take(&mut self.parts) {
            // This does not call `request`: a drop may happen on any thread, and must not wait for
            // a commit there.
            self.handle.send(part.release(ANSWER, None));
        }
    }
}
