//! The one connection of a store: it is opened, watched, and opened again when it is lost.
//!
//! This sends nothing twice, except for scripts that the server did not know. A request that was
//! handed to a link which is lost may have been executed, and the session finds out with the same
//! tickets.

pub(super) mod lasting;
mod status;
mod upkeep;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use redis::{Cmd, ServerError, ToRedisArgs, Value};
use seinpaal_proto::planted::{Bug, planted};
use tokio::{
    sync::{Notify, watch},
    task::AbortHandle,
    time::timeout,
};

use super::{
    endpoint::RedisEndpoint,
    error,
    link::{ConnectOptions, Link, OnLoss, RESPONSE_TIMEOUT},
    replicas,
    script::{Operation, Scripts},
    sentinel::SentinelListeners,
    server,
    transport::Answer,
};
use seinpaal_store::{Advice, Fact, Reading, StoreError, StoreErrorKind, url::RedisAddress};
use status::{Last, Outage, Status};
use upkeep::keep;
pub(super) use upkeep::pause_of_callers;

/// How often a script is loaded for one call, should somebody flush scripts all the time.
const MOST_LOADS: u32 = 6;

/// A connection that comes back.
pub(super) struct Connection {
    shared: Arc<ConnectionState>,
    keeper: AbortHandle,
    _watch: Option<SentinelListeners>,
}

/// Which link a script was answered on, so that its replicas can be asked for on the same.
pub(super) struct Proof(u64, Link);

struct ConnectionState {
    options: Arc<ConnectOptions>,
    status: watch::Sender<Status>,
    /// Changes whenever the server is said to have moved.
    moves: watch::Sender<()>,
    hurry: Notify,
    is_awaited: AtomicBool,
    is_doubted: AtomicBool,
    /// There were as many replicas as are wanted at some time.
    had_replicas: AtomicBool,
    opened: AtomicU64,
    /// How often it was tried to connect since a script was last answered. A link that answers no
    /// script is no success.
    tries: AtomicU64,
}

/// As long as most requests are that say little about themselves, in bytes.
const LONG_ARGUMENT: usize = 400;

impl Connection {
    /// Connects, and reads the server's clock. Afterwards a task of the current runtime keeps it connected.
    pub(super) async fn open(options: ConnectOptions) -> Result<(Self, Reading), StoreError> {
        let shared = Arc::new(ConnectionState::new(options));
        let reading = shared.open().await?;
        let keeper = tokio::spawn(keep(shared.clone())).abort_handle();
        let _watch = shared.watch();
        shared.advice().iter().for_each(|line| tracing::warn!(target: "seinpaal", "{line}"));
        Ok((Self { shared, keeper, _watch }, reading))
    }

    /// As in [`Abilities`](seinpaal_store::Abilities).
    pub(super) fn scheme(&self) -> &'static str {
        self.shared.options.endpoint.scheme()
    }

    /// What should be changed about the server that is connected now.
    pub(super) fn advice(&self) -> Vec<Advice> {
        self.shared.advice()
    }

    /// What that server says of itself.
    pub(super) fn facts(&self) -> Vec<Fact> {
        let status = self.shared.status.borrow();
        status.link().map_or_else(Vec::new, |(_, link)| link.site.facts.clone())
    }

    /// Runs a script and returns what it answered. The server's refusals are errors.
    pub(super) async fn evaluate(
        &self,
        scripts: &Scripts,
        operation: Operation,
        keys: &[impl ToRedisArgs],
        arguments: &[impl ToRedisArgs],
        room: usize,
    ) -> Result<(Value, Proof), StoreError> {
        // A buffer that grows is copied each time.
        let words = keys.len() + arguments.len();
        let mut evalsha = Cmd::with_capacity(3 + words, 64 + LONG_ARGUMENT * words);
        evalsha
            .arg("EVALSHA")
            .arg(scripts.hash(operation))
            .arg(keys.len())
            .arg(keys)
            .arg(arguments);
        let (id, mut link) = self.shared.link().await?;
        let mut answer = link.commands.send_for(&evalsha, room).await;
        for load in 0..MOST_LOADS {
            if !is_missing_script(&answer) {
                break;
            }
            let (source, as_transaction) = (scripts.source(operation), load % 2 == 1);
            answer = load_and_repeat(&mut link, &source, &evalsha, room, as_transaction).await;
        }
        self.shared.note(&link, &answer);
        match self.shared.judge(id, answer) {
            Ok(answer) => Ok((answer, Proof(id, link))),
            Err(error) => Err(self.shared.with_the_right_named(error, &mut link).await),
        }
    }

    /// What `ask` sends is written on this thread, if there is a link.
    pub(super) fn send_here(&self, ask: &mut dyn FnMut()) {
        let link = self.shared.status.borrow().link().map(|(_, link)| link.commands.clone());
        match link {
            Some(commands) => commands.send_here(ask),
            None => ask(),
        }
    }

    /// Whether as many replicas as are wanted have what this link wrote until now; if not, a fail-over could
    /// undo it.
    pub(super) async fn confirm(&self, proof: Proof) -> Result<(), StoreError> {
        let wanted = self.replicated().filter(|_| !planted(Bug::ReplicatedUnconfirmed));
        let Some(wanted) = wanted else { return Ok(()) };
        let count = self.replicas_of(proof).await?;
        if count >= wanted {
            self.shared.had_replicas.store(true, Ordering::Relaxed);
            return Ok(());
        }
        let had_enough = self.shared.had_replicas.load(Ordering::Relaxed);
        Err(replicas::too_few(count, wanted, had_enough))
    }

    /// How many replicas have what this link wrote until now; waits for as many as are wanted, for a while.
    pub(super) async fn replicas_of(&self, proof: Proof) -> Result<u32, StoreError> {
        let Some(wanted) = self.replicated() else { return Ok(0) };
        let Proof(id, mut link) = proof;
        let confirmed = link.site.replicas.confirm(&mut link.commands, wanted).await;
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

    /// An answer is overdue. Completes once there is a link that was heard from within the last `silence`: this one, or
    /// a new one that is opened beside it. What is under way over this one stays so.
    pub(super) async fn reassure(&self, silence: Duration) {
        let mut status = self.shared.status.subscribe();
        self.shared.doubt(silence);
        let is_settled = status.wait_for(|status| !matches!(status, Status::Doubted(..)));
        let _ = timeout(RESPONSE_TIMEOUT, is_settled).await.map(drop);
    }

    /// A ticket of this client waits for a wakeup, so the link is checked.
    pub(super) fn expect_news(&self) {
        self.shared.is_awaited.store(true, Ordering::Relaxed);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.keeper.abort();
        // The link knows how to report its loss to us, and so must not be kept by us.
        let outage = Outage::lost(&self.shared.options.shown());
        self.shared.status.send_replace(Status::Down(outage, None));
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("server", &self.shared.options.shown()).finish()
    }
}

/// In one go. Somebody's `SCRIPT FLUSH` can still come between the two, but not when they are a transaction;
/// that, a server without memory would refuse. So the two ways take turns.
async fn load_and_repeat(
    link: &mut Link,
    source: &str,
    evalsha: &Cmd,
    room: usize,
    as_transaction: bool,
) -> Answer<Value> {
    let mut both = redis::pipe();
    both.cmd("SCRIPT").arg("LOAD").arg(source);
    both.add_command(evalsha.clone());
    let mut answers = if as_transaction {
        let answer = link.commands.send_all(both.atomic(), 3, 1, room).await?.pop();
        let Some(Value::Array(answers)) = answer else { return Ok(answer.unwrap_or_default()) };
        answers
    } else {
        link.commands.send_all(&both, 0, 2, room).await?
    };
    let (last, first) = (answers.pop(), answers.pop());
    match first {
        Some(refused @ Value::ServerError(_)) => Ok(refused),
        _ => Ok(last.unwrap_or_default()),
    }
}

pub(super) fn is_missing_script(answer: &Answer<Value>) -> bool {
    match answer {
        Ok(Value::ServerError(error)) => error.code() == "NOSCRIPT",
        Ok(_) => false,
        Err(error) => error.code() == Some("NOSCRIPT"),
    }
}

impl ConnectionState {
    fn new(options: ConnectOptions) -> Self {
        let outage = Outage::lost(&options.shown());
        Self {
            options: Arc::new(options),
            status: watch::Sender::new(Status::Down(outage, None)),
            moves: watch::Sender::default(),
            hurry: Notify::new(),
            is_awaited: AtomicBool::new(false),
            is_doubted: AtomicBool::new(false),
            had_replicas: AtomicBool::new(false),
            opened: AtomicU64::new(0),
            tries: AtomicU64::new(0),
        }
    }

    fn on_loss(self: &Arc<Self>, id: u64) -> OnLoss {
        let shared = Arc::downgrade(self);
        Arc::new(move || {
            if let Some(shared) = shared.upgrade() {
                shared.lose(id);
            }
        })
    }

    /// Listens for moves, if the endpoint may move.
    fn watch(self: &Arc<Self>) -> Option<SentinelListeners> {
        let RedisEndpoint::Sentinels(url) = &self.options.endpoint else { return None };
        let shared = Arc::downgrade(self);
        Some(SentinelListeners::start(url, move |address| {
            if let Some(shared) = shared.upgrade() {
                shared.has_moved(address);
            }
        }))
    }

    /// A link to elsewhere is of no use, nor is one that is about to be, and it is worth trying again at once.
    fn has_moved(&self, address: &RedisAddress) {
        let is_elsewhere = |link: &Link| link.site.address != *address;
        let old = self.status.borrow().link().filter(|(_, link)| is_elsewhere(link)).map(|up| up.0);
        old.inspect(|id| self.leave(*id));
        self.moves.send_replace(());
        self.hurry.notify_one();
    }

    fn advice(&self) -> Vec<Advice> {
        self.status.borrow().link().map_or_else(Vec::new, |(_, link)| link.site.advice.clone())
    }

    /// This link has not answered in time, or is broken; a newer one stays.
    fn lose(&self, id: u64) {
        self.go_down(id, Last::Stays);
    }

    /// This link is to a server that will not do.
    fn leave(&self, id: u64) {
        self.go_down(id, Last::Goes);
    }

    fn go_down(&self, id: u64, last: Last) {
        let lost = Outage::lost(&self.options.shown());
        self.status.send_if_modified(|status| {
            let is_it = status.is_link(id);
            if is_it {
                status.go_down(lost, last);
            }
            is_it
        });
    }

    /// If the link was silent for so long, a new one is opened beside it.
    fn doubt(&self, silence: Duration) {
        self.status.send_if_modified(|status| match status {
            Status::Up(id, link) if link.heard.was_silent_for(silence) => {
                *status = Status::Doubted(*id, link.clone());
                self.is_doubted.store(true, Ordering::Relaxed);
                true
            }
            _ => false,
        });
    }

    /// The link has answered after all.
    fn trust(&self, link: &Link) {
        self.status.send_if_modified(|status| match status {
            Status::Doubted(id, doubted) if Arc::ptr_eq(&doubted.heard, &link.heard) => {
                *status = Status::Up(*id, doubted.clone());
                true
            }
            _ => false,
        });
    }

    /// The link, or the next one if it comes soon. Without one nothing was sent.
    async fn link(&self) -> Result<(u64, Link), StoreError> {
        if let Some((id, link)) = self.status.borrow().link() {
            return Ok((id, link.clone()));
        }
        let mut status = self.status.subscribe();
        let seen = match &*status.borrow_and_update() {
            Status::Up(id, link) | Status::Doubted(id, link) => return Ok((*id, link.clone())),
            Status::Down(outage, _) => outage.attempts,
        };
        self.hurry.notify_one();
        let changed = status.wait_for(|status| match status {
            Status::Up(..) | Status::Doubted(..) => true,
            Status::Down(outage, _) => outage.attempts > seen,
        });
        // Too late or not, what the status says now is the answer.
        let _ = timeout(RESPONSE_TIMEOUT, changed).await.map(drop);
        match &*self.status.borrow() {
            Status::Up(id, link) | Status::Doubted(id, link) => Ok((*id, link.clone())),
            Status::Down(outage, _) => Err(outage.error()),
        }
    }

    fn judge(&self, id: u64, answer: Answer<Value>) -> Result<Value, StoreError> {
        match answer {
            Ok(Value::ServerError(refused)) => {
                self.leave_a_replica(id, &refused);
                Err(error::of_server(&refused))
            }
            Ok(value) => {
                // Of a bundle each batch has an answer of its own, and a demoted server refuses all of them.
                if let Value::Array(answers) = &value
                    && let Some(Value::ServerError(refused)) = answers.first()
                {
                    self.leave_a_replica(id, refused);
                }
                Ok(value)
            }
            Err(failed) => {
                self.lose(id);
                Err(error::of_call(&failed, &self.options.shown()))
            }
        }
    }

    /// The server was demoted; the master may be found at the same address.
    fn leave_a_replica(&self, id: u64, refused: &ServerError) {
        if refused.code() == "READONLY" {
            self.leave(id);
        }
    }

    /// A script that may not go on does not always say because of which command.
    async fn with_the_right_named(&self, error: StoreError, link: &mut Link) -> StoreError {
        if error.kind() != StoreErrorKind::Forbidden {
            return error;
        }
        let shown = self.options.shown();
        let missing =
            server::missing_right(&mut link.commands, &self.options.subject(&shown)).await;
        let Some(named) = missing else { return error };
        let message = format!("{named} (it said: {error})");
        StoreError::new(error.kind(), error.certainty(), message)
    }

    /// A server that answers a script is well, even if the answer is a refusal.
    fn note(&self, link: &Link, answer: &Answer<Value>) {
        if answer.is_ok() {
            self.tries.store(0, Ordering::Relaxed);
            link.heard.note();
            if self.is_doubted.load(Ordering::Relaxed) {
                self.trust(link);
            }
        }
    }
}
