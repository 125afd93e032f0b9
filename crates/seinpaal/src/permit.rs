//! The permit: a guard that holds permits until it is released or dropped.

mod guarded;

use std::{fmt, future::Future, sync::Arc, time::Duration};

use futures_util::future::{Either, select};
use seinpaal_proto::{Fence, HandOverAsk, MOST_READERS, Slots, Ticket};
use tokio::sync::{oneshot, watch};

use crate::{
    driver::{ANSWER, Command, Giving, Grant, Handle, ReleaseReply},
    error::ReleaseError,
    permit_state::{Lost, PermitState},
    request::{Described, request},
};

/// Permits that are held, until this is released or dropped.
///
/// A permit is owned: it can be sent anywhere and kept anywhere, also outside a runtime. Dropping it
/// gives the permits back in the background; [`release`](Self::release) says how that went.
///
/// # If the holder dies
/// On one machine (memory, embedded) the permits are free at once. On a server they are free when
/// the lease ends, after a ttl at most.
///
/// # If the store is unreachable
/// The permit is first in [danger](PermitState::Danger) and then [lost](PermitState::Lost), both
/// before the store lets anybody else in. A program that is stopped or swapped out may learn so
/// late. Give [`fence`](Self::fence) to the resource: only the resource can refuse a holder that is
/// late.
///
/// ```
/// # futures_executor::block_on(async {
/// let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
/// let permit = seinpaal.semaphore("gpus").limit(4).acquire().await?;
/// assert_eq!(permit.slot(), 0);
/// assert!(permit.is_held());
/// permit.release().await?;
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub struct Permit {
    handle: Arc<Handle>,
    parts: Vec<GrantPart>,
}

/// The slots of one grant that a permit has.
#[derive(Clone)]
struct GrantPart {
    grant: Arc<Grant>,
    slots: Slots,
}

/// A permit that was detached.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Detached {
    /// Its ticket: whoever has it can renew, release or attach.
    pub ticket: Ticket,
    /// The number of its grant.
    pub fence: Fence,
    /// Its slots.
    pub slots: Slots,
    /// The limit when it was granted.
    pub limit: u32,
    /// How long it lasts if nobody renews it; `None`: for ever.
    pub valid_for: Option<Duration>,
}

impl Permit {
    pub(crate) fn new(handle: Arc<Handle>, grant: Arc<Grant>) -> Self {
        let slots = grant.slots.clone();
        Self { handle, parts: vec![GrantPart { grant, slots }] }
    }

    /// Returns the ticket of the grant (of the latest, after a merge).
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.latest().ticket
    }

    /// Returns the number of the grant (the highest, after a merge). It grows with every grant of the name
    /// and so, within a slot, with every holder of the slot.
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.latest().fence
    }

    /// Returns the lowest slot held, 0-based.
    #[must_use]
    pub fn slot(&self) -> u32 {
        self.slots().lowest().unwrap_or(0)
    }

    /// Returns all slots held: as many as permits.
    #[must_use]
    pub fn slots(&self) -> Slots {
        let mut slots = Slots::none();
        self.parts.iter().for_each(|part| slots.extend(&part.slots));
        slots
    }

    /// Returns what the lowest slot held is called; `None` where the slots of the name had no
    /// [names](crate::Semaphore::name_slots) at the grant.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let boards = seinpaal.semaphore("boards");
    /// boards.name_slots(["GPU-0", "GPU-1", "board-b"]).await?;
    /// let permit = boards.acquire().slot("board-b").await?;
    /// assert_eq!(permit.slot_name(), Some("board-b"));
    /// assert_eq!(boards.acquire().await?.slot_name(), Some("GPU-0"));
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    #[must_use]
    pub fn slot_name(&self) -> Option<&str> {
        self.name_of(self.slot())
    }

    /// Returns what all slots held are called, in ascending order of the slots; nothing where the slots of the name had
    /// no names at the grant.
    #[must_use]
    pub fn slot_names(&self) -> Vec<&str> {
        // A writer has a thousand million slots.
        if self.parts.iter().all(|part| part.grant.names.is_empty()) {
            return Vec::new();
        }
        self.slots().iter().filter_map(|slot| self.name_of(slot)).collect()
    }

    fn name_of(&self, slot: u32) -> Option<&str> {
        let one = Slots::range(slot, slot);
        let part = self.parts.iter().find(|part| part.slots.contains(&one))?;
        part.grant.name_of(slot)
    }

    /// Returns how many permits this is.
    #[must_use]
    pub fn permits(&self) -> u32 {
        self.slots().count()
    }

    /// Returns the limit that was in force at the grant.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.latest().limit
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.latest().name.as_str()
    }

    /// Whether the permits are held at this moment, by the clock and not by what a task last noted.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.parts.iter().all(|part| part.grant.is_held())
    }

    /// Returns how long the permits are certain to be held if the store is not heard from again; `None`: for
    /// as long as this process lives.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        self.parts.iter().filter_map(|part| part.grant.remaining()).min()
    }

    /// Returns how the permits stand.
    #[must_use]
    pub fn state(&self) -> PermitState {
        if !self.is_held() && !matches!(self.noted(), PermitState::Lost(_)) {
            return PermitState::Lost(Lost::Silence);
        }
        self.noted()
    }

    /// Waits until [`state`](Self::state) or [`remaining`](Self::remaining) changes: also after each renewal.
    ///
    /// # Cancel safety
    /// Yes; a change between two calls may be missed, the state is not.
    pub async fn changed(&self) {
        let mut watches = self.watches();
        let changes = watches.iter_mut().map(|watch| Box::pin(watch.changed()));
        drop(futures_util::future::select_all(changes).await);
    }

    /// Waits until the permits are in danger or lost.
    ///
    /// # Cancel safety
    /// Yes.
    pub async fn danger(&self) {
        self.until(|state| state != PermitState::Held).await;
    }

    /// Waits until somebody [asks](crate::Semaphore::ask_holder) that the permits be handed over,
    /// and returns who and why. The permits stay held: the holder decides. Every ask is returned
    /// once, also one that came while nobody waited here.
    ///
    /// # Cancel safety
    /// Yes: no ask is lost.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::in_memory();
    /// let gpus = seinpaal.semaphore("gpus");
    /// let permit = gpus.acquire().await?;
    /// gpus.ask_holder(permit.ticket(), "eve@build7", "a release is due").await?;
    /// let ask = permit.asked().await;
    /// assert_eq!((ask.by(), ask.reason()), ("eve@build7", "a release is due"));
    /// assert!(permit.is_held());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn asked(&self) -> HandOverAsk {
        let asked = self.parts.iter().map(|part| Box::pin(part.grant.asked()));
        futures_util::future::select_all(asked).await.0
    }

    /// Waits until the permits are lost and returns how. A program that was stopped may get this
    /// answer late. [`is_held`](Self::is_held) is never late.
    ///
    /// # Cancel safety
    /// Yes.
    pub async fn lost(&self) -> Lost {
        match self.until(|state| matches!(state, PermitState::Lost(_))).await {
            PermitState::Lost(lost) => lost,
            _ => Lost::Silence,
        }
    }

    /// Runs `work` for as long as the permits are held; drops it when they are lost.
    ///
    /// # Errors
    /// [`Lost`] when the permits were lost before `work` was done.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let permit = seinpaal.semaphore("report").acquire().await?;
    /// match permit.while_held(async { "written" }).await {
    ///     Ok(done) => println!("{done}"),
    ///     Err(lost) => println!("stopped: {lost}"),
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn while_held<T>(&self, work: impl Future<Output = T>) -> Result<T, Lost> {
        let (work, lost) = (std::pin::pin!(work), std::pin::pin!(self.lost()));
        match select(lost, work).await {
            Either::Left((lost, _)) => Err(lost),
            Either::Right((done, _)) => Ok(done),
        }
    }

    /// Splits off `permits` of them, the lowest slots first, as a permit of their own.
    ///
    /// Returns `None` and changes nothing unless 0 < `permits` < [`permits`](Self::permits).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let mut permit = seinpaal.semaphore("pool").limit(5).acquire().permits(5).await?;
    /// let two = permit.split(2).expect("two of five");
    /// assert_eq!((two.permits(), permit.permits()), (2, 3));
    /// permit.merge(two);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    #[must_use]
    pub fn split(&mut self, permits: u32) -> Option<Self> {
        if permits == 0 || permits >= self.permits() {
            return None;
        }
        let mut lowest = self.slots().split_lowest(permits);
        let mut parts = Vec::new();
        for part in &mut self.parts {
            let slots = part.slots.take(&lowest);
            lowest.take(&slots);
            if !slots.is_empty() {
                parts.push(GrantPart { grant: Arc::clone(&part.grant), slots });
            }
        }
        self.parts.retain(|part| !part.slots.is_empty());
        Some(Self { handle: Arc::clone(&self.handle), parts })
    }

    /// Makes one permit of two.
    ///
    /// # Panics
    /// If `other` is of another name or connection.
    pub fn merge(&mut self, mut other: Self) {
        let same = Arc::ptr_eq(&self.handle, &other.handle) && self.name() == other.name();
        assert!(same, "permits of different names or connections cannot be merged");
        for theirs in std::mem::take(&mut other.parts) {
            let ours = self.parts.iter_mut().find(|part| Arc::ptr_eq(&part.grant, &theirs.grant));
            match ours {
                Some(ours) => ours.slots.extend(&theirs.slots),
                None => self.parts.push(theirs),
            }
        }
    }

    /// Gives the permits back. Await what is returned, which says how that went.
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

    /// Leaves the permits held and gives up the guard. The lease lasts for its ttl once more, even
    /// if this process ends, and belongs to whoever has the ticket. See
    /// [`Semaphore::attach`](crate::Semaphore::attach). Say so with the request
    /// ([`to_detach`](crate::Acquire::to_detach)) if nobody will attach soon: otherwise the holder
    /// is shown as one that may be dead, once half of the ttl has gone.
    ///
    /// # Errors
    /// [`ReleaseError::NotWhole`] for a permit that was split or merged (it is released);
    /// [`ReleaseError::NotHeld`] if it had been lost; [`ReleaseError::Unknown`] if the store does not answer within
    /// 5 s (it is released as soon as the store can be told).
    pub async fn detach(mut self) -> Result<Detached, ReleaseError> {
        if self.parts.len() != 1 || self.parts[0].slots != self.parts[0].grant.slots {
            return Err(ReleaseError::NotWhole);
        }
        let GrantPart { grant, slots } = self.parts.remove(0);
        let (reply, answer) = oneshot::channel();
        let (ticket, fence) = (grant.ticket, grant.fence);
        self.handle.send(Command::Detach { ticket, fence, reply });
        let gone = || Err(self.handle.gone_release());
        let valid_for = answer.await.unwrap_or_else(|_| gone())?.map(Duration::from_micros);
        Ok(Detached { ticket, fence: grant.fence, slots, limit: grant.limit, valid_for })
    }

    /// Turns a writer into a reader, without a moment in which another writer could get in. The
    /// readers behind it are let in, and the permit keeps its ticket and fence. See
    /// [`RwLock`](crate::RwLock).
    ///
    /// A reader cannot become a writer again: two readers that both waited for that would wait for
    /// ever.
    ///
    /// # Cancel safety
    /// As [`release`](Self::release): once this has been polled the writer's permits go back.
    ///
    /// # Errors
    /// [`ReleaseError::NotAWriter`] if this is not the whole permit of a writer (it is released);
    /// [`ReleaseError::NotHeld`] if it had been lost.
    pub async fn downgrade(mut self) -> Result<Self, ReleaseError> {
        if self.permits() != MOST_READERS {
            return Err(ReleaseError::NotAWriter);
        }
        let reader = self.split(1).ok_or(ReleaseError::NotAWriter)?;
        self.release().await?;
        Ok(reader)
    }

    /// A permit has at least one part until it is consumed; the latest has the highest fence.
    fn latest(&self) -> &Grant {
        let latest = self.parts.iter().max_by_key(|part| part.grant.fence);
        &latest.unwrap_or_else(|| unreachable!("a permit always has a part")).grant
    }

    pub(crate) fn watches(&self) -> Vec<watch::Receiver<PermitState>> {
        self.parts.iter().map(|part| part.grant.watch()).collect()
    }

    /// The worst of what the driver has noted of the parts.
    fn noted(&self) -> PermitState {
        let states = self.parts.iter().map(|part| part.grant.noted());
        states.max_by_key(PermitState::severity).unwrap_or(PermitState::Held)
    }

    async fn until(&self, wanted: impl Fn(PermitState) -> bool) -> PermitState {
        loop {
            let mut watches = self.watches();
            let state = self.state();
            if wanted(state) {
                return state;
            }
            let changes = watches.iter_mut().map(|watch| Box::pin(watch.changed()));
            drop(futures_util::future::select_all(changes).await);
        }
    }
}

/// A request to give permits back: a future. Dropping it, at any point, gives them back in the background.
///
/// # Errors
/// [`ReleaseError::NotHeld`] if they had been lost; [`ReleaseError::Unknown`] if the store did not answer within the
/// [timeout](Self::timeout). It is told again in the background then, until the lease must have ended by itself.
#[must_use = "await it to learn how that went; a permit that is dropped is released, too"]
pub struct Release(Described<Releasing, Result<(), ReleaseError>>);

#[derive(Debug)]
struct Releasing {
    permit: Permit,
    timeout: Duration,
}

impl Release {
    /// Sets how long the store may take to confirm it, counted from the first poll. Default 5 s.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self(self.0.with(|it| it.timeout = timeout))
    }
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

request!(Release => Result<(), ReleaseError>);

impl GrantPart {
    fn release(self, timeout: Duration, reply: Option<ReleaseReply>) -> Command {
        let (ticket, fence) = (self.grant.ticket, self.grant.fence);
        Command::Release(Giving { ticket, fence, slots: self.slots, timeout, reply })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        for part in std::mem::take(&mut self.parts) {
            self.handle.send(part.release(ANSWER, None));
        }
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("name", &self.name())
            .field("slots", &self.slots())
            .field("fence", &self.fence())
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
