//! The semaphore: a name with a limit.

use std::time::Duration;

use seinpaal_proto::{
    AskHolder, Configure, HandOverAsk, Kind, LeaseId, Limit, Name, OnMismatch, Renew, Reply,
    Request, SlotNames, Ticket, TicketReply, Whom, time,
};
use tokio::sync::oneshot;

use crate::{
    acquire::{Acquire, AcquireOptions, Attach, PROMPT, TryAcquire},
    driver::{self, Command},
    error::{AdminError, BadSetting},
    inspect::Snapshot,
    permit::Permit,
    run::RunError,
    seinpaal::Seinpaal,
    store::StoreError,
};

/// The most holders, and waiters, that [`Semaphore::snapshot`] lists.
const ROWS: u32 = 10_000;
/// How long the store may take to list everything about a name, which may be much.
const LOOK: Duration = Duration::from_secs(30);
/// The longest reason for a pause, in bytes.
const MAX_REASON_BYTES: usize = 512;

/// At most `limit` permits are held at once, by anybody who uses the same name on the same store.
///
/// Cheap to clone. Nothing is sent before something is awaited.
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
    /// states the limit for all, and it goes with the last holder and waiter. Whoever says
    /// otherwise meanwhile is [refused](crate::AcquireError::OtherLimit), unless
    /// [`on_mismatch`](Self::on_mismatch) says what to do. A limit that an operator
    /// [set](Self::set_limit) is in force before it, without an error. Default: what the others
    /// stated, else 1, which then counts like a stated 1.
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

    /// Says what to do when those who hold or wait stated another limit: refuse (default), adopt theirs, or set this one.
    pub fn on_mismatch(mut self, on_mismatch: OnMismatch) -> Self {
        self.options.on_mismatch = on_mismatch;
        self
    }

    /// Asks for a permit and waits in line for it. Await what is returned.
    pub fn acquire(&self) -> Acquire {
        Acquire::new(self.options.clone())
    }

    /// Waits for a permit, runs `work` while it is held, and gives it back. See [`Acquire::run`], which takes a timeout
    /// and the like.
    ///
    /// # Errors
    /// As there.
    pub async fn run<T>(&self, work: impl AsyncFnOnce(&Permit) -> T) -> Result<T, RunError> {
        self.acquire().run(work).await
    }

    /// Asks for a permit and does not wait for it. Await what is returned.
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

    /// Becomes the holder of a ticket that was [detached](crate::Permit::detach), perhaps by another process. If
    /// its holder still keeps it, it is taken from that holder.
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

    /// Reads the limit in force; 1 where nobody has set or stated one.
    ///
    /// # Errors
    /// [`AdminError`] for a bad name or a store that does not answer.
    pub async fn stored_limit(&self) -> Result<u32, AdminError> {
        Ok(self.inspect(0).await?.limit)
    }

    /// Sets the limit, 0 to 1 000 000 000, as an operator: it is in force whatever callers state,
    /// and stays until it is [unset](Self::unset_limit), also when nobody uses the name. If more
    /// permits are held than the new limit, no holder is ended, and nobody new gets in until the
    /// limit is kept again. 0 admits nobody.
    ///
    /// # Errors
    /// [`AdminError::FixedLimit`] for a mutex or a readers-writer lock; [`AdminError`] for bad input or a store
    /// that does not answer (then it may have happened).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let gpus = seinpaal.semaphore("gpus");
    /// gpus.set_limit(2).await?;
    /// assert_eq!(gpus.stored_limit().await?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn set_limit(&self, limit: u32) -> Result<(), AdminError> {
        self.configure(Configure::Limit(Limit::new(limit)?)).await
    }

    /// Gives the slots names, from slot 0 up, and sets the limit to the number of names as [`set_limit`](Self::set_limit)
    /// does: 1 to 1000 different names of 1 to 64 bytes, without commas and control characters, which neither begin nor
    /// end with a space. A permit then [says](Permit::slot_name) what its slot is called, and a request can
    /// [wish](Acquire::slot) for one. While anybody holds or waits, names can only be added at the end; a limit that is
    /// set or unset takes the names away.
    ///
    /// # Errors
    /// [`AdminError::SlotsInUse`] while somebody goes by other names; a quorum keeps no names and is an
    /// [`AdminError::Store`]; as [`set_limit`](Self::set_limit).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let boards = seinpaal.semaphore("boards");
    /// boards.name_slots(["GPU-0", "GPU-1", "board-b"]).await?;
    /// assert_eq!(boards.stored_limit().await?, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn name_slots<N: Into<String>>(
        &self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<(), AdminError> {
        let names = SlotNames::new(names).map_err(BadSetting::from)?;
        self.configure(Configure::Slots(names)).await
    }

    /// Lets go of a limit that was [set](Self::set_limit), at once: what those who hold or wait stated is in force, else
    /// 1, and whoever fits is let in.
    ///
    /// # Errors
    /// As [`set_limit`](Self::set_limit).
    pub async fn unset_limit(&self) -> Result<(), AdminError> {
        self.configure(Configure::Unpin).await
    }

    /// Admits nobody until [`resume`](Self::resume). Holders keep their permits. People who look at
    /// the name see `reason`, at most 512 bytes.
    ///
    /// # Errors
    /// As [`set_limit`](Self::set_limit).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let gpus = seinpaal.semaphore("gpus");
    /// gpus.pause("driver update").await?;
    /// assert!(gpus.try_acquire().await?.is_none());
    /// gpus.resume().await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn pause(&self, reason: &str) -> Result<(), AdminError> {
        if reason.len() > MAX_REASON_BYTES || reason.chars().any(char::is_control) {
            return Err(BadSetting::Reason.into());
        }
        self.configure(Configure::Pause(reason.to_owned())).await
    }

    /// Admits again.
    ///
    /// # Errors
    /// As [`set_limit`](Self::set_limit).
    pub async fn resume(&self) -> Result<(), AdminError> {
        self.configure(Configure::Resume).await
    }

    /// Ends somebody's lease or place in the queue. Its owner learns of it at once.
    ///
    /// # Errors
    /// [`AdminError::Unknown`] if the ticket neither holds nor waits here; as [`set_limit`](Self::set_limit).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let gpus = seinpaal.semaphore("gpus");
    /// let permit = gpus.acquire().await?;
    /// gpus.evict(permit.ticket()).await?;
    /// println!("lost: {}", permit.lost().await);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn evict(&self, ticket: Ticket) -> Result<(), AdminError> {
        match self.ask(Request::Evict { ticket }, false).await? {
            Reply::Evicted { .. } => Ok(()),
            Reply::Unknown { .. } => Err(AdminError::Unknown(ticket)),
            _ => Err(misfit()),
        }
    }

    /// Asks the holder of a ticket to hand over, and says who asks and why. Nothing is ended: the
    /// holder [is told](crate::Permit::asked), by its next renewal at the latest, and people who
    /// look at the name see it. `by` has 1 to 128 bytes and `reason` 1 to 512, without control
    /// characters. The same ask again is the same ask; of one grant the last 8 are kept.
    ///
    /// # Errors
    /// [`AdminError::Waits`] for a ticket that waits; [`AdminError::Unknown`] or
    /// [`AdminError::Ended`] for one that neither holds nor waits; [`AdminError::Setting`] for bad
    /// input; [`AdminError::Store`] on a quorum, which cannot do this yet.
    pub async fn ask_holder(
        &self,
        ticket: Ticket,
        by: &str,
        reason: &str,
    ) -> Result<(), AdminError> {
        let ask = HandOverAsk::new(by, reason).map_err(BadSetting::Ask)?;
        // The session draws the lease.
        let request = AskHolder { ticket, lease: LeaseId::from(ticket), ask };
        match self.ask(Request::AskHolder(request), true).await? {
            Reply::Asked { .. } => Ok(()),
            Reply::Queued { .. } => Err(AdminError::Waits(ticket)),
            Reply::Ended { cause, .. } => Err(AdminError::Ended(cause.into())),
            Reply::Unknown { .. } => Err(AdminError::Unknown(ticket)),
            _ => Err(misfit()),
        }
    }

    /// Reads everything about the name; of holders and waiters at most 10 000 each.
    ///
    /// # Errors
    /// [`AdminError`] for a bad name or a store that does not answer.
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

    /// Extends the lease of a detached ticket to `ttl` (100 ms to 24 h) from now, and says how long it lasts;
    /// `None`: for as long as its process lives.
    ///
    /// # Errors
    /// [`AdminError::Unknown`] or [`AdminError::Ended`] if it is not held; as [`set_limit`](Self::set_limit).
    pub async fn renew_ticket(
        &self,
        ticket: Ticket,
        ttl: Duration,
    ) -> Result<Option<Duration>, AdminError> {
        let ttl = self.options.seinpaal.checked_ttl(ttl)?;
        let whom = Whom::Tickets(vec![ticket]);
        let renew = Renew { lease: LeaseId::from(ticket), ttl, margin: time::margin(ttl), whom };
        let reply = self.ask(Request::Renew(renew), true).await?;
        let Reply::Tickets { valid_for, tickets } = reply else { return Err(misfit()) };
        match tickets.first() {
            Some(TicketReply::Held { .. }) => Ok(valid_for.map(Duration::from_micros)),
            Some(TicketReply::Ended(cause)) => Err(AdminError::Ended((*cause).into())),
            _ => Err(AdminError::Unknown(ticket)),
        }
    }

    /// Gives back a ticket's permits, whoever holds it.
    ///
    /// # Errors
    /// [`AdminError::Unknown`] or [`AdminError::Ended`] if it is not held, and then nothing changes; as
    /// [`set_limit`](Self::set_limit).
    pub async fn release_ticket(&self, ticket: Ticket) -> Result<(), AdminError> {
        match self.ask(Request::Release { ticket, slots: None }, true).await? {
            Reply::Released { .. } => Ok(()),
            Reply::Ended { cause, .. } => Err(AdminError::Ended(cause.into())),
            Reply::Unknown { .. } => Err(AdminError::Unknown(ticket)),
            _ => Err(misfit()),
        }
    }

    async fn inspect(&self, rows: u32) -> Result<Snapshot, AdminError> {
        let Reply::Snapshot(snapshot) = self.ask(Request::Inspect { rows }, false).await? else {
            return Err(misfit());
        };
        Ok(Snapshot::new(&self.options.name.clone()?, snapshot))
    }

    async fn configure(&self, change: Configure) -> Result<(), AdminError> {
        match self.ask(Request::Configure(change), false).await? {
            Reply::Configured { .. } => Ok(()),
            Reply::OtherKind { stored, .. } => Err(AdminError::FixedLimit(stored)),
            Reply::SlotsInUse { names } => Err(AdminError::SlotsInUse { names }),
            _ => Err(misfit()),
        }
    }

    async fn ask(&self, request: Request, as_nobody: bool) -> Result<Reply, AdminError> {
        let name = self.options.name.clone()?;
        let handle = &self.options.seinpaal.handle;
        let timeout = if matches!(request, Request::Inspect { .. }) { LOOK } else { PROMPT };
        let (reply, answer) = oneshot::channel();
        let request = Box::new(request);
        handle.send(Command::Ask { name, request, as_nobody, timeout, reply });
        Ok(answer.await.map_err(|_| handle.gone())??)
    }
}

fn misfit() -> AdminError {
    let error: StoreError = driver::misfit();
    error.into()
}
