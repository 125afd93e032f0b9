//! The first packet of a connection: the login, the database, and the question what the server's
//! clock shows. The answer to `HELLO` also says what server this is, so one that cannot be used is
//! refused without another question. All else that can be asked is for [`diagnose`](super::diagnose).

use std::{collections::HashMap, fmt::Display, time::Duration};

use redis::{AsyncConnectionConfig, Cmd, Value};
use seinpaal_proto::time::{Micros, SECOND};

use super::{
    error::LinkFailure,
    transport::{CallError, CommandAnswer, Commands, ROOM},
};
use seinpaal_store::{Certainty, Reading, StoreError, StoreErrorKind, boottime, url::RedisUrl};

/// The name by which `CLIENT LIST` shows our connections.
const CLIENT_NAME: &str = "seinpaal";
const OLDEST: (u32, u32) = (6, 2);
/// The first version with sharded channels.
const OLDEST_CLUSTER: (u32, u32) = (7, 0);

/// The kind of server that the URL promises.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ServerKind {
    Server,
    Cluster,
}

/// A connection that is about to be made.
pub(super) struct Greeting<'a> {
    pub(super) url: &'a RedisUrl,
    pub(super) kind: ServerKind,
    pub(super) longest_wait: Duration,
}

/// A connection that can be used.
pub(super) struct Greeted {
    pub(super) commands: Commands,
    pub(super) reading: Reading,
    /// How many replicas are connected, if the URL asks for replicas and the server says so.
    pub(super) replicas: Option<u32>,
}

impl Greeting<'_> {
    /// Connects, and sends all in one packet. Subscribes in the same packet if there is a channel,
    /// and also returns whether it could.
    pub(super) async fn over_resp3(
        &self,
        config: AsyncConnectionConfig,
        channel: Option<&str>,
    ) -> Result<(Greeted, CommandAnswer<()>), LinkFailure> {
        let mut packet = redis::pipe();
        packet.add_command(hello(self.url));
        if self.url.database > 0 {
            packet.cmd("SELECT").arg(self.url.database);
        }
        packet.cmd("TIME");
        if self.counts_replicas() {
            packet.add_command(info("replication"));
        }
        if let Some(channel) = channel {
            packet.cmd("SUBSCRIBE").arg(channel);
        }
        let opened = Commands::open(self.url, config, self.longest_wait, &packet).await?;
        let (mut commands, asked_at, answers) = opened;
        let mut answers = answers.into_iter();
        let mut next = || answers.next().unwrap_or_default();

        let mut server = ServerInfo::of_hello(&accepted(next())?);
        if server.is_replica && self.kind == ServerKind::Server {
            // Only INFO names the master.
            let said = text(&commands.send(&info("replication")).await?);
            server.master = ServerInfo::of_info(&said).master;
        }
        server.judge(self.kind, self.url)?;
        if self.url.database > 0 {
            accepted(next())?;
        }
        let shows = read_time(&accepted(next())?, self.url)?;
        let replicas = self.counts_replicas().then(|| connected_replicas(&next())).flatten();
        // Without a channel there is no further answer, and `Nil` is no refusal.
        let subscribed = accepted(next()).map(drop);
        Ok((Greeted { commands, reading: Reading { shows, asked_at }, replicas }, subscribed))
    }

    /// Connects to a server that refuses `HELLO`.
    pub(super) async fn over_resp2(
        &self,
        config: AsyncConnectionConfig,
    ) -> Result<Greeted, LinkFailure> {
        let mut commands = Commands::open_resp2(self.url, config, self.longest_wait).await?;
        let mut questions = redis::pipe();
        questions.add_command(info("server")).add_command(info("replication")).cmd("TIME");
        let asked_at = boottime::now();
        let answers = commands.send_all(&questions, 0, 3, ROOM).await?;
        let [server, replication, time] = <[Value; 3]>::try_from(answers).unwrap_or_default();
        let replicas = connected_replicas(&replication);
        let said = text(&server) + &text(&replication);
        ServerInfo::of_info(&said).judge(self.kind, self.url)?;
        let shows = read_time(&accepted(time)?, self.url)?;
        Ok(Greeted { commands, reading: Reading { shows, asked_at }, replicas })
    }

    fn counts_replicas(&self) -> bool {
        self.kind == ServerKind::Server && self.url.options.replicated.is_some()
    }
}

fn hello(url: &RedisUrl) -> Cmd {
    let mut hello = redis::cmd("HELLO");
    hello.arg(3);
    if let Some(password) = &url.password {
        let user = url.user.as_deref().unwrap_or("default");
        hello.arg("AUTH").arg(user).arg(password.reveal());
    }
    hello.arg("SETNAME").arg(CLIENT_NAME);
    hello
}

fn info(section: &str) -> Cmd {
    let mut info = redis::cmd("INFO");
    info.arg(section);
    info
}

/// The answer, unless the server refuses.
fn accepted(answer: Value) -> CommandAnswer<Value> {
    answer.extract_error().map_err(CallError::from)
}

/// The text of `INFO`, which is empty if the server hides it.
pub(super) fn text(answer: &Value) -> String {
    redis::from_redis_value_ref(answer).unwrap_or_default()
}

/// Returns whether the server refuses `HELLO 3`. Old servers do not know it, some servers hide it,
/// and some users may not run it.
pub(super) fn refuses_hello(error: &CallError) -> bool {
    let CallError::Library(error) = error else { return false };
    let about_hello = || error.detail().is_some_and(|d| d.to_ascii_lowercase().contains("hello"));
    match error.code() {
        Some("NOPROTO") => true,
        Some("ERR" | "NOPERM") => about_hello(),
        _ => false,
    }
}

/// Reads the answer to `TIME`: seconds and microseconds.
pub(super) fn read_time(answer: &Value, shown: &impl Display) -> Result<Micros, StoreError> {
    let read = redis::from_redis_value_ref::<(u64, u64)>(answer);
    read.map(|(seconds, micros)| seconds * SECOND + micros).map_err(|_| {
        let message = format!("{shown} answers TIME with something else: is there a proxy?");
        StoreError::new(StoreErrorKind::Misconfigured, Certainty::NotExecuted, message)
    })
}

fn connected_replicas(replication: &Value) -> Option<u32> {
    field(&text(replication), "connected_slaves")?.parse().ok()
}

/// What a server says about itself, in its answer to `HELLO` or to `INFO`. A server that hides
/// something, as some managed ones do, is believed.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct ServerInfo {
    pub(super) version: Option<String>,
    pub(super) mode: Option<String>,
    is_replica: bool,
    master: Option<String>,
}

impl ServerInfo {
    fn of_hello(answer: &Value) -> Self {
        let said: HashMap<String, Value> = redis::from_redis_value_ref(answer).unwrap_or_default();
        let text = |name: &str| redis::from_redis_value_ref::<String>(said.get(name)?).ok();
        Self {
            version: text("version"),
            mode: text("mode"),
            is_replica: text("role").is_some_and(|role| role == "replica"),
            master: None,
        }
    }

    /// Valkey reports as `redis_version` the version of Redis that it can replace. It calls its
    /// mode `server_mode`, unless it is told to be like Redis.
    pub(super) fn of_info(said: &str) -> Self {
        let either =
            |one, other| field(said, one).or_else(|| field(said, other)).map(str::to_owned);
        let master = field(said, "master_host").zip(field(said, "master_port"));
        Self {
            version: either("valkey_version", "redis_version"),
            mode: either("server_mode", "redis_mode"),
            is_replica: field(said, "role") == Some("slave"),
            master: master.map(|(host, port)| format!("{host}:{port}")),
        }
    }

    /// Refuses a server that cannot be used.
    fn judge(&self, kind: ServerKind, shown: &impl Display) -> Result<(), StoreError> {
        let refuse = |kind, why: &str| {
            Err(StoreError::new(kind, Certainty::NotExecuted, format!("{shown} {why}")))
        };
        let (oldest, what) = match kind {
            ServerKind::Server => (OLDEST, "6.2 is the oldest"),
            ServerKind::Cluster => (OLDEST_CLUSTER, "7.0 is the oldest cluster"),
        };
        // The mode is checked first, because a server in another mode may have any version and
        // role.
        if let Some(why) = self.wrong_mode(kind) {
            return refuse(StoreErrorKind::Misconfigured, why);
        }
        if let Some(version) = self.version.as_ref().filter(|version| is_before(version, oldest)) {
            let why = format!("is version {version}: {what} that can be used, so upgrade it");
            return refuse(StoreErrorKind::Misconfigured, &why);
        }
        if kind == ServerKind::Server && self.is_replica {
            let master = self.master.as_deref().unwrap_or("which it does not name");
            let why = format!("is a replica: connect to its master, {master}");
            return refuse(StoreErrorKind::Unreachable, &why);
        }
        Ok(())
    }

    fn wrong_mode(&self, kind: ServerKind) -> Option<&'static str> {
        match (self.mode.as_deref()?, kind) {
            ("sentinel", _) => Some("is a sentinel: write redis+sentinel://HOST:PORT/MASTER"),
            ("cluster", ServerKind::Server) => {
                Some("is part of a cluster: write redis+cluster:// in the store URL")
            }
            ("cluster", ServerKind::Cluster) | (_, ServerKind::Server) => None,
            (_, ServerKind::Cluster) => Some("is not a cluster: write redis:// in the store URL"),
        }
    }
}

pub(super) fn field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

pub(super) fn is_before(version: &str, oldest: (u32, u32)) -> bool {
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(major), Some(minor)) => (major, minor) < oldest,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
