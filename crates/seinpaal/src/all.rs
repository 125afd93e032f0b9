//! Permits of several names at once: all or none. Callers never wait for each other in a circle.

use std::{future::Future, pin::pin, sync::Arc, time::Duration};

use futures_util::future::{Either, select, select_all};
use seinpaal_proto::{HandOverAsk, time::Micros};
use thiserror::Error;

use crate::{
    acquire::{Acquire, Named, TryAcquire, ask_together},
    driver::Wanted,
    error::{AcquireError, ReleaseError},
    permit::Permit,
    permit_state::{Lost, PermitState},
    request::{Described, request},
    seinpaal::Seinpaal,
};

/// A request for permits of several names: all of them, or none. Made by
/// [`Seinpaal::acquire_all`](crate::Seinpaal::acquire_all).
///
/// Where one server has all names (memory, embedded, a single Redis), and all can be had at once, they are: in one
/// step and one round trip. Otherwise they are acquired one after the other, in the order of their bytes whatever
/// order they were given in (unless [`in_given_order`](Self::in_given_order) says so). So callers who want the same
/// names never wait for each other in a circle. Who waits for a later name holds the earlier ones meanwhile.
///
/// # Cancel safety
/// Dropping the future, at any point, leaves the queue and gives back what it had.
///
/// # Errors
/// [`AcquireAllError`] names the request that failed; by then what had been granted was given back. Bad input,
/// the same name twice among it, is found before anything is sent.
#[must_use = "a request does nothing before it is awaited"]
pub struct AcquireAll(Described<AllWaited, Result<PermitSet, AcquireAllError>>);

/// A request for permits of several names that does not wait: `Ok(None)` unless all can be had now. Made by
/// [`Seinpaal::try_acquire_all`](crate::Seinpaal::try_acquire_all).
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

/// The request that failed among several, and why.
#[derive(Clone, Debug, Error)]
#[error("{name}: {error}")]
pub struct AcquireAllError {
    /// Its name.
    pub name: String,
    /// Why.
    #[source]
    pub error: AcquireError,
}

/// Permits of several names that are held together. If one of them is lost, all of them count as
/// lost.
///
/// Dropping it gives all of them back. See [`Permit`] for what happens when the holder dies or the store is
/// unreachable.
#[derive(Debug)]
pub struct PermitSet {
    permits: Vec<Permit>,
}

impl AcquireAll {
    pub(crate) fn new(seinpaal: Seinpaal, requests: Vec<Acquire>) -> Self {
        Self(Described::new(AllWaited { seinpaal, requests, timeout: None, is_as_given: false }))
    }

    /// Stops waiting after this long, for all of them together, counted from the first poll. A
    /// timeout that one of the requests has counts as well. Default: never.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self(self.0.with(|it| it.timeout = Some(timeout)))
    }

    /// Acquires them in the order they were given in, where they must be waited for. Put the narrow name first and the
    /// wide one last: a permit of the wide one, which all want, is then never held by somebody who still waits for the
    /// narrow one.
    ///
    /// Nobody waits in a circle as long as all who want two of these names give them in the same order, and none of them
    /// leaves it to the order of bytes. Names with one wider name each, as users within a service, see to that.
    pub fn in_given_order(self) -> Self {
        Self(self.0.with(|it| it.is_as_given = true))
    }
}

impl AllWaited {
    async fn run(self) -> Result<PermitSet, AcquireAllError> {
        let clock = self.seinpaal.handle.clock();
        let deadline = self.timeout.map(|timeout| clock.after(timeout));
        let mut requests = in_order(self.requests)?;
        if self.is_as_given {
            requests.sort_by_key(|(place, _)| *place);
        }
        if let Some(at_once) = all_at_once(&self.seinpaal, &requests, deadline) {
            match at_once.await {
                Ok(Some(permits)) => return Ok(permits),
                // The store did not answer for the whole time, so no time is left to ask again.
                Err(failed) if deadline.is_some_and(|deadline| deadline <= clock.now()) => {
                    return Err(failed);
                }
                // Acquiring one after the other finds what is wrong, or waits.
                Ok(None) | Err(_) => {}
            }
        }
        let mut granted = Vec::with_capacity(requests.len());
        for (place, request) in requests {
            let name = request.name().to_owned();
            // If this returns early, dropping the permits gives them back.
            let permit = request.until(deadline).await;
            granted.push((place, permit.map_err(|error| AcquireAllError { name, error })?));
        }
        Ok(PermitSet::new(granted))
    }
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
                None => return Ok(None),
            }
        }
        Ok(Some(PermitSet::new(granted)))
    }
}

/// Asks for all in one step, without waiting, if the store has such a step.
fn all_at_once<R: Named>(
    seinpaal: &Seinpaal,
    requests: &[(usize, R)],
    deadline: Option<Micros>,
) -> Option<impl Future<Output = Result<Option<PermitSet>, AcquireAllError>> + use<R>> {
    if requests.len() < 2 || seinpaal.handle.store().one_step().is_none() {
        return None;
    }
    let wanted = requests.iter().map(|(_, request)| request.wanted());
    let mut wanted: Vec<Wanted> = wanted.collect::<Result<_, _>>().ok()?;
    for one in &mut wanted {
        one.deadline = one.deadline.into_iter().chain(deadline).min();
    }
    let asked: Vec<_> =
        requests.iter().map(|(at, request)| (*at, request.name().to_owned())).collect();
    let handle = Arc::clone(&seinpaal.handle);
    Some(async move {
        let answers = ask_together(&handle, wanted).await;
        let mut granted = Vec::with_capacity(answers.len());
        let mut is_busy = false;
        for ((place, name), answer) in asked.into_iter().zip(answers) {
            match answer {
                Ok(permit) => granted.push((place, permit)),
                Err(error) if error.is_contention() => is_busy = true,
                Err(error) => return Err(AcquireAllError { name, error }),
            }
        }
        Ok((!is_busy).then(|| PermitSet::new(granted)))
    })
}

/// The requests in the order in which they are made, each with its place in the order it was given in.
fn in_order<R: Named>(requests: Vec<R>) -> Result<Vec<(usize, R)>, AcquireAllError> {
    let mut requests: Vec<_> = requests.into_iter().enumerate().collect();
    requests.sort_by(|(_, one), (_, other)| one.name().cmp(other.name()));
    let wrong = |request: &R, error| AcquireAllError { name: request.name().to_owned(), error };
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

impl PermitSet {
    fn new(mut granted: Vec<(usize, Permit)>) -> Self {
        granted.sort_by_key(|(place, _)| *place);
        Self { permits: granted.into_iter().map(|(_, permit)| permit).collect() }
    }

    /// Returns the permits in the order in which they were asked for.
    #[must_use]
    pub fn permits(&self) -> &[Permit] {
        &self.permits
    }

    /// Returns the permits, each on its own from now on.
    #[must_use]
    pub fn into_permits(self) -> Vec<Permit> {
        self.permits
    }

    /// Whether all are held at this moment.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.permits.iter().all(Permit::is_held)
    }

    /// Returns how long all are certain to be held if the store is not heard from again; `None`: for as long as
    /// this process lives.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        self.permits.iter().filter_map(Permit::remaining).min()
    }

    /// Returns the state of the permit that is worst off.
    #[must_use]
    pub fn state(&self) -> PermitState {
        self.worst().map_or(PermitState::Held, Permit::state)
    }

    /// Returns the permit that is worst off; of several in the same state, the first.
    #[must_use]
    pub fn worst(&self) -> Option<&Permit> {
        self.permits.iter().rev().max_by_key(|permit| permit.state().severity())
    }

    /// Waits until [`state`](Self::state) or [`remaining`](Self::remaining) changes: also after each renewal.
    ///
    /// # Cancel safety
    /// Yes; a change between two calls may be missed, the state is not.
    pub async fn changed(&self) {
        let mut watches: Vec<_> = self.permits.iter().flat_map(Permit::watches).collect();
        if watches.is_empty() {
            return std::future::pending().await;
        }
        drop(select_all(watches.iter_mut().map(|watch| Box::pin(watch.changed()))).await);
    }

    /// Waits until one of them is lost and says how.
    ///
    /// # Cancel safety
    /// Yes.
    pub async fn lost(&self) -> Lost {
        if self.permits.is_empty() {
            return std::future::pending().await;
        }
        select_all(self.permits.iter().map(|permit| Box::pin(permit.lost()))).await.0
    }

    /// Waits until somebody asks that one of the permits be handed over, and returns which, who and
    /// why. See [`Permit::asked`].
    ///
    /// # Cancel safety
    /// Yes: no ask is lost.
    pub async fn asked(&self) -> (&Permit, HandOverAsk) {
        if self.permits.is_empty() {
            return std::future::pending().await;
        }
        let asked = self.permits.iter().map(|permit| Box::pin(permit.asked()));
        let (ask, at, _) = select_all(asked).await;
        (&self.permits[at], ask)
    }

    /// Runs `work` for as long as all are held; drops it when one is lost.
    ///
    /// # Errors
    /// [`Lost`] when one was lost before `work` was done.
    pub async fn while_held<T>(&self, work: impl Future<Output = T>) -> Result<T, Lost> {
        match select(pin!(self.lost()), pin!(work)).await {
            Either::Left((lost, _)) => Err(lost),
            Either::Right((done, _)) => Ok(done),
        }
    }

    /// Gives all of them back and waits until the store has confirmed it.
    ///
    /// # Cancel safety
    /// Once this has been polled all go back, whether or not it is polled again.
    ///
    /// # Errors
    /// [`ReleaseError::NotHeld`] if one had been lost; the others are given back all the same.
    pub async fn release(self) -> Result<(), ReleaseError> {
        let releases = self.permits.into_iter().map(Permit::release);
        futures_util::future::join_all(releases).await.into_iter().collect()
    }
}

impl From<Permit> for PermitSet {
    fn from(permit: Permit) -> Self {
        Self { permits: vec![permit] }
    }
}
