//! The semaphore: a name with a limit.

mod steer;
mod tickets;

use std::time::Duration;

use seinpaal_proto::{Kind, Limit, Name, OnMismatch, Reply, Request, Ticket};
use tokio::sync::oneshot;

use crate::{
    acquire::{Acquire, AcquireOptions, Attach, PROMPT, TryAcquire},
    driver::{self, DriverCommand},
    error::AdminError,
    inspect::Snapshot,
    permit::Permit,
    run::RunError,
    seinpaal::Seinpaal,
    store::StoreError,
};

/// The most holders, and waiters, that [`Semaphore::snapshot`] lists.
const ROWS: u32 = 10_000;
/// How long the store may take to list everything about a name, because there may be thousands of
/// holders.
const LOOK: Duration = Duration::from_secs(30);

/// At most `limit` permits are held at the same time, among all clients that use the same name on
/// the same store.
///
/// A semaphore is cheap to clone. It sends nothing before a request is awaited.
///
/// # Cancel safety
/// Dropping a request for permits, at any point, leaves nothing behind. The changes of the other
/// methods may be made once their future has been polled, whether or not it is polled again.
///
/// ```
/// # futures_executor::block_on(async {
/// let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
/// let api = seinpaal.semaphore("customer 42").limit(2);
/// let (one, two) = (api.acquire().await?, api.acquire().await?);
/// assert!(api.try_acquire().await?.is_none());
/// drop(one);
/// let three = api.acquire().await?;
/// assert!(three.fence() > two.fence());
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Semaphore {
    options: AcquireOptions,
}

impl Semaphore {
    pub(crate) fn new(seinpaal: Seinpaal, kind: Kind, name: &str) -> Self {
        Self {
            options: AcquireOptions {
                seinpaal,
                name: Name::new(name),
                kind,
                limit: kind.limit().map(Limit::get),
                on_mismatch: OnMismatch::Refuse,
                permits: 1,
                wishes: Vec::new(),
                priority: 0,
                ttl: None,
                labels: Vec::new(),
                to_detach: false,
            },
        }
    }

    /// States how many permits exist, from 0 to 1 000 000 000. The first caller that acquires
    /// states the limit for all, and that limit ends with the last holder and waiter. A caller that
    /// states another limit meanwhile is [refused](crate::AcquireError::OtherLimit), unless
    /// [`on_mismatch`](Self::on_mismatch) sets another rule. If an operator has
    /// [set](Self::set_limit) a limit, that one is in force instead, without an error. Default: the
    /// limit that others stated, or else 1, which then counts like a stated 1.
    pub fn limit(mut self, limit: u32) -> Self {
        self.options.limit = Some(limit);
        self
    }

    /// Like [`limit`](Self::limit), but any other limit is an
    /// [error](crate::AcquireError::OtherLimit), even one that an operator set.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let licences = seinpaal.semaphore("licences");
    /// licences.set_limit(2).await?;
    /// assert_eq!(licences.clone().limit(5).acquire().await?.limit(), 2);
    /// assert!(licences.limit_exactly(5).acquire().await.is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn limit_exactly(self, limit: u32) -> Self {
        self.limit(limit).on_mismatch(OnMismatch::Exact)
    }

    /// Sets the rule for the case that holders or waiters have stated another limit: refuse (the
    /// default), adopt theirs, or set this one for all.
    pub fn on_mismatch(mut self, on_mismatch: OnMismatch) -> Self {
        self.options.on_mismatch = on_mismatch;
        self
    }

    /// Asks for a permit and waits in line for it. Await the returned request.
    pub fn acquire(&self) -> Acquire {
        Acquire::new(self.options.clone())
    }

    /// Waits for a permit, runs `work` while it is held, and gives it back. [`Acquire::run`] does
    /// the same for a request with a timeout or other options.
    ///
    /// # Cancel safety
    /// As [`Acquire::run`].
    ///
    /// # Errors
    /// As [`Acquire::run`].
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let gpus = seinpaal.semaphore("gpus").limit(4);
    /// let slot = gpus.run(async |permit| permit.slot()).await?;
    /// assert_eq!(slot, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn run<T>(&self, work: impl AsyncFnOnce(&Permit) -> T) -> Result<T, RunError> {
        self.acquire().run(work).await
    }

    /// Asks for a permit and does not wait for it. Await the returned request.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let nightly = seinpaal.semaphore("nightly");
    /// if let Some(_permit) = nightly.try_acquire().await? {
    ///     println!("nobody else is at it");
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn try_acquire(&self) -> TryAcquire {
        TryAcquire::new(self.options.clone())
    }

    /// Becomes the holder of a ticket that was [detached](crate::Permit::detach), perhaps by
    /// another process. If another client still holds the ticket, that client loses it and hears
    /// so.
    ///
    /// A permit has the kind of the lock through which it was attached. So attach to the ticket of
    /// a writer of an [`RwLock`](crate::RwLock) through
    /// [`RwLock::as_semaphore`](crate::RwLock::as_semaphore); otherwise it cannot be
    /// [downgraded](crate::Permit::downgrade).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// use std::time::Duration;
    ///
    /// let gpus = seinpaal.semaphore("gpus").limit(4);
    /// let permit = gpus.acquire().ttl(Duration::from_secs(60)).await?;
    /// let ticket = permit.detach().await?.ticket; // give it to another process
    /// let permit = gpus.attach(ticket).await?; // there
    /// assert_eq!(permit.ticket(), ticket);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn attach(&self, ticket: Ticket) -> Attach {
        Attach::new(self.options.clone(), ticket)
    }

    /// Reads the limit in force. If none was set or stated, it is the [limit](Self::limit) of this
    /// semaphore, or else 1.
    ///
    /// # Cancel safety
    /// Yes. The call only reads.
    ///
    /// # Errors
    /// [`AdminError`] for a bad name or a store that does not answer within 30 s.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let gpus = seinpaal.semaphore("gpus").limit(4);
    /// let _permit = gpus.acquire().await?;
    /// assert_eq!(gpus.stored_limit().await?, 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn stored_limit(&self) -> Result<u32, AdminError> {
        Ok(self.inspect(0).await?.limit)
    }

    /// Reads the state and the totals of the name, and lists at most `rows` holders and as many
    /// waiters. So it costs the store the same however many there are.
    ///
    /// # Cancel safety
    /// Yes. The call only reads.
    ///
    /// # Errors
    /// As [`snapshot`](Self::snapshot).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let seen = seinpaal.semaphore("gpus").summary(1).await?;
    /// assert_eq!((seen.holders_total, seen.is_pinned), (0, false));
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn summary(&self, rows: u32) -> Result<Snapshot, AdminError> {
        self.inspect(rows).await
    }

    /// Reads everything about the name. It lists at most 10 000 holders and 10 000 waiters.
    ///
    /// # Cancel safety
    /// Yes. The call only reads.
    ///
    /// # Errors
    /// [`AdminError`] for a bad name or a store that does not answer within 30 s.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let gpus = seinpaal.semaphore("gpus").limit(4);
    /// let _permit = gpus.acquire().label("job", "42").await?;
    /// for holder in gpus.snapshot().await?.holders {
    ///     println!("{} has held slots {} for {:?}", holder.about.host, holder.slots, holder.held_for);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn snapshot(&self) -> Result<Snapshot, AdminError> {
        self.inspect(ROWS).await
    }

    async fn inspect(&self, rows: u32) -> Result<Snapshot, AdminError> {
        let Reply::Snapshot(snapshot) = self.ask(Request::Inspect { rows }, false).await? else {
            return Err(misfit());
        };
        let mut seen = Snapshot::new(&self.options.name.clone()?, snapshot);
        // Nobody has stated a limit, so ours is the one that the next acquire will find.
        if let Some(limit) = self.options.limit
            && !seen.is_pinned
            && seen.stated_limit.is_none()
        {
            seen.limit = limit;
        }
        Ok(seen)
    }

    /// Sends a request about the name. With `as_nobody` it carries no inbox, like an operator's
    /// request. The ledger lets an operator end any grant and renew a detached one, but lets a
    /// client end only its own.
    async fn ask(&self, request: Request, as_nobody: bool) -> Result<Reply, AdminError> {
        let name = self.options.name.clone()?;
        let handle = &self.options.seinpaal.handle;
        let timeout = if matches!(request, Request::Inspect { .. }) { LOOK } else { PROMPT };
        let (reply, answer) = oneshot::channel();
        let request = Box::new(request);
        handle.send(DriverCommand::OneOff { name, request, as_nobody, timeout, reply });
        Ok(answer.await.map_err(|_| handle.gone())??)
    }
}

fn misfit() -> AdminError {
    let error: StoreError = driver::misfit();
    error.into()
}
