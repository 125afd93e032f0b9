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
    AsyncConnectionConfig, PushInfo, PushKind, Value,
    aio::{PubSub, PubSubSink},
};
use seinpaal_proto::Inbox;
use tokio::{sync::Mutex, task::AbortHandle, time::timeout};

use super::{
    diagnose::{Subject, diagnose, of_subscribing},
    endpoint::RedisEndpoint,
    error::LinkFailure,
    greeting::{Greeted, Greeting, ServerKind, refuses_hello},
    keys::Keys,
    replicas::Replicas,
    transport::{self, CommandAnswer, Commands, TransportFault},
};
use seinpaal_store::{
    Advice, Diagnosis, News, NewsSender, Reading, StoreError, boottime, url::RedisUrl,
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
    pub(super) server: Arc<LinkedServer>,
    pub(super) heard: Arc<LastHeard>,
    subscriber: Option<Arc<Subscriber>>,
}

/// The server at the other end of a link.
pub(super) struct LinkedServer {
    pub(super) url: RedisUrl,
    pub(super) reading: Reading,
    pub(super) replicas: Replicas,
    /// How many replicas were connected when the link was opened, if the URL asks for some.
    pub(super) connected_replicas: Option<u32>,
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

    pub(super) fn subject<'a>(&'a self, url: &'a RedisUrl) -> Subject<'a> {
        let (kind, may_move) = (ServerKind::Server, self.endpoint.may_move());
        Subject { url, kind, may_move, keys: &self.keys, inbox: self.inbox }
    }

    /// Turns a push into news.
    fn deliver(&self, payload: &[u8]) {
        let Some(news) = (self.read_news)(&self.keys, self.inbox, payload) else { return };
        // When the session is gone, sending fails, and no receiver is left to tell.
        let _ = self.news.send(news);
    }
}

impl Link {
    /// Finds the server, connects and subscribes, over one connection if the server speaks RESP3.
    pub(super) async fn open(
        options: &Arc<ConnectOptions>,
        on_loss: OnLoss,
    ) -> Result<Self, StoreError> {
        let url = options.endpoint.find().await?;
        let greeting = Greeting {
            url: &url,
            kind: ServerKind::Server,
            longest_wait: options.endpoint.connect_timeout(),
        };
        let link = match Self::over_resp3(options, &greeting, on_loss.clone()).await {
            // Only a server that refuses `HELLO 3` gets a second try. Any other failure would come
            // again.
            Err(LinkFailure::Call(error)) if refuses_hello(&error) => {
                Self::over_resp2(options, &greeting, on_loss).await
            }
            other => other,
        };
        link.map_err(|failure| failure.at(&url.to_string()))
    }

    async fn over_resp3(
        options: &Arc<ConnectOptions>,
        greeting: &Greeting<'_>,
        on_loss: OnLoss,
    ) -> Result<Self, LinkFailure> {
        let config = config(options).set_push_sender(on_push(options, on_loss));
        let channel = options.keys.channel(options.inbox);
        let (greeted, subscribed) = greeting.over_resp3(config, Some(&channel)).await?;
        subscribed.map_err(|refused| of_subscribing(refused, &options.subject(greeting.url)))?;
        Ok(Self::new(greeted, None, options, greeting.url))
    }

    async fn over_resp2(
        options: &Arc<ConnectOptions>,
        greeting: &Greeting<'_>,
        on_loss: OnLoss,
    ) -> Result<Self, LinkFailure> {
        let (url, longest_wait) = (greeting.url, greeting.longest_wait);
        let greeted = greeting.over_resp2(config(options)).await?;
        let subscribed = timeout(longest_wait, subscribe(url, options, longest_wait)).await;
        let pubsub = subscribed.unwrap_or(Err(TransportFault::Slow.into()));
        let pubsub = pubsub.map_err(|refused| of_subscribing(refused, &options.subject(url)))?;
        let subscriber = Arc::new(Subscriber::start(pubsub, options.clone(), on_loss));
        Ok(Self::new(greeted, Some(subscriber), options, url))
    }

    fn new(
        greeted: Greeted,
        subscriber: Option<Arc<Subscriber>>,
        options: &ConnectOptions,
        url: &RedisUrl,
    ) -> Self {
        let server = LinkedServer {
            url: url.clone(),
            reading: greeted.reading,
            replicas: Replicas::new(options.replication_timeout),
            connected_replicas: greeted.replicas,
        };
        let commands = greeted.commands;
        Self { commands, server: Arc::new(server), heard: Arc::default(), subscriber }
    }

    /// Asks the server about itself.
    pub(super) async fn diagnose(
        &mut self,
        options: &ConnectOptions,
    ) -> Result<Diagnosis, LinkFailure> {
        let url = &self.server.url;
        let mut diagnosis = diagnose(&mut self.commands, &options.subject(url)).await?;
        if self.subscriber.is_some() {
            let words = "HELLO 3 is refused, so each client needs a second connection for wakeups: let the server \
                         know HELLO, and allow it +hello";
            diagnosis.advice.push(Advice::hint(words).at(&url.to_string()));
        }
        diagnosis.fails_over_after = options.endpoint.fails_over_after().await;
        Ok(diagnosis)
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
