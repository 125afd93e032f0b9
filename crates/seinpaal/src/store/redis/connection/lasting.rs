//! What a quorum needs of its nodes' connections: one that may begin without its server, and calls that know
//! which run of the server they go to.

use std::sync::Mutex;

use redis::{Cmd, RedisResult, Value, aio::MultiplexedConnection};
use tokio::time::timeout;

use super::{
    Arc, AtomicBool, AtomicU64, Connection, MOST_LOADS, Notify, Outage, Shared, Status,
    is_missing_script, keep, load_and_repeat, watch,
};
use crate::store::{
    Certainty, StoreError, StoreErrorKind,
    redis::{
        error,
        link::{Link, Plan, RESPONSE_TIMEOUT},
    },
};

/// One run of a server, from its start to its end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::store::redis) struct Run {
    /// Its id, which no other run has.
    pub(in crate::store::redis) id: String,
    /// For how many seconds it had been running when it was asked.
    pub(in crate::store::redis) uptime: u64,
}

/// The run at the other end of a link.
type Known = Mutex<Option<(u64, Run)>>;

/// A connection that is made in its own time, and comes back.
pub(in crate::store::redis) struct Lasting {
    connection: Connection,
    known: Known,
}

/// A script: its hash and its text.
pub(in crate::store::redis) struct Text<'a> {
    pub(in crate::store::redis) hash: &'a str,
    pub(in crate::store::redis) source: &'a str,
}

impl Lasting {
    /// Tries to connect once, and returns how that went. Whatever it was, a task of the current runtime
    /// keeps trying from then on.
    pub(in crate::store::redis) async fn open(plan: Plan) -> (Self, Result<(), StoreError>) {
        let outage = Outage::lost(&plan.shown());
        let shared = Arc::new(Shared {
            plan: Arc::new(plan),
            status: watch::Sender::new(Status::Down(outage)),
            hurry: Notify::new(),
            is_awaited: AtomicBool::new(false),
            opened: AtomicU64::new(0),
        });
        let opened = shared.open().await;
        let keeper = tokio::spawn(keep(shared.clone())).abort_handle();
        let connection = Connection { shared, keeper };
        (Self { connection, known: Mutex::new(None) }, opened)
    }

    /// Whether there is a link to send over now.
    pub(in crate::store::redis) fn is_up(&self) -> bool {
        matches!(&*self.connection.shared.status.borrow(), Status::Up(..))
    }

    /// Which run of the server is at the other end.
    pub(in crate::store::redis) async fn run(&self) -> Result<Run, StoreError> {
        let (id, mut link) = self.connection.shared.link().await?;
        self.run_of(id, &mut link).await
    }

    /// Runs a script with arguments that may name the run that executes them.
    pub(in crate::store::redis) async fn evaluate(
        &self,
        text: Text<'_>,
        keys: &[String],
        arguments: impl FnOnce(&Run) -> Vec<String> + Send,
    ) -> Result<Value, StoreError> {
        let (id, mut link) = self.connection.shared.link().await?;
        let run = self.run_of(id, &mut link).await?;
        let mut evalsha = redis::cmd("EVALSHA");
        evalsha.arg(text.hash).arg(keys.len()).arg(keys).arg(arguments(&run));
        let answer = send(&mut link, text.source, &evalsha).await;
        self.connection.shared.judge(id, answer)
    }

    /// Runs one plain command.
    pub(in crate::store::redis) async fn command(&self, command: &Cmd) -> Result<Value, StoreError> {
        self.connection.command(command).await
    }

    /// Somebody waits for news: see that the link is alive.
    pub(in crate::store::redis) fn expect_news(&self) {
        self.connection.expect_news();
    }

    async fn run_of(&self, id: u64, link: &mut Link) -> Result<Run, StoreError> {
        if let Some((known, run)) = &*self.known.lock().unwrap_or_else(|held| held.into_inner())
            && *known == id
        {
            return Ok(run.clone());
        }
        let run = self.ask_for_run(id, &mut link.commands).await?;
        *self.known.lock().unwrap_or_else(|held| held.into_inner()) = Some((id, run.clone()));
        Ok(run)
    }

    async fn ask_for_run(
        &self,
        id: u64,
        commands: &mut MultiplexedConnection,
    ) -> Result<Run, StoreError> {
        let mut info = redis::cmd("INFO");
        info.arg("server");
        let asked = timeout(RESPONSE_TIMEOUT, info.query_async::<String>(commands)).await;
        match asked {
            Ok(Ok(text)) => read_run(&text).ok_or_else(no_run),
            Ok(Err(refused)) => {
                if refused.code().is_none() {
                    self.connection.shared.lose(id);
                }
                let known = error::of_call(&refused, &self.connection.shared.plan.shown());
                let message = known.to_string();
                Err(StoreError::new(known.kind(), Certainty::NotExecuted, message))
            }
            Err(_) => {
                let message = format!("{} does not answer", self.connection.shared.plan.shown());
                let kind = StoreErrorKind::Unreachable;
                Err(StoreError::new(kind, Certainty::NotExecuted, message))
            }
        }
    }
}

async fn send(link: &mut Link, source: &str, evalsha: &Cmd) -> RedisResult<Value> {
    let mut answer = link.commands.send_packed_command(evalsha).await;
    for load in 0..MOST_LOADS {
        if !is_missing_script(&answer) {
            break;
        }
        answer = load_and_repeat(link, source, evalsha, load % 2 == 1).await;
    }
    answer
}

fn read_run(info: &str) -> Option<Run> {
    let field = |name: &str| {
        info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
    };
    let id = field("run_id")?.to_owned();
    Some(Run { id, uptime: field("uptime_in_seconds")?.parse().ok()? })
}

fn no_run() -> StoreError {
    StoreError::new(
        StoreErrorKind::Misconfigured,
        Certainty::NotExecuted,
        "a node does not say which run of the server it is (INFO server, run_id): is there a proxy?",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_read_from_what_the_server_says_of_itself() {
        let text = "# Server\r\nrun_id:abc\r\nuptime_in_seconds:17\r\n";
        assert_eq!(read_run(text), Some(Run { id: "abc".into(), uptime: 17 }));
        assert_eq!(read_run("run_id:abc\r\n"), None);
    }
}
