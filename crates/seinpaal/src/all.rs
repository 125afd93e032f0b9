//! Permits of several names at once: all or none. Callers never wait for each other in a circle.

mod permit_set;

use std::{future::Future, sync::Arc, time::Duration};

use seinpaal_proto::time::Micros;
use thiserror::Error;

pub use self::permit_set::PermitSet;
use crate::{
    acquire::{Acquire, TogetherPart, TryAcquire, ask_together, asks_once},
    driver::WantedPermits,
    error::AcquireError,
    permit::Permit,
    request::{Described, request},
    seinpaal::Seinpaal,
};

/// A request for permits of several names that waits for its turn: all of them, or none. Made by
/// [`Seinpaal::acquire_all`](crate::Seinpaal::acquire_all).
///
/// If one server has all names (memory, embedded, a Redis that is neither a cluster nor a quorum)
/// and all permits are free, the store grants them in one step and one round trip. Otherwise the
/// request acquires the names one after the other, in the order of their bytes, unless
/// [`in_given_order`](Self::in_given_order) says otherwise. So callers that want the same names
/// never wait for each other in a circle. A caller that waits for a later name holds the earlier
/// ones meanwhile.
///
/// # Cancel safety
/// Dropping the future, at any point, leaves the line and gives back the permits that it had.
///
/// # Errors
/// [`AcquireAllError`] names the request that failed. Permits that were granted by then are given
/// back. Bad input, such as the same name twice, is found before anything is sent.
#[must_use = "a request does nothing before it is awaited"]
pub struct AcquireAll(Described<AllWaited, Result<PermitSet, AcquireAllError>>);

/// A request for permits of several names that does not wait. It gives `Ok(None)` unless all can be
/// had now. Made by [`Seinpaal::try_acquire_all`](crate::Seinpaal::try_acquire_all).
///
/// See [`AcquireAll`] for everything else.
#[must_use = "a request does nothing before it is awaited"]
pub struct TryAcquireAll(Described<AllTried, Result<Option<PermitSet>, AcquireAllError>>);

#[derive(Debug)]
struct AllWaited {
    seinpaal: Seinpaal,
    requests: Vec<Acquire>,
    timeout: Option<Duration>,
    is_as_given: bool,
}

#[derive(Debug)]
struct AllTried {
    seinpaal: Seinpaal,
    requests: Vec<TryAcquire>,
}

/// The request that failed among several, and the reason.
#[derive(Clone, Debug, Error)]
#[error("{name}: {error}")]
#[non_exhaustive]
pub struct AcquireAllError {
    /// The name of the request that failed.
    pub name: String,
    /// The reason.
    #[source]
    pub error: AcquireError,
}

impl AcquireAllError {
    /// Returns what [`AcquireError::is_busy`] says of the reason.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.error.is_busy()
    }

    /// Returns what [`AcquireError::is_unavailable`] says of the reason.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        self.error.is_unavailable()
    }
}

impl AcquireAll {
    pub(crate) fn new(seinpaal: Seinpaal, requests: Vec<Acquire>) -> Self {
        Self(Described::new(AllWaited { seinpaal, requests, timeout: None, is_as_given: false }))
    }

    /// Stops waiting after this long, for all requests together, counted from the first poll, as
    /// [`Acquire::timeout`] does for one. Default: never.
    ///
    /// A timeout of a single request counts as well, from the moment at which its turn comes: names
    /// that must be waited for are acquired one after the other.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self(self.0.with(|it| it.timeout = Some(timeout)))
    }

    /// Acquires the names in the order in which they were given, if some must be waited for. Give
    /// the narrow name first and the wide one last. Then no caller holds a permit of the wide name,
    /// which all callers want, while it still waits for the narrow one.
    ///
    /// Callers never wait for each other in a circle as long as all that want two of these names
    /// give them in the same order, and none of them uses the order of bytes. That is so where each
    /// name has one wider name, as the users of a service have the service.
    pub fn in_given_order(self) -> Self {
        Self(self.0.with(|it| it.is_as_given = true))
    }
}

impl AllWaited {
    async fn run(self) -> Result<PermitSet, AcquireAllError> {
        let clock = self.seinpaal.handle.clock();
        let asks_once = asks_once(self.timeout);
        let (deadline, requests) = match self.timeout {
            Some(timeout) if asks_once => {
                (None, self.requests.into_iter().map(|it| it.timeout(timeout)).collect())
            }
            timeout => (timeout.map(|timeout| clock.after(timeout)), self.requests),
        };
        let mut requests = in_order(requests)?;
        if self.is_as_given {
            // `in_order` has sorted them by name.
            requests.sort_by_key(|(place, _)| *place);
        }
        if let Some(at_once) = all_at_once(&self.seinpaal, &requests, deadline) {
            match at_once.await {
                Ok(Some(permits)) => return Ok(permits),
                // The store did not answer in all this time, so no time is left to ask again.
                Err(failed)
                    if asks_once || deadline.is_some_and(|deadline| deadline <= clock.now()) =>
                {
                    return Err(failed);
                }
                // Acquiring one name after the other finds the error, or waits.
                Ok(None) | Err(_) => {}
            }
        }
        one_after_the_other(requests, deadline).await
    }
}

async fn one_after_the_other(
    requests: Vec<(usize, Acquire)>,
    deadline: Option<Micros>,
) -> Result<PermitSet, AcquireAllError> {
    let mut granted = Vec::with_capacity(requests.len());
    for (place, request) in requests {
        let name = request.name().to_owned();
        // If this returns early, dropping the permits gives them back.
        let permit = request.until(deadline).await;
        granted.push((place, permit.map_err(|error| AcquireAllError { name, error })?));
    }
    Ok(PermitSet::new(granted))
}

impl TryAcquireAll {
    pub(crate) fn new(seinpaal: Seinpaal, requests: Vec<TryAcquire>) -> Self {
        Self(Described::new(AllTried { seinpaal, requests }))
    }
}

impl AllTried {
    async fn run(self) -> Result<Option<PermitSet>, AcquireAllError> {
        let requests = in_order(self.requests)?;
        if let Some(at_once) = all_at_once(&self.seinpaal, &requests, None) {
            return at_once.await;
        }
        let mut granted = Vec::with_capacity(requests.len());
        for (place, request) in requests {
            let name = request.name().to_owned();
            match request.await.map_err(|error| AcquireAllError { name, error })? {
                Some(permit) => granted.push((place, permit)),
                // The permits granted so far are dropped here, which gives them back.
                None => return Ok(None),
            }
        }
        Ok(Some(PermitSet::new(granted)))
    }
}

/// Asks for all permits in one step, without waiting, if the store has such a step.
fn all_at_once<R: TogetherPart>(
    seinpaal: &Seinpaal,
    requests: &[(usize, R)],
    deadline: Option<Micros>,
) -> Option<impl Future<Output = Result<Option<PermitSet>, AcquireAllError>> + use<R>> {
    if requests.len() < 2 || seinpaal.handle.store().one_step().is_none() {
        return None;
    }
    let wanted = requests.iter().map(|(_, request)| request.wanted());
    let mut wanted: Vec<WantedPermits> = wanted.collect::<Result<_, _>>().ok()?;
    for one in &mut wanted {
        one.deadline = one.deadline.into_iter().chain(deadline).min();
    }
    let asked: Vec<_> =
        requests.iter().map(|(at, request)| (*at, request.name().to_owned())).collect();
    let handle = Arc::clone(&seinpaal.handle);
    Some(async move { all_or_none(asked, ask_together(&handle, wanted).await) })
}

/// The permits of requests that were made in one step, if each was granted. `asked` has the place
/// and the name of each.
fn all_or_none(
    asked: Vec<(usize, String)>,
    answers: Vec<Result<Permit, AcquireError>>,
) -> Result<Option<PermitSet>, AcquireAllError> {
    let mut granted = Vec::with_capacity(answers.len());
    let mut is_busy = false;
    for ((place, name), answer) in asked.into_iter().zip(answers) {
        match answer {
            // A request that could not join the step may have been granted though another was not.
            // Dropping its permit gives the permit back.
            Ok(permit) => granted.push((place, permit)),
            Err(error) if error.is_contention() => is_busy = true,
            Err(error) => return Err(AcquireAllError { name, error }),
        }
    }
    Ok((!is_busy).then(|| PermitSet::new(granted)))
}

/// The requests in the order in which they are made. Each has its place in the order that the
/// caller gave.
fn in_order<R: TogetherPart>(requests: Vec<R>) -> Result<Vec<(usize, R)>, AcquireAllError> {
    let mut requests: Vec<_> = requests.into_iter().enumerate().collect();
    requests.sort_by(|(_, one), (_, other)| one.name().cmp(other.name()));
    let wrong = |request: &R, error| AcquireAllError { name: request.name().to_owned(), error };
    // All requests are checked before any is sent, so a bad one leaves nothing to give back.
    for (_, request) in &requests {
        request.wanted().map_err(|error| wrong(request, error))?;
    }
    match requests.windows(2).find(|pair| pair[0].1.name() == pair[1].1.name()) {
        Some(pair) => Err(wrong(&pair[0].1, AcquireError::NamedTwice)),
        None => Ok(requests),
    }
}

request!(AcquireAll => Result<PermitSet, AcquireAllError>);
request!(TryAcquireAll => Result<Option<PermitSet>, AcquireAllError>);
