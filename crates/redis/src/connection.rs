//! The one connection of a store: it is opened, watched, and opened again when it is lost.
//!
//! The connection sends nothing twice, except for scripts that the server did not know. A request
//! that was handed to a link may have been executed even if the link is lost then. The session
//! finds out by asking again with the same tickets.

mod lasting;
mod state;
mod status;
mod upkeep;

use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use redis::{Cmd, ToRedisArgs, Value};
use tokio::{task::AbortHandle, time::timeout};

use super::{
    diagnose::with_the_right_named,
    error::LinkFailure,
    link::{ConnectOptions, Link, RESPONSE_TIMEOUT},
    replicas,
    script::{Script, Scripts},
    sentinel::SentinelListeners,
    transport::CommandAnswer,
};
use seinpaal_store::{Diagnosis, Reading, StoreError};
use state::ConnectionState;
use status::{LinkOutage, Status};
use upkeep::keep;
pub(super) use upkeep::{pause_after, pause_of_callers};

/// A connection that is made again when it is lost.
pub(super) struct Connection {
    shared: Arc<ConnectionState>,
    keeper: AbortHandle,
    _watch: Option<SentinelListeners>,
}

/// The link on which a script was answered, so that its replicas can be asked for on that link.
pub(super) struct ExecutedOnLink(u64, Link);

/// The size in bytes that an argument seldom exceeds, since most clients say little about
/// themselves.
const LONG_ARGUMENT: usize = 400;

impl Connection {
    /// Connects, and reads the server's clock. Afterwards a task of the current runtime keeps it
    /// connected.
    pub(super) async fn open(options: ConnectOptions) -> Result<(Self, Reading), StoreError> {
        let shared = Arc::new(ConnectionState::new(options));
        let reading = shared.open().await?;
        // The keeper starts after the first link, so that a caller that cannot connect hears why,
        // and does not wait for further tries.
        let keeper = tokio::spawn(keep(shared.clone())).abort_handle();
        let _watch = shared.watch();
        Ok((Self { shared, keeper, _watch }, reading))
    }

    /// As in [`Abilities`](seinpaal_store::Abilities).
    pub(super) fn scheme(&self) -> &'static str {
        self.shared.options.endpoint.scheme()
    }

    /// Asks the server that is connected now about itself.
    pub(super) async fn diagnose(&self) -> Result<Diagnosis, StoreError> {
        let (id, mut link) = self.shared.link().await?;
        link.diagnose(&self.shared.options).await.map_err(|failure| match failure {
            LinkFailure::Call(failed) => self.shared.not_answered(id, &failed),
            LinkFailure::Store(error) => error,
        })
    }

    /// Runs a script and returns its answer. The server's refusals are errors.
    pub(super) async fn evaluate(
        &self,
        scripts: &Scripts,
        operation: Script,
        keys: &[impl ToRedisArgs],
        arguments: &[impl ToRedisArgs],
        room: usize,
    ) -> Result<(Value, ExecutedOnLink), StoreError> {
        // The buffer has room for all words from the start, because each time that it grows it is
        // copied.
        let words = keys.len() + arguments.len();
        let mut evalsha = Cmd::with_capacity(3 + words, 64 + LONG_ARGUMENT * words);
        evalsha
            .arg("EVALSHA")
            .arg(scripts.hash(operation))
            .arg(keys.len())
            .arg(keys)
            .arg(arguments);
        self.run(&evalsha, scripts.source(operation), room).await
    }

    async fn run(
        &self,
        evalsha: &Cmd,
        source: &str,
        room: usize,
    ) -> Result<(Value, ExecutedOnLink), StoreError> {
        let (id, mut link) = self.shared.link().await?;
        let answer = run_script(&mut link, evalsha, source, room).await;
        // The state takes note before the answer is judged, because judging may give the link up.
        self.shared.note(&link, &answer);
        match self.shared.judge(id, answer) {
            Ok(answer) => Ok((answer, ExecutedOnLink(id, link))),
            Err(error) => {
                let subject = self.shared.options.subject(&link.server.url);
                Err(with_the_right_named(error, &mut link.commands, &subject).await)
            }
        }
    }

    /// Makes sure that as many replicas as the URL asks for have everything that this link has
    /// written until now. If too few replicas have it, a fail-over could undo it, and this is an
    /// error.
    pub(super) async fn confirm(&self, proof: ExecutedOnLink) -> Result<(), StoreError> {
        let wanted = self.replicated();
        let Some(wanted) = wanted else { return Ok(()) };
        // The question goes over the link that wrote, because `WAIT` counts the writes of its own
        // connection only.
        let count = self.replicas_of(proof).await?;
        if count >= wanted {
            self.shared.had_replicas.store(true, Ordering::Relaxed);
            return Ok(());
        }
        // A server that never had so many replicas is set up wrongly. A server that had them is
        // expected to have them again.
        let had_enough = self.shared.had_replicas.load(Ordering::Relaxed);
        Err(replicas::too_few(count, wanted, had_enough))
    }

    /// Returns how many replicas have everything that this link has written until now. Waits a
    /// while for as many as the URL asks for.
    pub(super) async fn replicas_of(&self, proof: ExecutedOnLink) -> Result<u32, StoreError> {
        let Some(wanted) = self.replicated() else { return Ok(0) };
        let ExecutedOnLink(id, mut link) = proof;
        let confirmed = link.server.replicas.confirm(&mut link.commands, wanted).await;
        confirmed.map_err(|failed| {
            self.shared.lose(id);
            replicas::not_confirmed(&failed, &self.shared.options.shown())
        })
    }

    fn replicated(&self) -> Option<u32> {
        self.shared.options.endpoint.options().replicated
    }

    /// Runs one plain command.
    pub(super) async fn command(&self, command: &Cmd, room: usize) -> Result<Value, StoreError> {
        let (id, mut link) = self.shared.link().await?;
        let answer = link.commands.send_for(command, room).await;
        self.shared.judge(id, answer)
    }

    /// Takes note that an answer is overdue. Completes once there is a link that was heard from
    /// within the last `silence`: the present one, or a new one that is opened beside it. Requests
    /// under way over the present link stay under way.
    pub(super) async fn reassure(&self, silence: Duration) {
        // This subscribes before the doubt is noted, or a link that is opened at once would not be
        // noticed.
        let mut status = self.shared.status.subscribe();
        self.shared.doubt(silence);
        let is_settled = status.wait_for(|status| !matches!(status, Status::Doubted(..)));
        // When the time is over the caller goes on in any case, because its own patience decides
        // whether the request fails.
        let _ = timeout(RESPONSE_TIMEOUT, is_settled).await.map(drop);
    }

    /// Takes note that a ticket of this client waits for a wakeup, so that the link is tried now
    /// and then.
    pub(super) fn expect_news(&self) {
        self.shared.is_awaited.store(true, Ordering::Relaxed);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.keeper.abort();
        // The status has the link, and the link has a callback that reports its loss here. Without
        // this, each would keep the other alive.
        let outage = LinkOutage::lost(&self.shared.options.shown());
        self.shared.status.send_replace(Status::Down(outage, None));
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("server", &self.shared.options.shown()).finish()
    }
}

/// Runs a script, and loads it if the server does not know it.
async fn run_script(
    link: &mut Link,
    evalsha: &Cmd,
    source: &str,
    room: usize,
) -> CommandAnswer<Value> {
    let answer = link.commands.send_for(evalsha, room).await;
    if !is_missing_script(&answer) {
        return answer;
    }
    let answer = load_and_repeat(link, source, evalsha, room).await;
    if !is_missing_script(&answer) {
        return answer;
    }
    link.commands.send_for(&with_source(evalsha, source), room).await
}

/// Loads a script and runs it again, in one pipeline. Another client's `SCRIPT FLUSH` can still
/// come between the two commands.
async fn load_and_repeat(
    link: &mut Link,
    source: &str,
    evalsha: &Cmd,
    room: usize,
) -> CommandAnswer<Value> {
    let mut both = redis::pipe();
    both.cmd("SCRIPT").arg("LOAD").arg(source);
    both.add_command(evalsha.clone());
    let mut answers = link.commands.send_all(&both, 0, 2, room).await?;
    let (last, first) = (answers.pop(), answers.pop());
    match first {
        // The failure to load the script says more than the answer that the script is still
        // missing.
        Some(refused @ Value::ServerError(_)) => Ok(refused),
        _ => Ok(last.unwrap_or_default()),
    }
}

/// The call with the script's text in it, so that no flush can come between the two. A transaction
/// would not do. Before Redis 7.2 its answer holds a message that the script publishes to this
/// connection where the script's answer should be, and every later answer is taken for that of
/// another call.
fn with_source(evalsha: &Cmd, source: &str) -> Cmd {
    let mut eval = redis::cmd("EVAL");
    eval.arg(source);
    for argument in evalsha.args_iter().skip(2) {
        if let redis::Arg::Simple(bytes) = argument {
            eval.arg(bytes);
        }
    }
    eval
}

pub(super) fn is_missing_script(answer: &CommandAnswer<Value>) -> bool {
    match answer {
        Ok(Value::ServerError(error)) => error.code() == "NOSCRIPT",
        Ok(_) => false,
        Err(error) => error.code() == Some("NOSCRIPT"),
    }
}
