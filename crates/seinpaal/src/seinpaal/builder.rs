//! The description of a connection, before it is made.

use std::{sync::Arc, time::Duration};

use seinpaal_proto::{
    Inbox,
    session::{JumpBound, SessionConfig},
    time::micros,
};

use super::{RequestMaker, Seinpaal, checked_ttl};
use tokio::task::JoinHandle;

use crate::{
    driver::{self, Handle},
    error::{BadSetting, ConnectError},
    store::{
        self, NewsSender,
        url::{RestartGuard, StoreUrl},
    },
};

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

impl Builder {
    pub(super) fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            client: None,
            ttl: Duration::from_secs(30),
            patience: Duration::from_secs(30),
            restart_guard: None,
            replicated: None,
        }
    }

    /// Names the program, as shown to people who look at holders and waiters. Default: the file
    /// name of the executable.
    pub fn client(mut self, name: &str) -> Self {
        self.client = Some(name.to_owned());
        self
    }

    /// Sets how long leases last without renewal, 100 ms to 24 h. Default 30 s. A lease is renewed
    /// at a third of that time.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Sets how long the store may be silent before acquires fail. Default 30 s. An acquire that
    /// stands in line already waits on, until its own timeout.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets for how long a server that may have lost its memory admits nobody, like
    /// `restart-guard=` in the URL. The guard should be a quarter longer than the longest ttl, and
    /// the same for all clients. For Redis only.
    pub fn restart_guard(mut self, guard: Duration) -> Self {
        self.restart_guard = Some(guard);
        self
    }

    /// Counts a grant only when this many replicas have it, at least 1. This overrides the option
    /// `replicated` of the store URL. A grant survives every fail-over only if the number is that
    /// of all replicas, because otherwise a replica without the grant may become the master. For
    /// Redis only.
    pub fn replicated(mut self, replicas: u32) -> Self {
        self.replicated = Some(replicas);
        self
    }

    /// Connects.
    ///
    /// # Cancel safety
    /// As [`Seinpaal::connect`].
    ///
    /// # Errors
    /// [`ConnectError`] says in one line what is wrong with the URL, the settings or the store.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// use std::time::Duration;
    ///
    /// let seinpaal = seinpaal::Seinpaal::builder("memory:").ttl(Duration::from_secs(60)).connect().await?;
    /// # drop(seinpaal);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn connect(self) -> Result<Seinpaal, ConnectError> {
        let parts = self.parts()?;
        let handle =
            driver::start(parts.opening(), parts.config.clone(), parts.url.to_string()).await?;
        parts.connected(handle)
    }

    /// Connects as [`connect`](Self::connect) does, for a program that ends with the work that it
    /// is started for. Where leases last as long as the process, the connection has no thread of
    /// its own. It is a task of the current tokio runtime, which must not be blocked. The runtime
    /// has to run until that task has ended, which it does once the last clone and the last permit
    /// are dropped.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    #[doc(hidden)]
    pub async fn connect_here(self) -> Result<(Seinpaal, Option<JoinHandle<()>>), ConnectError> {
        let parts = self.parts()?;
        let (config, address) = (parts.config.clone(), parts.url.to_string());
        if !matches!(parts.url, StoreUrl::Embedded(_)) {
            let handle = driver::start(parts.opening(), config, address).await?;
            return Ok((parts.connected(handle)?, None));
        }
        let (handle, task) =
            driver::start_as_task(parts.opening_until_exit(), config, address).await?;
        Ok((parts.connected(handle)?, Some(task)))
    }

    fn parts(self) -> Result<ConnectionParts, ConnectError> {
        let ttl = checked_ttl(self.ttl)?;
        let client = RequestMaker::new(self.client)?;
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
        let config = SessionConfig {
            ttl,
            patience: micros(self.patience),
            clock_bound: clock_bound(&url),
            ..SessionConfig::default()
        };
        Ok(ConnectionParts { url, config, client, ttl: self.ttl })
    }
}

/// The parts of a connection, after its description was checked.
struct ConnectionParts {
    url: StoreUrl,
    config: SessionConfig,
    client: RequestMaker,
    ttl: Duration,
}

impl ConnectionParts {
    fn opening(&self) -> driver::OpenStore {
        let url = self.url.clone();
        Box::new(move |inbox: Inbox, news: NewsSender| store::open(url, inbox, news))
    }

    fn opening_until_exit(&self) -> driver::OpenStore {
        let url = self.url.clone();
        Box::new(move |inbox: Inbox, news: NewsSender| store::open_until_exit(url, inbox, news))
    }

    fn connected(self, handle: Arc<Handle>) -> Result<Seinpaal, ConnectError> {
        let seinpaal = Seinpaal { handle, client: Arc::new(self.client) };
        // Only an open store can say how long a lease its restart guard allows.
        seinpaal.checked_ttl(self.ttl)?;
        Ok(seinpaal)
    }
}

fn clock_bound(url: &StoreUrl) -> JumpBound {
    match url.redis_options().and_then(|options| options.clock_bound) {
        Some(store::url::ClockBound::Off) => JumpBound::Off,
        Some(store::url::ClockBound::At(bound)) => JumpBound::Fixed(micros(bound)),
        None => JumpBound::Second,
    }
}
