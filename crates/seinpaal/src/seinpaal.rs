//! The connection to a store.

mod builder;
mod client;
#[cfg(test)]
mod faults;
mod names;
mod presence;

use std::{sync::Arc, time::Duration};

use seinpaal_proto::{
    Inbox,
    session::SessionConfig,
    time::{MAX_TTL, MIN_TTL, micros},
};

pub use self::builder::Builder;
pub(crate) use self::client::RequestMaker;
use self::client::executable;

use crate::{
    Diagnosis, Examination,
    boottime::ClientClock,
    driver::{self, ConnectionStatistics, Handle, Outage},
    error::{BadSetting, ConnectError, ReleaseError},
    schedule::Schedule,
    store::{
        self, NewsSender, Store, StoreError,
        clock::Clock,
        memory::{MemoryHub, MemoryStore},
    },
};

/// A connection to a store: one session for any number of tasks and names. It is cheap to clone.
///
/// The connection has a thread of its own. So leases are renewed while the program is busy, and
/// futures and permits work on any executor or none. When the last clone and the last permit are
/// dropped, the connection gives everything back in the background, and the drop does not wait. A
/// thread that dropped the last of them waits up to a second for that when the thread ends, so a
/// program may end right after the drop. [`close`](Self::close) gives everything back and reports
/// the result.
///
/// ```
/// # futures_executor::block_on(async {
/// use std::time::Duration;
/// use seinpaal::Seinpaal;
///
/// let seinpaal = Seinpaal::connect("memory:").await?; // or "file:", "redis://localhost"
/// let gpus = seinpaal.semaphore("gpus").limit(4);
/// let permit = gpus.acquire().timeout(Duration::from_secs(10)).await?;
/// println!("slot {}, fence {}", permit.slot(), permit.fence());
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Seinpaal {
    pub(crate) handle: Arc<Handle>,
    pub(crate) client: Arc<RequestMaker>,
}

/// Opens a store that needs no waiting.
type Open = Box<dyn FnOnce(Inbox, NewsSender) -> Arc<dyn Store>>;

impl Seinpaal {
    /// Connects to the store at `url`, with default settings.
    ///
    /// `file:` is this user's store on this machine and needs no server, and `file:///DIR` is
    /// another directory. `memory:` and `memory:LABEL` are only in this process, one store for all
    /// connections with the same label. `redis://HOST` is a Redis or Valkey server,
    /// `redis+sentinel://HOST,HOST/MASTER` the master that these sentinels watch over,
    /// `redis+cluster://HOST,HOST` a cluster, and `redis+quorum://HOST,HOST,HOST` masters that
    /// decide by majority. `zookeeper://HOST,HOST` is an ensemble.
    ///
    /// # Cancel safety
    /// Dropping the future gives the attempt up, and leaves nothing at the store.
    ///
    /// # If the store is unreachable
    /// The attempt ends with an error, on a server after the `connect-timeout` of the URL. It is
    /// not repeated, because the program decides whether to try again.
    ///
    /// # Errors
    /// [`ConnectError`] says in one line what is wrong with the URL or the store.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// assert_eq!(seinpaal.address(), "memory:");
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn connect(url: &str) -> Result<Self, ConnectError> {
        Self::builder(url).connect().await
    }

    /// Opens a store in memory that no other connection can reach, and connects to it. Use it for
    /// tests, and to limit the tasks of one program. The store lasts as long as the connection and
    /// its clones.
    ///
    /// To open two connections to one store in memory, call `connect("memory:LABEL")` twice.
    ///
    /// # Panics
    /// If the system has no more threads, or no random numbers.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// let (one, other) = (seinpaal::Seinpaal::in_memory(), seinpaal::Seinpaal::in_memory());
    /// let _permit = one.mutex("nightly").lock().await?;
    /// assert!(other.mutex("nightly").try_lock().await?.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    #[must_use]
    pub fn in_memory() -> Self {
        Self::own_store(&MemoryHub::new(Clock::System), driver::start_at_once)
    }

    /// Opens a store in memory like [`in_memory`](Self::in_memory), but serves it as a task of the
    /// current tokio runtime, by the clock of that runtime. A test that
    /// [pauses](https://docs.rs/tokio/latest/tokio/time/fn.pause.html) the clock sees timeouts,
    /// renewals and losses in virtual time.
    ///
    /// This is for tests, because leases are renewed only while the runtime is not blocked. Use the
    /// connection only on that runtime, because other runtimes have other clocks.
    ///
    /// # Panics
    /// Outside a tokio runtime with time enabled.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use seinpaal::{AcquireError, Seinpaal};
    ///
    /// # async fn test() -> Result<(), Box<dyn std::error::Error>> {
    /// let nightly = Seinpaal::in_memory_here().mutex("nightly");
    /// let _permit = nightly.lock().await?;
    /// // An hour passes at once.
    /// let refused = nightly.lock().timeout(Duration::from_secs(3600)).await;
    /// assert!(matches!(refused, Err(AcquireError::TimedOut)));
    /// # Ok(()) }
    /// # tokio::runtime::Builder::new_current_thread()
    /// #     .enable_time().start_paused(true).build().unwrap().block_on(test()).unwrap();
    /// ```
    #[must_use]
    pub fn in_memory_here() -> Self {
        Self::in_memory_with_silence().0
    }

    /// Opens a store in memory like [`in_memory_here`](Self::in_memory_here), and returns its hub as
    /// well, which a test can [silence](MemoryHub::set_silent): requests wait or fail then as with a
    /// server that has stopped, and permits come into danger and are lost.
    ///
    /// # Panics
    /// Outside a tokio runtime with time enabled.
    ///
    /// # Examples
    /// ```
    /// use seinpaal::{Lost, PermitState, Seinpaal};
    ///
    /// # async fn test() -> Result<(), Box<dyn std::error::Error>> {
    /// let (seinpaal, store) = Seinpaal::in_memory_with_silence();
    /// let permit = seinpaal.mutex("nightly").lock().await?;
    /// store.set_silent(true);
    /// permit.danger().await;
    /// assert!(permit.is_held());
    /// assert_eq!(permit.lost().await, Lost::Silence);
    /// let refused = seinpaal.mutex("weekly").try_lock().await;
    /// assert!(refused.unwrap_err().is_unavailable());
    ///
    /// store.set_silent(false);
    /// let _permit = seinpaal.mutex("nightly").lock().await?;
    /// # Ok(()) }
    /// # tokio::runtime::Builder::new_current_thread()
    /// #     .enable_time().start_paused(true).build().unwrap().block_on(test()).unwrap();
    /// ```
    #[must_use]
    pub fn in_memory_with_silence() -> (Self, Arc<MemoryHub>) {
        let clock = ClientClock::Tokio(tokio::time::Instant::now());
        let hub = MemoryHub::running_by(clock, Clock::System);
        let seinpaal = Self::own_store(&hub, |open, config, address| {
            driver::start_here(open, config, clock, address)
        });
        (seinpaal, hub)
    }

    fn own_store(
        hub: &Arc<MemoryHub>,
        start: impl FnOnce(Open, SessionConfig, String) -> Result<Arc<Handle>, StoreError>,
    ) -> Self {
        let hub = Arc::clone(hub);
        let open: Open = Box::new(move |inbox, news| MemoryStore::open(&hub, inbox, news));
        let handle = start(open, SessionConfig::default(), "memory:".to_owned());
        let handle = handle.unwrap_or_else(|error| panic!("{error}"));
        Self {
            handle,
            // The user cannot correct the name of an executable, so control characters are left out
            // here. `Builder::client` refuses them.
            client: Arc::new(RequestMaker::own(executable().replace(char::is_control, ""))),
        }
    }

    /// Starts the description of a connection.
    pub fn builder(url: &str) -> Builder {
        Builder::new(url)
    }

    /// Gives back all permits and items, even those still in use, cancels all waits, and waits up
    /// to 10 s until the store has confirmed that.
    ///
    /// Every wait on this connection and its clones ends at once with the error `Closed`, and so
    /// does every later request. Permits and items in hand are [lost](crate::Lost::Closed).
    ///
    /// # Cancel safety
    /// Once this has been polled the connection is closed, whether or not it is polled again.
    ///
    /// # Errors
    /// [`ReleaseError::Unknown`] if the store did not confirm the releases in time. They are then
    /// repeated in the background for as long as a clone of this connection, or a permit, is kept.
    /// [`ReleaseError::Forked`] in a process that was forked from the one that has connected: it
    /// has nothing to give back.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let permit = seinpaal.mutex("nightly").lock().await?;
    /// seinpaal.close().await?;
    /// assert!(!permit.is_held());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn close(&self) -> Result<(), ReleaseError> {
        self.handle.close().await
    }

    /// Returns figures for metrics: counts of this connection's requests, and how many permits it
    /// holds.
    #[must_use]
    pub fn statistics(&self) -> ConnectionStatistics {
        self.handle.statistics()
    }

    /// Returns the address of the store, as its URL without a password.
    #[must_use]
    pub fn address(&self) -> &str {
        self.handle.address()
    }

    /// Returns the times at which permits of this ttl are renewed, in danger and lost if the store
    /// is not heard from again while this connection holds them. A store whose own sessions end
    /// earlier (ZooKeeper) cuts the ttl, but detached permits have the whole of it. With the
    /// embedded store permits last as long as the process, and these times do not apply.
    #[must_use]
    pub fn schedule(&self, ttl: Duration) -> Schedule {
        Schedule::new(self.handle.config().schedule(micros(ttl)))
    }

    /// The ttl in microseconds, if this store can keep its promises for that long.
    pub(crate) fn checked_ttl(&self, ttl: Duration) -> Result<u64, BadSetting> {
        let length = checked_ttl(ttl)?;
        match self.handle.store().longest_ttl() {
            Some(longest) if ttl > longest => Err(BadSetting::OutlastsGuard { ttl, longest }),
            _ => Ok(length),
        }
    }

    /// Returns for how long the store has not answered. `None` means that no request is without an
    /// answer, and that the last one was answered. A store that answers that it has no room counts
    /// as silent. A healthy store shows an outage of some milliseconds now and then. This call
    /// sends nothing, so an outage goes unnoticed while the connection holds nothing and waits for
    /// nothing.
    #[must_use]
    pub fn outage(&self) -> Option<Outage> {
        self.handle.pulse().outage()
    }

    /// Asks the store about itself: its version, what it keeps on disk, how far its clock is from
    /// this machine's, and what should be changed so that its promises hold. Connecting asks none of
    /// this, because most programs only take a permit; `seinpaal doctor` and a service that starts
    /// should. A cluster, a quorum and an ensemble are asked server by server.
    ///
    /// # Cancel safety
    /// Yes. The call only reads.
    ///
    /// # Errors
    /// [`StoreError`] if the store does not answer, or names a right that this user lacks and needs.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// for advice in seinpaal.diagnose().await?.advice {
    ///     eprintln!("{advice}");
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn diagnose(&self) -> Result<Diagnosis, StoreError> {
        let asking =
            self.handle.with_store(|store| Box::pin(async move { store.diagnose().await }));
        asking.await?
    }

    /// Looks at the ledgers that the store keeps, at most `most` names and queues, and returns
    /// their contradictions: totals that do not match the records, a slot with two holders, a
    /// record that cannot be read. A sound ledger has none, so a finding means that another program
    /// has written there, or that Seinpaal made a mistake. This makes one call for each name, and
    /// ends no permit.
    ///
    /// # Cancel safety
    /// Yes. The call only reads.
    ///
    /// # Errors
    /// [`StoreError`] if the store does not answer.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let permit = seinpaal.mutex("looked at").lock().await?;
    /// let seen = seinpaal.examine(1000).await?;
    /// assert!(seen.names >= 1 && seen.is_clean());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn examine(&self, most: usize) -> Result<Examination, StoreError> {
        let examining =
            self.handle.with_store(move |store| Box::pin(async move { store.examine(most).await }));
        examining.await?
    }

    /// Returns the kind and the abilities of this store.
    #[must_use]
    pub fn abilities(&self) -> store::Abilities {
        self.handle.store().abilities()
    }
}

fn checked_ttl(ttl: Duration) -> Result<u64, BadSetting> {
    let length = micros(ttl);
    if (MIN_TTL..=MAX_TTL).contains(&length) { Ok(length) } else { Err(BadSetting::Ttl(ttl)) }
}
