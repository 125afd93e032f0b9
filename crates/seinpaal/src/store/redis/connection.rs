//! The one connection of a store: it is opened, watched, and opened again when it is lost.
//!
//! Nothing is ever sent twice from here but scripts that the server did not know. What was handed to a link
//! that was lost may have been executed, and the session finds out with the same tickets.

pub(super) mod lasting;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use redis::{Cmd, RedisResult, ToRedisArgs, Value};
use seinpaal_proto::planted::{Bug, planted};
use tokio::{
    sync::{Notify, watch},
    task::AbortHandle,
    time::{Instant, sleep, timeout},
};

use super::{
    error,
    link::{Link, OnLoss, Plan, RESPONSE_TIMEOUT},
    place::Place,
    replicas,
    script::{Operation, Scripts},
    sentinel::Watch,
};
use crate::store::{Certainty, News, Reading, StoreError, StoreErrorKind, url::RedisAddress};

const SHORTEST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// How often a link is tried while somebody waits for a wakeup: a half-open one says nothing by itself.
const PING_EVERY: Duration = Duration::from_secs(5);
/// How often a script is loaded for one call, should somebody flush scripts all the time.
const MOST_LOADS: u32 = 6;

/// A connection that comes back.
pub(super) struct Connection {
    shared: Arc<Shared>,
    keeper: AbortHandle,
    _watch: Option<Watch>,
}

/// Which link a script was answered on, so that its replicas can be asked for on the same.
pub(super) struct Proof(u64, Link);

struct Shared {
    plan: Arc<Plan>,
    status: watch::Sender<Status>,
    /// Changes whenever the server is said to have moved.
    moves: watch::Sender<()>,
    hurry: Notify,
    is_awaited: AtomicBool,
    /// There were as many replicas as are wanted at some time.
    had_replicas: AtomicBool,
    opened: AtomicU64,
}

enum Status {
    Up(u64, Link),
    Down(Outage),
}

/// Since when, after so many attempts, and why.
#[derive(Clone)]
struct Outage {
    attempts: u64,
    kind: StoreErrorKind,
    message: String,
}

impl Connection {
    /// Connects, and reads the server's clock. Afterwards a task of the current runtime keeps it connected.
    pub(super) async fn open(plan: Plan) -> Result<(Self, Reading), StoreError> {
        let outage = Outage::lost(&plan.shown());
        let shared = Arc::new(Shared {
            plan: Arc::new(plan),
            status: watch::Sender::new(Status::Down(outage)),
            moves: watch::Sender::default(),
            hurry: Notify::new(),
            is_awaited: AtomicBool::new(false),
            had_replicas: AtomicBool::new(false),
            opened: AtomicU64::new(0),
        });
        let reading = shared.open().await?;
        let keeper = tokio::spawn(keep(shared.clone())).abort_handle();
        let _watch = shared.watch();
        shared.advice().iter().for_each(|line| tracing::warn!(target: "seinpaal", "{line}"));
        Ok((Self { shared, keeper, _watch }, reading))
    }

    /// As in [`Abilities`](crate::store::Abilities).
    pub(super) fn scheme(&self) -> &'static str {
        self.shared.plan.place.scheme()
    }

    /// What should be changed about the server that is connected now.
    pub(super) fn advice(&self) -> Vec<String> {
        self.shared.advice()
    }

    /// Runs a script and returns what it answered. The server's refusals are errors.
    pub(super) async fn evaluate(
        &self,
        scripts: &Scripts,
        operation: Operation,
        keys: &[impl ToRedisArgs],
        arguments: &[impl ToRedisArgs],
    ) -> Result<(Value, Proof), StoreError> {
        let mut evalsha = redis::cmd("EVALSHA");
        evalsha.arg(scripts.hash(operation)).arg(keys.len()).arg(keys).arg(arguments);
        let (id, mut link) = self.shared.link().await?;
        let mut answer = link.commands.send_packed_command(&evalsha).await;
        for load in 0..MOST_LOADS {
            if !is_missing_script(&answer) {
                break;
            }
            let (source, as_transaction) = (scripts.source(operation), load % 2 == 1);
            answer = load_and_repeat(&mut link, &source, &evalsha, as_transaction).await;
        }
        Ok((self.shared.judge(id, answer)?, Proof(id, link)))
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
            replicas::not_confirmed(&failed, &self.shared.plan.shown())
        })
    }

    fn replicated(&self) -> Option<u32> {
        self.shared.plan.place.options().replicated
    }

    /// Runs one plain command.
    pub(super) async fn command(&self, command: &Cmd) -> Result<Value, StoreError> {
        let (id, mut link) = self.shared.link().await?;
        let answer = link.commands.send_packed_command(command).await;
        self.shared.judge(id, answer)
    }

    /// Somebody waits for a wakeup: see that the link is alive.
    pub(super) fn expect_news(&self) {
        self.shared.is_awaited.store(true, Ordering::Relaxed);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.keeper.abort();
        // The link knows how to report its loss to us, and so must not be kept by us.
        let outage = Outage::lost(&self.shared.plan.shown());
        self.shared.status.send_replace(Status::Down(outage));
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("server", &self.shared.plan.shown()).finish()
    }
}

/// In one go. Somebody's `SCRIPT FLUSH` can still come between the two, but not when they are a transaction;
/// that, a server without memory would refuse. So the two ways take turns.
async fn load_and_repeat(
    link: &mut Link,
    source: &str,
    evalsha: &Cmd,
    as_transaction: bool,
) -> RedisResult<Value> {
    let mut both = redis::pipe();
    both.cmd("SCRIPT").arg("LOAD").arg(source);
    both.add_command(evalsha.clone());
    let mut answers = if as_transaction {
        let answer = link.commands.send_packed_commands(both.atomic(), 3, 1).await?.pop();
        let Some(Value::Array(answers)) = answer else { return Ok(answer.unwrap_or_default()) };
        answers
    } else {
        link.commands.send_packed_commands(&both, 0, 2).await?
    };
    let (last, first) = (answers.pop(), answers.pop());
    match first {
        Some(refused @ Value::ServerError(_)) => Ok(refused),
        _ => Ok(last.unwrap_or_default()),
    }
}

pub(super) fn is_missing_script(answer: &RedisResult<Value>) -> bool {
    match answer {
        Ok(Value::ServerError(error)) => error.code() == "NOSCRIPT",
        Ok(_) => false,
        Err(error) => error.code() == Some("NOSCRIPT"),
    }
}

impl Shared {
    async fn open(self: &Arc<Self>) -> Result<Reading, StoreError> {
        let (id, mut link) = self.open_where_it_is().await?;
        if planted(Bug::RedisDeafAfterACut) && id > 0 {
            let _ = link.commands.unsubscribe(self.plan.keys.channel(self.plan.inbox)).await;
        }
        let replicated = self.plan.place.options().replicated;
        if link.site.replicas.connected >= replicated && replicated.is_some() {
            self.had_replicas.store(true, Ordering::Relaxed);
        }
        let reading = link.site.reading;
        self.status.send_replace(Status::Up(id, link));
        Ok(reading)
    }

    /// Begins again whenever the server moves: the old one may hang, and be none the wiser when it goes on.
    async fn open_where_it_is(self: &Arc<Self>) -> Result<(u64, Link), StoreError> {
        let mut moves = self.moves.subscribe();
        loop {
            let id = self.opened.fetch_add(1, Ordering::Relaxed);
            tokio::select! {
                biased;
                Ok(()) = moves.changed() => {}
                link = Link::open(&self.plan, self.on_loss(id)) => return Ok((id, link?)),
            }
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

    /// Listens for moves, if the place may move.
    fn watch(self: &Arc<Self>) -> Option<Watch> {
        let Place::Sentinels(url) = &self.plan.place else { return None };
        let shared = Arc::downgrade(self);
        Some(Watch::start(url, move |address| {
            if let Some(shared) = shared.upgrade() {
                shared.has_moved(address);
            }
        }))
    }

    /// A link to elsewhere is of no use, nor is one that is about to be, and it is worth trying again at once.
    fn has_moved(&self, address: &RedisAddress) {
        let old = match &*self.status.borrow() {
            Status::Up(id, link) if link.site.address != *address => Some(*id),
            _ => None,
        };
        old.inspect(|id| self.lose(*id));
        self.moves.send_replace(());
        self.hurry.notify_one();
    }

    fn advice(&self) -> Vec<String> {
        match &*self.status.borrow() {
            Status::Up(_, link) => link.site.replicas.advice.clone(),
            Status::Down(_) => Vec::new(),
        }
    }

    /// This link is no good any more; a newer one stays.
    fn lose(&self, id: u64) {
        let lost = Outage::lost(&self.plan.shown());
        self.status.send_if_modified(|status| match status {
            Status::Up(current, _) if *current == id => {
                *status = Status::Down(lost);
                true
            }
            _ => false,
        });
    }

    /// The link, or the next one if it comes soon. Without one nothing was sent.
    async fn link(&self) -> Result<(u64, Link), StoreError> {
        let mut status = self.status.subscribe();
        let seen = match &*status.borrow_and_update() {
            Status::Up(id, link) => return Ok((*id, link.clone())),
            Status::Down(outage) => outage.attempts,
        };
        self.hurry.notify_one();
        let changed = status.wait_for(|status| match status {
            Status::Up(..) => true,
            Status::Down(outage) => outage.attempts > seen,
        });
        // Too late or not, what the status says now is the answer.
        let _ = timeout(RESPONSE_TIMEOUT, changed).await.map(drop);
        match &*self.status.borrow() {
            Status::Up(id, link) => Ok((*id, link.clone())),
            Status::Down(outage) => Err(outage.error()),
        }
    }

    fn judge(&self, id: u64, answer: RedisResult<Value>) -> Result<Value, StoreError> {
        match answer {
            Ok(Value::ServerError(refused)) => {
                if refused.code() == "READONLY" {
                    self.lose(id); // It was demoted; the master may be found at the same address.
                }
                Err(error::of_server(&refused))
            }
            Ok(value) => Ok(value),
            Err(failed) => {
                self.lose(id);
                Err(error::of_call(&failed, &self.plan.shown()))
            }
        }
    }

    async fn until_lost(&self) {
        let mut status = self.status.subscribe();
        loop {
            let down = status.wait_for(|status| matches!(status, Status::Down(_)));
            if timeout(PING_EVERY, down).await.is_ok() {
                return;
            }
            if self.is_awaited.swap(false, Ordering::Relaxed) {
                self.ping().await;
            }
        }
    }

    async fn ping(&self) {
        let current = match &*self.status.borrow() {
            Status::Up(id, link) => Some((*id, link.clone())),
            Status::Down(_) => None,
        };
        if let Some((id, mut link)) = current
            && !link.is_alive().await
        {
            self.lose(id);
        }
    }

    async fn reopen(self: &Arc<Self>) {
        let mut attempts = 0;
        while let Err(error) = self.open().await {
            attempts += 1;
            tracing::debug!(%error, attempts, "no connection");
            let outage = Outage { attempts, kind: error.kind(), message: error.to_string() };
            self.status.send_replace(Status::Down(outage));
            self.pause(attempts).await;
        }
    }

    /// Longer every time; shorter, but never nothing, when somebody calls.
    async fn pause(&self, attempts: u64) {
        let began = Instant::now();
        tokio::select! {
            () = sleep(pause_after(attempts)) => {}
            () = self.hurry.notified() => {}
        }
        sleep(SHORTEST_PAUSE.saturating_sub(began.elapsed())).await;
    }
}

async fn keep(shared: Arc<Shared>) {
    loop {
        shared.until_lost().await;
        shared.reopen().await;
        // The link has subscribed before it was put in place; what was published before that is lost.
        let _ = shared.plan.news.send(News::LookAgain);
    }
}

fn pause_after(attempts: u64) -> Duration {
    let doublings = u32::try_from(attempts.min(8)).unwrap_or(8);
    let most = (SHORTEST_PAUSE * 2u32.pow(doublings)).min(LONGEST_PAUSE);
    // Without randomness every client would come back at the same moment, which is a pity and no more.
    let share = getrandom::u32().unwrap_or(0);
    most / 2 + most.mul_f64(f64::from(share) / f64::from(u32::MAX) / 2.0)
}

impl Outage {
    fn lost(shown: &str) -> Self {
        let message = format!("{shown} went away: connecting again");
        Self { attempts: 0, kind: StoreErrorKind::Unreachable, message }
    }

    fn error(&self) -> StoreError {
        StoreError::new(self.kind, Certainty::NotExecuted, self.message.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_are_bounded() {
        for attempts in 1..100 {
            let pause = pause_after(attempts);
            assert!(pause >= SHORTEST_PAUSE && pause <= LONGEST_PAUSE, "{attempts}: {pause:?}");
        }
        assert!(pause_after(1) < pause_after(8));
    }
}
