//! The connection to a store.

#[cfg(test)]
mod faults;
mod names;

use std::{os::fd::BorrowedFd, sync::Arc, time::Duration};

use seinpaal_proto::{
    About, Inbox,
    session::{ClockBound, Config},
    time::{MAX_TTL, MIN_TTL, micros},
};

use crate::{
    Advice, Fact,
    boottime::ClientClock,
    driver::{self, ConnectionStatistics, Handle, Outage},
    error::{BadSetting, ConnectError, ReleaseError},
    schedule::Schedule,
    store::{
        self, ChildRecord, NewsSender, Presence, Store, StoreError,
        clock::Clock,
        memory::{MemoryHub, MemoryStore},
        url::{RestartGuard, StoreUrl},
    },
};

/// A connection to a store: one session, however many tasks and names. Cheap to clone.
///
/// The connection has a thread of its own. So leases are renewed while the program is busy, and
/// futures and permits work on any executor or none. When the last clone and the last permit are
/// dropped, the connection gives everything back in the background, and the drop does not wait. A
/// thread that dropped the last one waits up to a second for that when the thread ends, so a
/// program may end right after the drop. [`close`](Self::close) gives everything back and says how
/// that went.
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
    pub(crate) client: Arc<Client>,
}

/// Opens a store that needs no waiting.
type Open = Box<dyn FnOnce(Inbox, NewsSender) -> Arc<dyn Store>>;

/// What every request of a connection says of its maker.
#[derive(Debug)]
pub(crate) struct Client {
    unlabelled: About,
    /// The same as stores keep it.
    encoded: String,
}

/// How to connect. See [`Seinpaal::builder`].
#[derive(Clone, Debug)]
#[must_use = "nothing is connected before `connect` is awaited"]
pub struct Builder {
    url: String,
    client: Option<String>,
    ttl: Duration,
    patience: Duration,
    restart_guard: Option<Duration>,
    replicated: Option<u32>,
}

impl Seinpaal {
    /// Connects to the store at `url`, with default settings.
    ///
    /// `file:` is this user's store on this machine and needs no server; `file:///DIR` another directory;
    /// `memory:` and `memory:LABEL` are this process only, one store for all who state the same label; `redis://HOST` a Redis or Valkey; `redis+sentinel://HOST,HOST/MASTER`
    /// the master that these sentinels watch over.
    ///
    /// # Errors
    /// [`ConnectError`] says what is wrong with the URL or the store, in one line.
    pub async fn connect(url: &str) -> Result<Self, ConnectError> {
        Self::builder(url).connect().await
    }

    /// Opens a store in memory that nobody else can reach, and connects to it: for tests, and to limit the tasks of one
    /// program. The store lasts as long as the connection and its clones.
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
        Self::own_store(ClientClock::Machine, driver::start_at_once)
    }

    /// Opens a store in memory like [`in_memory`](Self::in_memory), but serves it as a task of the
    /// current tokio runtime, by the clock of that runtime. A test that
    /// [pauses](https://docs.rs/tokio/latest/tokio/time/fn.pause.html) the clock sees timeouts,
    /// renewals and losses in virtual time.
    ///
    /// This is for tests, because leases are renewed only while the runtime is not blocked. Use the
    /// connection on that runtime only, since other runtimes have other clocks.
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
        let clock = ClientClock::Tokio(tokio::time::Instant::now());
        Self::own_store(clock, |open, config, address| {
            driver::start_here(open, config, clock, address)
        })
    }

    fn own_store(
        clock: ClientClock,
        start: impl FnOnce(Open, Config, String) -> Result<Arc<Handle>, StoreError>,
    ) -> Self {
        let open: Open = Box::new(move |inbox, news| {
            let hub = MemoryHub::running_by(clock, Clock::System);
            MemoryStore::open(&hub, inbox, news)
        });
        let handle = start(open, Config::default(), "memory:".to_owned());
        let handle = handle.unwrap_or_else(|error| panic!("{error}"));
        Self { handle, client: Arc::new(Client::own(executable().replace(char::is_control, ""))) }
    }

    /// Starts describing a connection.
    pub fn builder(url: &str) -> Builder {
        Builder {
            url: url.to_owned(),
            client: None,
            ttl: Duration::from_secs(30),
            patience: Duration::from_secs(30),
            restart_guard: None,
            replicated: None,
        }
    }

    /// Gives back all permits and items, also those still in use, cancels all waits, and waits up
    /// to 10 s until the store has confirmed that.
    ///
    /// Every wait on this connection and its clones ends at once with the error `Closed`, and so
    /// does every later request. Permits and items in hand are [lost](crate::Lost::Closed).
    ///
    /// # Cancel safety
    /// Once this has been polled the connection is closed, whether or not it is polled again.
    ///
    /// # Errors
    /// [`ReleaseError::Unknown`] if the store did not confirm it in time. It is told again in the background for as long
    /// as a clone of this connection, or a permit, is kept.
    pub async fn close(&self) -> Result<(), ReleaseError> {
        self.handle.close().await
    }

    /// Returns figures for metrics: what this connection has done so far, and how many permits it
    /// holds.
    #[must_use]
    pub fn statistics(&self) -> ConnectionStatistics {
        self.handle.statistics()
    }

    /// Returns where the store is, as its URL without a password.
    #[must_use]
    pub fn address(&self) -> &str {
        self.handle.address()
    }

    /// Returns the descriptors by which the embedded store sees that this process lives; `None` on
    /// other stores. A child can inherit them, both, if it clears close-on-exec. After this process
    /// is gone, that child counts as the holder of everything that this connection holds. A child
    /// may close them; anything else that it does with them is done to its parent, too.
    #[must_use]
    pub fn presence_fds(&self) -> Option<[BorrowedFd<'_>; 2]> {
        self.handle.store().presence().map(Presence::descriptors)
    }

    /// Puts the child on record that inherits [`presence_fds`](Self::presence_fds). Once this process
    /// and that child are both gone, the permits are free, even if a grandchild has inherited the
    /// descriptors as well.
    ///
    /// # Errors
    /// The record could not be written; then the descriptors alone count.
    pub fn presence_child(&self, pid: u32) -> Result<(), StoreError> {
        self.handle.store().presence().map_or(Ok(()), |sign| sign.record_child(pid))
    }

    /// Prepares the record of [`presence_child`](Self::presence_child) so that the child can sign
    /// it by itself, between fork and exec. The child is then on record before it begins, and the
    /// parent need not learn its process id. `None`: there is nothing to sign at this store, or no
    /// process can be seen from here.
    ///
    /// # Errors
    /// It could not be prepared; then the descriptors alone count.
    pub fn presence_record(&self) -> Result<Option<ChildRecord>, StoreError> {
        self.handle.store().presence().map_or(Ok(None), Presence::child_record)
    }

    /// Takes the child off the record that [`presence_child`](Self::presence_child) put there. Call it before another
    /// child is started: while a record stands, a child that is not on it does not count.
    ///
    /// # Errors
    /// The record could not be removed; start no other child then.
    pub fn presence_childless(&self) -> Result<(), StoreError> {
        self.handle.store().presence().map_or(Ok(()), Presence::forget_child)
    }

    /// Returns what happens when to permits of this ttl if the store is not heard from again, while this connection
    /// holds them. A store whose own sessions end earlier (ZooKeeper) cuts the ttl; detached permits have the whole of
    /// it. On one machine (memory, embedded) permits last as long as the process, and none of this happens.
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

    /// Returns for how long the store has not answered. `None`: no request is without an answer,
    /// and the last one was answered. A store that answers that it has no room counts as not
    /// answering. A healthy store shows an outage of some milliseconds now and then. This asks the
    /// store nothing, so an outage goes unnoticed while nothing is held and nobody waits.
    #[must_use]
    pub fn outage(&self) -> Option<Outage> {
        self.handle.pulse().outage()
    }

    /// Returns what should be changed about the store so that its promises hold, as far as it was seen when this
    /// connected.
    #[must_use]
    pub fn advice(&self) -> Vec<Advice> {
        self.handle.store().advice()
    }

    /// Returns what is known about the store, as it was seen when this connected: its version, what it keeps, how far its
    /// clock is from this machine's. What a server does not say is missing.
    #[must_use]
    pub fn facts(&self) -> Vec<Fact> {
        self.handle.store().facts()
    }

    /// Returns what kind of store this is and what it can do.
    #[must_use]
    pub fn abilities(&self) -> store::Abilities {
        self.handle.store().abilities()
    }
}

impl Builder {
    /// Names the program, as shown to people who look at holders and waiters. Default: the file name of the
    /// executable.
    pub fn client(mut self, name: &str) -> Self {
        self.client = Some(name.to_owned());
        self
    }

    /// Sets how long leases last without renewal, 100 ms to 24 h. Default 30 s; renewed at a third of it.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Sets how long the store may be silent before acquires fail. Default 30 s.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets for how long a server that may have lost its memory admits nobody, as `restart-guard=`
    /// in the URL does. It should be a quarter more than the longest ttl, and the same for all
    /// clients. Redis only.
    pub fn restart_guard(mut self, guard: Duration) -> Self {
        self.restart_guard = Some(guard);
        self
    }

    /// Counts a grant only when this many replicas have it, at least 1, as the option `replicated` of the store
    /// URL does, which this overrides. For certain that is only with all replicas there are
    /// (docs/internals/stores/sentinel.md). Redis only.
    pub fn replicated(mut self, replicas: u32) -> Self {
        self.replicated = Some(replicas);
        self
    }

    /// Connects.
    ///
    /// # Errors
    /// [`ConnectError`] says what is wrong with the URL, the settings or the store, in one line.
    pub async fn connect(self) -> Result<Seinpaal, ConnectError> {
        let ttl = checked_ttl(self.ttl)?;
        let client = Client::new(self.client)?;
        let mut url = StoreUrl::parse(&self.url)?;
        if let Some(length) = self.restart_guard {
            let guard = RestartGuard::new(length).ok_or(BadSetting::Guard(length))?;
            let options = url.redis_options_mut().ok_or(BadSetting::NoGuard)?;
            options.restart_guard = Some(guard);
        }
        if let Some(replicas) = self.replicated {
            let options = url.redis_options_mut().filter(|_| replicas > 0);
            options.ok_or(BadSetting::Replicated(replicas))?.replicated = Some(replicas);
        }
        let config = Config {
            ttl,
            patience: micros(self.patience),
            clock_bound: clock_bound(&url),
            ..Config::default()
        };
        let address = url.to_string();
        let opening = Box::new(move |inbox: Inbox, news: NewsSender| store::open(url, inbox, news));
        let handle = driver::start(opening, config, address).await?;
        let seinpaal = Seinpaal { handle, client: Arc::new(client) };
        seinpaal.checked_ttl(self.ttl)?;
        Ok(seinpaal)
    }
}

impl Client {
    fn new(name: Option<String>) -> Result<Self, BadSetting> {
        let name = name.unwrap_or_else(executable);
        if name.chars().any(char::is_control) {
            return Err(BadSetting::Label(name));
        }
        Ok(Self::own(name))
    }

    fn own(name: String) -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let pid = std::process::id();
        let unlabelled = About { client: name, host, pid, labels: Vec::new() };
        let encoded = unlabelled.encode();
        Self { unlabelled, encoded }
    }

    /// What stores keep of a request with these labels.
    pub(crate) fn about(&self, labels: &[(String, String)]) -> String {
        if labels.is_empty() {
            return self.encoded.clone();
        }
        About { labels: labels.to_vec(), ..self.unlabelled.clone() }.encode()
    }
}

fn executable() -> String {
    let path = std::env::current_exe().ok();
    let name = path.as_deref().and_then(|path| path.file_name());
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn checked_ttl(ttl: Duration) -> Result<u64, BadSetting> {
    let length = micros(ttl);
    if (MIN_TTL..=MAX_TTL).contains(&length) { Ok(length) } else { Err(BadSetting::Ttl(ttl)) }
}

fn clock_bound(url: &StoreUrl) -> ClockBound {
    match url.redis_options().and_then(|options| options.clock_bound) {
        Some(store::url::ClockBound::Off) => ClockBound::Off,
        Some(store::url::ClockBound::At(bound)) => ClockBound::Fixed(micros(bound)),
        None => ClockBound::Quarter,
    }
}
