//! The way to a server: a socket, TLS over it if the URL says so, and a watch on the bytes that
//! come in.
//!
//! The client library does the protocol. It gets a stream of ours, because it hides three facts
//! that we must know: the error of a TLS handshake, a server's message before any request, and the
//! size of an answer that has not come in whole.

mod dial;
mod frames;
mod stream;
mod tls;
mod watched;

use std::{fmt, io, path::PathBuf, sync::Arc, time::Duration};

use redis::{
    AsyncConnectionConfig, Cmd, Pipeline, ProtocolVersion, RedisConnectionInfo, RedisError,
    RedisResult, Value,
    aio::{MultiplexedConnection, PubSub},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    task::AbortHandle,
    time::timeout,
};

use self::{stream::Stream, watched::WatchedStream};
use seinpaal_proto::time::Micros;
use seinpaal_store::{boottime, url::RedisUrl};

pub(super) use watched::ROOM;

/// A connection for commands, on which many commands can be under way. It closes when its last
/// clone is dropped.
#[derive(Clone)]
pub(super) struct Commands {
    connection: MultiplexedConnection,
    line: Arc<TransportTask>,
}

/// The task that reads and writes, and its findings.
struct TransportTask {
    watched: Arc<WatchedStream>,
    task: AbortHandle,
}

impl Drop for TransportTask {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A socket, or TLS over one.
trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Socket for T {}

/// The result of a command. A server's refusal is an answer.
pub(super) type CommandAnswer<T> = Result<T, CallError>;

/// The reason why there is no answer.
#[derive(Clone, Debug)]
pub enum CallError {
    /// An error of the client library.
    Library(RedisError),
    /// A fault that our own stream saw.
    Fault(TransportFault),
}

/// A fault of a server, or of the way to it.
#[derive(Clone, Debug)]
pub enum TransportFault {
    /// The host has no address.
    Lookup,
    /// No server took the connection.
    Connect(io::ErrorKind),
    /// The connection took longer than `connect-timeout`.
    Slow,
    /// A file for TLS that the URL or the environment names, and what is wrong with it.
    File { path: PathBuf, wrong: String },
    /// There is no authority to trust: this machine has none, and the URL names none.
    NoAuthorities,
    /// An error of TLS, found on this side or reported by the other.
    Tls(rustls::Error),
    /// The server answers in TLS, although the URL does not ask for TLS.
    SpeaksTls,
    /// The first answer is not in Redis' protocol.
    SpeaksOther,
    /// The server sent more than this many bytes as one answer.
    TooLarge(usize),
    /// The server refused the connection before any request.
    Refused(String),
}

impl From<RedisError> for CallError {
    fn from(error: RedisError) -> Self {
        Self::Library(error)
    }
}

impl From<TransportFault> for CallError {
    fn from(fault: TransportFault) -> Self {
        Self::Fault(fault)
    }
}

/// These words are for logs. The words for users are in `error`.
impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Library(error) => error.fmt(f),
            Self::Fault(fault) => write!(f, "{fault:?}"),
        }
    }
}

impl std::error::Error for CallError {}

impl CallError {
    /// The code of a server's refusal.
    pub(super) fn code(&self) -> Option<&str> {
        match self {
            Self::Library(error) => error.code(),
            Self::Fault(_) => None,
        }
    }
}

impl Commands {
    /// Connects over RESP3. Sends `greeting`, which begins with `HELLO 3`, as the first packet, and
    /// returns the answers, and an instant before the question.
    pub(super) async fn open(
        url: &RedisUrl,
        config: AsyncConnectionConfig,
        longest_wait: Duration,
        greeting: &Pipeline,
    ) -> CommandAnswer<(Self, Micros, Vec<Value>)> {
        in_time(longest_wait, async {
            // The library's own greeting is only `HELLO 3` like this, and our stream answers it.
            let login = RedisConnectionInfo::default()
                .set_protocol(ProtocolVersion::RESP3)
                .set_skip_set_lib_name();
            let commands = Self::connect(url, &login, config).await?;
            let mut greeter = commands.connection.clone();
            // The time for connecting may be longer than the time for an answer.
            greeter.set_response_timeout(longest_wait);
            let asked_at = boottime::now();
            let answers = greeter.send_packed_commands(greeting, 0, greeting.len()).await;
            let answers = commands.explained(answers)?;
            Ok((commands, asked_at, answers))
        })
        .await
    }

    /// Connects over RESP2, and logs in.
    pub(super) async fn open_resp2(
        url: &RedisUrl,
        config: AsyncConnectionConfig,
        longest_wait: Duration,
    ) -> CommandAnswer<Self> {
        in_time(longest_wait, Self::connect(url, &login(url), config)).await
    }

    async fn connect(
        url: &RedisUrl,
        login: &RedisConnectionInfo,
        config: AsyncConnectionConfig,
    ) -> CommandAnswer<Self> {
        let (stream, watched) = Stream::open(url, login.protocol()).await?;
        let opened = MultiplexedConnection::new_with_config(login, stream, config).await;
        let (connection, driver) = opened.map_err(|error| watched.explain(error))?;
        let task = tokio::spawn(driver).abort_handle();
        Ok(Self { connection, line: Arc::new(TransportTask { watched, task }) })
    }

    /// Sends a command whose answer needs no more than [`ROOM`].
    pub(super) async fn send(&mut self, command: &Cmd) -> CommandAnswer<Value> {
        self.send_for(command, ROOM).await
    }

    /// Sends a command whose answer may have up to `room` bytes. A longer answer ends the
    /// connection.
    pub(super) async fn send_for(&mut self, command: &Cmd, room: usize) -> CommandAnswer<Value> {
        let room = self.line.watched.make_room(room);
        let answer = self.connection.send_packed_command(command).await;
        room.close_after(&answer);
        self.explained(answer)
    }

    /// Sends several commands in one piece. Passes over the first `skip` answers, and returns the
    /// `count` that follow.
    pub(super) async fn send_all(
        &mut self,
        commands: &Pipeline,
        skip: usize,
        count: usize,
        room: usize,
    ) -> CommandAnswer<Vec<Value>> {
        let room = self.line.watched.make_room(room);
        let answer = self.connection.send_packed_commands(commands, skip, count).await;
        room.close_after(&answer);
        self.explained(answer)
    }

    fn explained<T>(&self, answer: RedisResult<T>) -> CommandAnswer<T> {
        answer.map_err(|error| self.line.watched.explain(error))
    }
}

/// A connection that only subscribes, over RESP2.
pub(super) async fn open_pubsub(url: &RedisUrl, longest_wait: Duration) -> CommandAnswer<PubSub> {
    in_time(longest_wait, async {
        let login = login(url);
        let (stream, watched) = Stream::open(url, login.protocol()).await?;
        let opened = PubSub::new(&login, stream).await;
        opened.map_err(|error| watched.explain(error))
    })
    .await
}

async fn in_time<T>(
    longest_wait: Duration,
    opening: impl Future<Output = CommandAnswer<T>>,
) -> CommandAnswer<T> {
    timeout(longest_wait, opening).await.unwrap_or(Err(TransportFault::Slow.into()))
}

/// What the library sends first over RESP2: `AUTH` and `SELECT`, as far as the URL needs them.
fn login(url: &RedisUrl) -> RedisConnectionInfo {
    let mut login =
        RedisConnectionInfo::default().set_db(i64::from(url.database)).set_skip_set_lib_name();
    if let Some(user) = &url.user {
        login = login.set_username(user);
    }
    if let Some(password) = &url.password {
        login = login.set_password(password.reveal());
    }
    login
}
