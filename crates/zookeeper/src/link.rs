//! A session with the ensemble: how it is opened, and the few requests that the store makes in it.

use std::{collections::BTreeSet, future::Future, sync::Arc, time::Duration};

use futures_util::future::join_all;
use seinpaal_proto::{Inbox, Name};
use tokio::time::{Instant, sleep, timeout};
use zookeeper_client::{Acls, Client, CreateMode, CreateOptions, Error, OneshotWatcher, Stat};

use super::{error, paths::Paths, time::LeaderTime};
use seinpaal_store::{Certainty, StoreError, url::ZookeeperUrl};

/// The session time-out to ask for.
const SESSION: Duration = Duration::from_secs(40);
/// How long connecting may take if the URL does not say.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The pause between two tries to connect.
const PAUSE: Duration = Duration::from_millis(100);

/// The servers to connect to, and the user to connect as.
#[derive(Debug)]
pub(super) struct SessionOptions {
    pub(super) url: ZookeeperUrl,
    pub(super) paths: Paths,
    pub(super) inbox: Inbox,
}

/// A session. The connection under it comes and goes. When the session expires, another
/// [`SessionLink`] takes its place.
#[derive(Debug)]
pub(super) struct SessionLink {
    pub(super) client: Client,
    pub(super) options: Arc<SessionOptions>,
    pub(super) time: LeaderTime,
}

impl SessionOptions {
    pub(super) fn shown(&self) -> String {
        self.url.to_string()
    }

    /// Returns the rights on znodes. They are the rights of the user who has logged in, or else of
    /// everybody.
    pub(super) fn acls(&self) -> Acls<'static> {
        if self.url.login.is_some() { Acls::creator_all() } else { Acls::anyone_all() }
    }

    pub(super) fn persistent(&self) -> CreateOptions<'static> {
        CreateMode::Persistent.with_acls(self.acls())
    }

    /// Returns the session time-out to ask for.
    pub(super) fn session(&self) -> Duration {
        self.url.session.unwrap_or(SESSION)
    }

    async fn connect(&self) -> Result<Client, Error> {
        // The connector fails at the first error, because `open` tries again by itself. Otherwise
        // the library would go on trying until the session's time-out is over.
        let mut connector =
            Client::connector().with_session_timeout(self.session()).with_fail_eagerly();
        if let Some((user, password)) = &self.url.login {
            let login = format!("{user}:{}", password.reveal());
            connector = connector.with_auth("digest", login.as_bytes());
        }
        connector.connect(&self.url.servers()).await
    }
}

impl SessionLink {
    /// Opens a session and makes the znodes that are missing under the root. An ensemble that is
    /// choosing its leader has `connect-timeout` to do so.
    pub(super) async fn open(options: &Arc<SessionOptions>) -> Result<Self, StoreError> {
        let limit = options.url.connect_timeout.unwrap_or(CONNECT_TIMEOUT);
        let deadline = Instant::now() + limit;
        loop {
            let opened = timeout(limit, Self::try_open(options)).await;
            match opened.unwrap_or(Err(Error::Timeout)) {
                Ok(link) => return Ok(link),
                // The caller gets the last error and no time-out, because that error says why.
                Err(error) if is_final(&error) || Instant::now() + PAUSE > deadline => {
                    return Err(error::of_read(&error, &options.shown()));
                }
                Err(_) => sleep(PAUSE).await,
            }
        }
    }

    async fn try_open(options: &Arc<SessionOptions>) -> Result<Self, Error> {
        let client = options.connect().await?;
        let link = Self { client, options: Arc::clone(options), time: LeaderTime::default() };
        link.make_folders().await?;
        Ok(link)
    }

    async fn make_folders(&self) -> Result<(), Error> {
        for folder in self.options.paths.folders() {
            if self.client.check_stat(&folder).await?.is_none() {
                match self.client.create(&folder, b"", &self.options.persistent()).await {
                    // Another client may have made it in between.
                    Ok(_) | Err(Error::NodeExists) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        // A client that may not read here learns that now, and not at the first call.
        self.client.get_data(&self.options.paths.floor()).await.map(drop)
    }

    /// Makes this client's inbox, which shows that the client lives. An inbox that an earlier
    /// session of this client has left is removed first.
    pub(super) async fn appear(&self) -> Result<(), StoreError> {
        let path = self.options.paths.inbox(self.options.inbox);
        let options = CreateMode::Ephemeral.with_acls(self.options.acls());
        let made = match self.client.create(&path, b"", &options).await {
            Err(Error::NodeExists) => {
                self.disappear().await?;
                self.client.create(&path, b"", &options).await
            }
            made => made,
        };
        made.map(|(stat, _)| self.time.learn(&stat)).map_err(|error| self.failed(&error))
    }

    /// Removes this client's inbox.
    pub(super) async fn disappear(&self) -> Result<(), StoreError> {
        match self.client.delete(&self.options.paths.inbox(self.options.inbox), None).await {
            Ok(()) | Err(Error::NoNode) => Ok(()),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Returns how long a request may take: half of the session's time-out, so that some of the
    /// session is left if the answer does not come.
    pub(super) fn answer_timeout(&self) -> Duration {
        self.client.session_timeout() / 2
    }

    pub(super) fn failed(&self, error: &Error) -> StoreError {
        error::of_read(error, &self.options.shown())
    }

    /// Waits for the answer to a request that writes nothing of importance. The inner error says
    /// that there is no such znode.
    pub(super) async fn read<T>(
        &self,
        request: impl Future<Output = Result<T, Error>>,
    ) -> Result<Result<T, Error>, StoreError> {
        match timeout(self.answer_timeout(), request).await {
            Ok(Err(Error::NoNode)) => Ok(Err(Error::NoNode)),
            Ok(Err(error)) => Err(self.failed(&error)),
            Ok(Ok(answer)) => Ok(Ok(answer)),
            Err(_) => Err(error::no_answer(&self.options.shown(), Certainty::NotExecuted)),
        }
    }

    pub(super) async fn get(&self, path: &str) -> Result<Option<(Vec<u8>, Stat)>, StoreError> {
        Ok(self.read(self.client.get_data(path)).await?.ok())
    }

    /// Asks the leader for the time, by a write on which nothing depends.
    pub(super) async fn ask_time(&self) -> Result<(), StoreError> {
        let path = self.options.paths.clock();
        match self.read(self.client.set_data(&path, b"", None)).await? {
            Ok(stat) => self.time.learn(&stat),
            Err(error) => return Err(self.failed(&error)),
        }
        Ok(())
    }

    /// Returns those of these clients that are gone.
    pub(super) async fn absent(
        &self,
        inboxes: impl Iterator<Item = Inbox>,
    ) -> Result<BTreeSet<Inbox>, StoreError> {
        let looks = inboxes.map(|inbox| async move {
            let path = self.options.paths.inbox(inbox);
            let stat = self.read(self.client.check_stat(&path)).await?;
            let gone = stat.map_err(|error| self.failed(&error))?.is_none();
            Ok::<_, StoreError>(gone.then_some(inbox))
        });
        let found = join_all(looks).await.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Watches a client's inbox. `None`: the client is gone. An inbox has no children, so this
    /// watch goes off only when the inbox disappears, and not when it is written to.
    pub(super) async fn watch(&self, inbox: Inbox) -> Result<Option<OneshotWatcher>, StoreError> {
        let path = self.options.paths.inbox(inbox);
        let watched = self.read(self.client.list_and_watch_children(&path)).await?;
        Ok(watched.ok().map(|(_, watcher)| watcher))
    }

    pub(super) async fn children(&self, path: &str) -> Result<Vec<String>, StoreError> {
        let children = self.read(self.client.list_children(path)).await?;
        children.map_err(|error| self.failed(&error))
    }

    pub(super) fn path(&self, name: &Name) -> String {
        self.options.paths.name(name)
    }
}

/// Returns whether another try at once is of no use.
fn is_final(error: &Error) -> bool {
    matches!(error, Error::NoAuth | Error::AuthFailed | Error::InvalidAcl | Error::BadArguments(_))
}
