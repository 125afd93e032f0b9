//! A look at a server when a link is opened: its clock, its settings, and whether it can be used.
//! The look takes one round trip.

mod facts;
mod rights;
mod settings;

use std::{fmt::Display, time::SystemTime};

use redis::{Cmd, ServerError, Value};
use seinpaal_proto::{
    Inbox,
    time::{Micros, SECOND},
};

pub use self::facts::together;
pub(super) use self::rights::of_subscribing;
pub use self::settings::NOTHING_KEPT;
use self::settings::ServerSettings;
use super::{
    error,
    keys::Keys,
    transport::{CommandAnswer, Commands, ROOM},
};
use seinpaal_store::{
    Advice, Certainty, Fact, Reading, StoreError, StoreErrorKind, boottime, url::RedisOptions,
};

const OLDEST: (u32, u32) = (6, 2);
/// The first version with sharded channels.
const OLDEST_CLUSTER: (u32, u32) = (7, 0);
/// An older server gets the hint to plan for this version.
const PREFERRED: (u32, u32) = (7, 0);

/// The kind of server that the URL promises.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ServerKind {
    Server,
    Cluster,
}

/// The server that is looked at, and its intended use.
pub(super) struct LookedAt<'a> {
    pub(super) shown: &'a str,
    pub(super) kind: ServerKind,
    pub(super) keys: &'a Keys,
    pub(super) inbox: Inbox,
    pub(super) is_guarded: bool,
    pub(super) is_replicated: bool,
}

/// The findings of a look at a server.
pub(super) struct ServerFindings {
    pub(super) reading: Reading,
    /// A line for each thing to change.
    pub(super) advice: Vec<Advice>,
    pub(super) facts: Vec<Fact>,
}

impl<'a> LookedAt<'a> {
    pub(super) fn new(
        shown: &'a str,
        kind: ServerKind,
        keys: &'a Keys,
        inbox: Inbox,
        options: &RedisOptions,
    ) -> Self {
        let is_guarded = options.restart_guard.is_some();
        let is_replicated = options.replicated.is_some();
        Self { shown, kind, keys, inbox, is_guarded, is_replicated }
    }

    #[cfg(test)]
    fn plain(keys: &'a Keys, kind: ServerKind) -> Self {
        Self::new("redis://a:1/0", kind, keys, Inbox(1), &RedisOptions::default())
    }

    /// A channel on which wakeups could come.
    fn channel(&self) -> String {
        match self.kind {
            ServerKind::Server => self.keys.channel(self.inbox),
            ServerKind::Cluster => format!("{}:inbox:{}", self.keys.probe(), self.inbox),
        }
    }

    /// The pattern of all channels for wakeups, as an access list has it.
    fn channels(&self) -> String {
        match self.kind {
            ServerKind::Server => format!("{}inbox:*", self.keys.prefix()),
            ServerKind::Cluster => format!("{}*:inbox:*", self.keys.prefix()),
        }
    }
}

/// Looks at the server's clock, version and settings, and at the rights of this user.
pub(super) async fn look(
    commands: &mut Commands,
    subject: &LookedAt<'_>,
) -> CommandAnswer<Result<ServerFindings, StoreError>> {
    let (mut all, rights, settings) =
        (redis::pipe(), rights::questions(subject), settings::questions());
    all.add_command(time());
    for section in ["server", "replication"] {
        all.cmd("INFO").arg(section);
    }
    for question in rights.iter().chain(&settings) {
        all.add_command(question.clone());
    }
    // Both clocks are read before the question goes out, since `asked_at` has to lie before the
    // reading.
    let sent = SystemTime::now();
    let (asked_at, count) = (boottime::now(), 3 + rights.len() + settings.len());
    let answers = commands.send_all(&all, 0, count, ROOM).await?;
    Ok(judge_all(&answers, rights.len(), subject, asked_at, (sent, SystemTime::now())))
}

/// The error that names a right that is missing now. The user may have had it when the link was
/// opened.
pub(super) async fn missing_right(
    commands: &mut Commands,
    subject: &LookedAt<'_>,
) -> Option<StoreError> {
    let (mut all, rights) = (redis::pipe(), rights::questions(subject));
    for question in &rights {
        all.add_command(question.clone());
    }
    let answers = commands.send_all(&all, 0, rights.len(), ROOM).await.ok()?;
    rights::judge(&answers, subject).err()
}

fn judge_all(
    answers: &[Value],
    rights: usize,
    subject: &LookedAt<'_>,
    asked_at: Micros,
    here: (SystemTime, SystemTime),
) -> Result<ServerFindings, StoreError> {
    let [time, server, replication, rest @ ..] = answers else {
        return Err(no_time(subject.shown));
    };
    let mut advice = check(server, replication, subject)?;
    let (rights, settings) = rest.split_at(rights.min(rest.len()));
    if let Value::ServerError(refused) = time {
        return Err(error::of_server_at(refused, subject.shown));
    }
    let shows = read_time(time).ok_or_else(|| no_time(subject.shown))?;
    advice.extend(rights::judge(rights, subject)?);
    let settings = ServerSettings::read(settings);
    advice.extend(settings.advice(subject));
    let advice = advice.into_iter().map(|advice| advice.at(subject.shown)).collect();
    let mut facts = facts::of_server(server, replication);
    facts.extend(settings.facts());
    facts.extend(facts::of_clock(shows, here));
    Ok(ServerFindings { reading: Reading { shows, asked_at }, advice, facts })
}

pub(super) fn time() -> Cmd {
    redis::cmd("TIME")
}

/// Reads the answer to `TIME`: seconds and microseconds.
pub(super) fn read_time(answer: &Value) -> Option<Micros> {
    let (seconds, micros): (u64, u64) = redis::from_redis_value_ref(answer).ok()?;
    Some(seconds * SECOND + micros)
}

pub(super) fn no_time(shown: &(impl Display + ?Sized)) -> StoreError {
    let message = format!("{shown} answers TIME with something else: is there a proxy?");
    StoreError::new(StoreErrorKind::Misconfigured, Certainty::NotExecuted, message)
}

/// Refuses a server that cannot be used, and gives advice about any other. A server that hides its
/// kind, as some managed ones do, is believed.
fn check(
    server: &Value,
    replication: &Value,
    subject: &LookedAt<'_>,
) -> Result<Vec<Advice>, StoreError> {
    let text = |answer: &Value| match answer {
        Value::ServerError(refused) if hides(refused) => Ok(String::new()),
        Value::ServerError(refused) => Err(error::of_server_at(refused, subject.shown)),
        answer => Ok(redis::from_redis_value_ref(answer).unwrap_or_default()),
    };
    let (server, replication) = (text(server)?, text(replication)?);
    judge(&server, &replication, subject)?;
    Ok(advise(&server, &replication, subject))
}

/// Returns whether the user may not ask this question, or the server does not know it.
fn hides(refused: &ServerError) -> bool {
    matches!(refused.code(), "NOPERM" | "ERR")
}

fn judge(server: &str, replication: &str, subject: &LookedAt<'_>) -> Result<(), StoreError> {
    let refuse = |kind, why: String| {
        Err(StoreError::new(kind, Certainty::NotExecuted, format!("{} {why}", subject.shown)))
    };
    let (oldest, what) = match subject.kind {
        ServerKind::Server => (OLDEST, "6.2 is the oldest"),
        ServerKind::Cluster => (OLDEST_CLUSTER, "7.0 is the oldest cluster"),
    };
    // The mode is checked first, because a server in another mode may have any version and role.
    if let Some(why) = wrong_mode(server, subject.kind) {
        return refuse(StoreErrorKind::Misconfigured, why.into());
    }
    if let Some(version) = version(server)
        && is_before(version, oldest)
    {
        let why = format!("is version {version}: {what} that can be used, so upgrade it");
        return refuse(StoreErrorKind::Misconfigured, why);
    }
    if subject.kind == ServerKind::Server && field(replication, "role") == Some("slave") {
        let host = field(replication, "master_host").unwrap_or("?");
        let port = field(replication, "master_port").unwrap_or("?");
        let why = format!("is a replica: connect to its master, {host}:{port}");
        return refuse(StoreErrorKind::Unreachable, why);
    }
    Ok(())
}

fn wrong_mode(server: &str, kind: ServerKind) -> Option<&'static str> {
    match (mode(server)?, kind) {
        ("sentinel", _) => Some("is a sentinel: write redis+sentinel://HOST:PORT/MASTER"),
        ("cluster", ServerKind::Server) => {
            Some("is part of a cluster: write redis+cluster:// in the store URL")
        }
        ("cluster", ServerKind::Cluster) | (_, ServerKind::Server) => None,
        (_, ServerKind::Cluster) => Some("is not a cluster: write redis:// in the store URL"),
    }
}

/// The mode of a server. Redis says `redis_mode`, and so does Valkey if it is told to be like
/// Redis. Otherwise it says `server_mode`.
fn mode(server: &str) -> Option<&str> {
    field(server, "server_mode").or_else(|| field(server, "redis_mode"))
}

/// The version of a server. Valkey reports as `redis_version` the version of Redis that it can
/// replace.
fn version(server: &str) -> Option<&str> {
    field(server, "valkey_version").or_else(|| field(server, "redis_version"))
}

fn advise(server: &str, replication: &str, subject: &LookedAt<'_>) -> Vec<Advice> {
    let mut lines = Vec::new();
    if let Some(version) = version(server)
        && is_before(version, PREFERRED)
    {
        lines.push(Advice::hint(format!(
            "version {version} is of the oldest line that can be used: plan for 7.0 or newer"
        )));
    }
    let replicas = field(replication, "connected_slaves").filter(|count| *count != "0");
    if let (Some(count), ServerKind::Server, false) =
        (replicas, subject.kind, subject.is_replicated)
    {
        let follow = if count == "1" { "replica follows" } else { "replicas follow" };
        lines.push(Advice::risk(format!(
            "{count} {follow} it: if one is made the master, the last grants are forgotten and given again, \
             unless the store URL says replicated={count}"
        )));
    }
    lines
}

pub(super) fn field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

fn is_before(version: &str, oldest: (u32, u32)) -> bool {
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(major), Some(minor)) => (major, minor) < oldest,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
