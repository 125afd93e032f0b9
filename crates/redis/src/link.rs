//! One connection to a server, from the handshake to its loss. A lost connection is never repaired:
//! a new one takes its place.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::StreamExt;
use redis::{
    AsyncConnectionConfig, ErrorKind, ProtocolVersion, PushInfo, PushKind, Value,
    aio::{PubSub, PubSubSink},
};
use seinpaal_proto::Inbox;
use tokio::{sync::Mutex, task::AbortHandle, time::timeout};

use super::{
    endpoint::RedisEndpoint,
    error::{self, LinkFailure},
    keys::Keys,
    replicas::Replicas,
    server::{self, LookedAt, ServerKind},
    transport::{self, CallError, CommandAnswer, Commands, TransportFault},
};
use seinpaal_store::{
    Advice, Fact, News, NewsSender, Reading, StoreError, boottime,
    url::{RedisAddress, RedisUrl},
};

/// How long an answer may take. A coordinated fail-over holds writes back for about a second, and
/// an answer may be that late. With a much longer timeout, a renewal at a third of the default ttl
/// could not be tried again in time.
pub(super) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The most commands that are written with one system call if they are sent at once.
const MOST_WRITTEN_AT_ONCE: usize = 1024;
const LONGEST_WRITE: usize = 64 << 10;

/// How to connect, and where to send wakeups.
pub(super) struct ConnectOptions {
    pub(super) endpoint: RedisEndpoint,
    pub(super) keys: Keys,
    pub(super) inbox: Inbox,
    pub(super) news: NewsSender,
    pub(super) read_news: ReadNews,
    /// How long replicas may take to confirm a write. A call may wait for the confirmation under
    /// way and then for its own, and both must fit into the time that an answer may take.
    pub(super) replication_timeout: Duration,
}

/// Reads a message that was published for this client. `None` if it is not one of ours.
pub type ReadNews = fn(&Keys, Inbox, &[u8]) -> Option<News>;

/// Called, perhaps more than once, when a link is lost.
pub(super) type OnLoss = Arc<dyn Fn() + Send + Sync>;

/// An open connection that has subscribed.
#[derive(Clone)]
pub(super) struct Link {
    pub(super) commands: Commands,
    pub(super) site: Arc<ServerLook>,
    pub(super) heard: Arc<LastHeard>,
    subscriber: Option<Arc<Subscriber>>,
}

/// The findings of a new link about its server.
pub(super) struct ServerLook {
    pub(super) address: RedisAddress,
    pub(super) reading: Reading,
    pub(super) replicas: Replicas,
    /// A line for each thing to change about the server.
    pub(super) advice: Vec<Advice>,
    pub(super) facts: Vec<Fact>,
}

/// When a link was last heard from. A link is heard from when it is opened and when a script is
/// answered.
#[derive(Debug)]
pub(super) struct LastHeard(AtomicU64);

impl Default for LastHeard {
    fn default() -> Self {
        Self(AtomicU64::new(boottime::now()))
    }
}

impl LastHeard {
    pub(super) fn note(&self) {
        self.0.store(boottime::now(), Ordering::Relaxed);
    }

    pub(super) fn was_silent_for(&self, silence: Duration) -> bool {
        let silent = boottime::now().saturating_sub(self.0.load(Ordering::Relaxed));
        Duration::from_micros(silent) >= silence
    }
}

/// A second connection, for a server that refuses RESP3. Over RESP2 a connection that subscribes
/// takes no other commands.
struct Subscriber {
    sink: Mutex<PubSubSink>,
    reader: AbortHandle,
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl ConnectOptions {
    /// The address, without a password.
    pub(super) fn shown(&self) -> String {
        self.endpoint.to_string()
    }

    pub(super) fn subject<'a>(&'a self, shown: &'a str) -> LookedAt<'a> {
        LookedAt::new(shown, ServerKind::Server, &self.keys, self.inbox, self.endpoint.options())
    }

    /// Turns a push into news.
    fn deliver(&self, payload: &[u8]) {
        let Some(news) = (self.read_news)(&self.keys, self.inbox, payload) else { return };
        // When the session is gone, sending fails, and no receiver is left to tell.
        let _ = self.news.send(news);
    }
}

impl Link {
    /// Finds the server, connects, checks it and subscribes, over one connection if the server
    /// speaks RESP3.
    pub(super) async fn open(
        options: &Arc<ConnectOptions>,
        on_loss: OnLoss,
    ) -> Result<Self, StoreError> {
        let url = options.endpoint.find().await?;
        let link = match Self::over_resp3(options, &url, on_loss.clone()).await {
            // Only a server that refuses `HELLO 3` gets a second try. Any other failure would come
            // again.
            Err(LinkFailure::Call(error)) if refuses_resp3(&error) => {
                Self::over_resp2(options, &url, on_loss).await
            }
            other => other,
        };
        link.map_err(|failure| match failure {
            LinkFailure::Call(error) => error::of_connecting(&error, &url.to_string()),
            LinkFailure::Store(error) => error,
        })
    }

    async fn over_resp3(
        options: &Arc<ConnectOptions>,
        url: &RedisUrl,
        on_loss: OnLoss,
    ) -> Result<Self, LinkFailure> {
        let config = config(options).set_push_sender(on_push(options, on_loss));
        let longest_wait = options.endpoint.connect_timeout();
        let mut commands =
            Commands::open(url, ProtocolVersion::RESP3, config, longest_wait).await?;
        let site = ServerLook::look(&mut commands, options, url).await?;
        let subscribed = commands.subscribe(options.keys.channel(options.inbox)).await;
        subscribed.map_err(|refused| refused_inbox(refused, options, url))?;
        Ok(Self { commands, site: Arc::new(site), heard: Arc::default(), subscriber: None })
    }

    async fn over_resp2(
        options: &Arc<ConnectOptions>,
        url: &RedisUrl,
        on_loss: OnLoss,
    ) -> Result<Self, LinkFailure> {
        let (config, longest_wait) = (config(options), options.endpoint.connect_timeout());
        let mut commands =
            Commands::open(url, ProtocolVersion::RESP2, config, longest_wait).await?;
        let site = ServerLook::look(&mut commands, options, url).await?.over_resp2(url);
        let subscribed = timeout(longest_wait, subscribe(url, options, longest_wait)).await;
        let pubsub = subscribed.unwrap_or(Err(TransportFault::Slow.into()));
        let pubsub = pubsub.map_err(|refused| refused_inbox(refused, options, url))?;
        let subscriber = Some(Arc::new(Subscriber::start(pubsub, options.clone(), on_loss)));
        Ok(Self { commands, site: Arc::new(site), heard: Arc::default(), subscriber })
    }

    /// Returns whether the link still answers, on both of its connections if there are two.
    pub(super) async fn is_alive(&mut self) -> bool {
        let ping = redis::cmd("PING");
        let answers = self.commands.send(&ping).await.is_ok();
        answers && self.subscriber_answers().await
    }

    async fn subscriber_answers(&self) -> bool {
        let Some(subscriber) = &self.subscriber else { return true };
        let mut sink = subscriber.sink.lock().await;
        matches!(timeout(RESPONSE_TIMEOUT, sink.ping::<Value>()).await, Ok(Ok(_)))
    }
}

impl ServerLook {
    fn over_resp2(mut self, url: &RedisUrl) -> Self {
        let words = "HELLO 3 is refused, so each client needs a second connection for wakeups: let the server \
                     know HELLO, and allow it +hello";
        self.advice.push(Advice::hint(words).at(&url.to_string()));
        self
    }

    /// Looks at the server, and refuses one that cannot be used.
    async fn look(
        commands: &mut Commands,
        options: &ConnectOptions,
        url: &RedisUrl,
    ) -> Result<Self, LinkFailure> {
        let shown = url.to_string();
        let seen = server::look(commands, &options.subject(&shown)).await??;
        let replicas =
            Replicas::look(commands, &options.endpoint, options.replication_timeout, &shown)
                .await?;
        let advice = [seen.advice, replicas.advice.clone()].concat();
        let (address, facts) = (url.address.clone(), seen.facts);
        Ok(Self { address, reading: seen.reading, replicas, advice, facts })
    }
}

impl Subscriber {
    fn start(pubsub: PubSub, options: Arc<ConnectOptions>, on_loss: OnLoss) -> Self {
        let (sink, mut messages) = pubsub.split();
        let reader = tokio::spawn(async move {
            while let Some(message) = messages.next().await {
                options.deliver(message.get_payload_bytes());
            }
            on_loss();
        });
        Self { sink: Mutex::new(sink), reader: reader.abort_handle() }
    }
}

fn config(options: &ConnectOptions) -> AsyncConnectionConfig {
    AsyncConnectionConfig::new()
        .set_pipeline_buffer_size(MOST_WRITTEN_AT_ONCE)
        .set_write_backpressure_boundary(LONGEST_WRITE)
        // The factor is three because a call may wait for two confirmations of replicas, and must
        // have time left for its answer.
        .set_response_timeout(Some(RESPONSE_TIMEOUT.max(options.replication_timeout * 3)))
}

fn on_push(
    options: &Arc<ConnectOptions>,
    on_loss: OnLoss,
) -> impl Fn(PushInfo) -> Result<(), ()> + Send + Sync + 'static {
    let options = options.clone();
    move |push| {
        match (push.kind, push.data.as_slice()) {
            (PushKind::Message, [_, Value::BulkString(payload)]) => options.deliver(payload),
            (PushKind::Disconnection, _) => on_loss(),
            _ => {}
        }
        Ok(())
    }
}

async fn subscribe(
    url: &RedisUrl,
    options: &ConnectOptions,
    longest_wait: Duration,
) -> CommandAnswer<PubSub> {
    let mut pubsub = transport::open_pubsub(url, longest_wait).await?;
    pubsub.subscribe(options.keys.channel(options.inbox)).await?;
    Ok(pubsub)
}

fn refused_inbox(refused: CallError, options: &ConnectOptions, url: &RedisUrl) -> LinkFailure {
    match server::of_subscribing(refused, &options.subject(&url.to_string())) {
        Ok(error) => error.into(),
        Err(other) => other.into(),
    }
}

/// Returns whether the server refuses `HELLO 3`. Old servers do not know it, some servers hide it,
/// and some users may not run it.
fn refuses_resp3(error: &CallError) -> bool {
    let CallError::Library(error) = error else { return false };
    let about_hello = || error.detail().is_some_and(|d| d.to_ascii_lowercase().contains("hello"));
    match (error.kind(), error.code()) {
        (ErrorKind::RESP3NotSupported, _) | (_, Some("NOPROTO")) => true,
        (_, Some("ERR" | "NOPERM")) => about_hello(),
        _ => false,
    }
}
