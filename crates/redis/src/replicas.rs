//! Replicas: whether they are there, and whether they have what was written.
//!
//! `WAIT` is sent on the connection that wrote, after the script was answered. One `WAIT` at a time
//! is under way on a connection, and it covers every script that was answered before it was sent.
//! So a replica that hangs costs one timeout, however many names are asked about.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use redis::{RedisError, Value};
use tokio::sync::Mutex;

use super::{
    endpoint::RedisEndpoint,
    error::LinkFailure,
    server::field,
    transport::{CallError, CommandAnswer, Commands, ROOM},
};
use seinpaal_store::{Advice, Certainty, StoreError, StoreErrorKind};

/// How long replicas may take; see `ConnectOptions::replication_timeout`.
pub(super) const REPLICATION_TIMEOUT: Duration = Duration::from_millis(500);
/// In seconds. With a longer lag, a master that is cut off takes writes for too long before it
/// notices.
const LONGEST_LAG: u32 = 10;

/// The replicas of the server at the other end of one link.
pub(super) struct Replicas {
    /// A line for each thing to change about the server.
    pub(super) advice: Vec<Advice>,
    /// How many were connected when the link was opened, if the server said so.
    pub(super) connected: Option<u32>,
    /// How many confirmations were asked for so far.
    asked: AtomicU64,
    round: Mutex<Round>,
    timeout: Duration,
}

/// The last `WAIT`.
struct Round {
    /// It answers the confirmations that were asked for up to this number.
    covers: u64,
    result: CommandAnswer<u32>,
}

/// The replicas of a node of a cluster. The map of slots tells how many there are.
impl Default for Replicas {
    fn default() -> Self {
        let round = Mutex::new(Round { covers: 0, result: Ok(0) });
        Self {
            advice: Vec::new(),
            connected: None,
            asked: AtomicU64::new(0),
            round,
            timeout: REPLICATION_TIMEOUT,
        }
    }
}

impl Replicas {
    /// Asks about replicas if something depends on them. Refuses a server that is no master if a
    /// master was promised. A server that will not say is believed.
    pub(super) async fn look(
        commands: &mut Commands,
        endpoint: &RedisEndpoint,
        timeout: Duration,
        shown: &str,
    ) -> Result<Self, LinkFailure> {
        let replicated = endpoint.options().replicated;
        let (mut advice, mut there) = (Vec::new(), None);
        // Only then, because the questions take another round trip.
        if endpoint.may_move() || replicated.is_some() {
            let mut questions = redis::pipe();
            questions.cmd("ROLE").cmd("INFO").arg("replication");
            questions.cmd("CONFIG").arg("GET").arg("min-replicas-*");
            let mut answers = commands.send_all(&questions, 0, 3, ROOM).await?.into_iter();
            let mut next = || answers.next().unwrap_or_default();
            let (role, info, limits) = (next(), next(), next());
            if is_no_master(&role) {
                return Err(LinkFailure::Store(no_master(shown)));
            }
            there = connected(info);
            advice = advise(replicated, there, redis::from_redis_value(limits).ok());
        }
        let advice = advice.into_iter().map(|advice| advice.at(shown)).collect();
        Ok(Self { advice, connected: there, timeout, ..Self::default() })
    }

    /// How many replicas have everything that this connection wrote before. Waits for `wanted` of
    /// them, for a while.
    pub(super) async fn confirm(&self, commands: &mut Commands, wanted: u32) -> CommandAnswer<u32> {
        let number = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        let mut round = self.round.lock().await;
        if round.covers < number {
            // Read before `WAIT` is sent. Whoever asks after this may have written after it, and
            // needs another.
            let covers = self.asked.load(Ordering::SeqCst);
            let result = wait(commands, wanted, self.timeout).await;
            // A connection that failed once answers nobody any more, so this result is for all.
            let covers = if result.is_err() { u64::MAX } else { covers };
            *round = Round { covers, result };
        }
        round.result.clone()
    }
}

async fn wait(commands: &mut Commands, wanted: u32, longest_wait: Duration) -> CommandAnswer<u32> {
    let mut wait = redis::cmd("WAIT");
    wait.arg(wanted).arg(longest_wait.as_millis().to_string());
    match commands.send(&wait).await? {
        Value::ServerError(refused) => Err(RedisError::from(refused).into()),
        value => redis::from_redis_value(value).map_err(|bad| RedisError::from(bad).into()),
    }
}

/// The error if too few replicas have a write. The grant may be stored, but a fail-over could undo
/// it, so nobody may believe in it.
pub(super) fn too_few(count: u32, wanted: u32, had_enough: bool) -> StoreError {
    let advice = if had_enough {
        "check that they run and are connected, or wait for them"
    } else {
        "connect more replicas, or lower replicated"
    };
    let kind = if had_enough { StoreErrorKind::Unreachable } else { StoreErrorKind::Misconfigured };
    let message = format!(
        "{count} of the {wanted} replicas that replicated={wanted} asks for have the write: {advice}"
    );
    StoreError::new(kind, Certainty::Unknown, message)
}

/// The error if `WAIT` was refused, or was cut short because the server has just been made a
/// replica.
pub(super) fn not_confirmed(refused: &CallError, shown: &str) -> StoreError {
    let (kind, advice) = match refused.code() {
        Some("NOPERM") => {
            (StoreErrorKind::Forbidden, "this user may not WAIT, which replicated=N needs")
        }
        _ => (StoreErrorKind::Unreachable, "it cannot say which replicas have the write any more"),
    };
    StoreError::new(kind, Certainty::Unknown, format!("{shown}: {advice}"))
        .caused_by(refused.clone())
}

fn is_no_master(role: &Value) -> bool {
    let Value::Array(parts) = role else { return false };
    !matches!(parts.first(), Some(Value::BulkString(role)) if role == b"master")
}

fn no_master(shown: &str) -> StoreError {
    let message = format!("{shown} is no master (any more): asking for the master again");
    StoreError::new(StoreErrorKind::Unreachable, Certainty::NotExecuted, message)
}

fn connected(info: Value) -> Option<u32> {
    let info: String = redis::from_redis_value(info).ok()?;
    field(&info, "connected_slaves")?.parse().ok()
}

fn advise(
    replicated: Option<u32>,
    connected: Option<u32>,
    limits: Option<HashMap<String, String>>,
) -> Vec<Advice> {
    let mut advice = Vec::new();
    if replicated.is_none() {
        let line = "grants may be lost in a fail-over, and be given twice: replicated=N, with N as \
                    many as there are replicas, prevents that";
        advice.push(Advice::risk(line));
    }
    let wanted = replicated.unwrap_or(u32::MAX);
    match connected.filter(|_| replicated.is_some()) {
        Some(count) if count < wanted => advice.push(Advice::risk(format!(
            "{count} replicas are connected and replicated={wanted}: nothing is granted until there are \
             enough"
        ))),
        Some(count) if count > wanted => advice.push(Advice::risk(format!(
            "replicated={wanted} of {count} replicas: only with all of them has whichever is promoted \
             every grant for certain"
        ))),
        _ => {}
    }
    advice.extend(limits.as_ref().and_then(advise_on_limits));
    advice
}

/// Advice on when a master refuses writes for lack of replicas.
fn advise_on_limits(limits: &HashMap<String, String>) -> Option<Advice> {
    let limit = |name: &str| limits.get(name)?.parse::<u32>().ok();
    if limit("min-replicas-to-write") == Some(0) {
        return Some(Advice::risk(
            "min-replicas-to-write is 0, so a master that was paused or cut off goes on taking writes: \
             set it to 1 or more, and min-replicas-max-lag to a few seconds",
        ));
    }
    let is_useless = limit("min-replicas-max-lag").is_some_and(|lag| lag == 0 || lag > LONGEST_LAG);
    is_useless.then(|| Advice::hint("min-replicas-max-lag should be a few seconds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(replicas: &str, lag: &str) -> Option<HashMap<String, String>> {
        let pairs = [("min-replicas-to-write", replicas), ("min-replicas-max-lag", lag)];
        Some(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into())
    }

    #[test]
    fn where_all_is_well_there_is_no_advice() {
        assert!(advise(Some(2), Some(2), limits("1", "3")).is_empty());
        assert!(advise(Some(2), None, None).is_empty());
    }

    #[test]
    fn what_breaks_a_promise_is_told_with_the_remedy() {
        let told = |wanted, connected, limits, remedy: &str| {
            let advice = advise(wanted, connected, limits);
            let advice = advice.iter().map(Advice::to_string).collect::<Vec<_>>().join("\n");
            assert!(advice.contains(remedy), "{advice}");
        };
        told(None, Some(2), limits("1", "3"), "replicated=N");
        told(Some(2), Some(1), limits("1", "3"), "until there are enough");
        told(Some(1), Some(2), limits("1", "3"), "only with all of them");
        told(Some(2), Some(2), limits("0", "10"), "min-replicas-to-write");
        told(Some(2), Some(2), limits("1", "60"), "min-replicas-max-lag");
    }

    #[test]
    fn too_few_replicas_are_a_misconfiguration_until_there_were_enough() {
        let kind = |had_enough| too_few(0, 1, had_enough).kind();
        assert_eq!(kind(false), StoreErrorKind::Misconfigured);
        assert_eq!(kind(true), StoreErrorKind::Unreachable);
    }

    #[test]
    fn a_replica_is_no_master_and_a_server_that_will_not_say_is_believed() {
        let role = |role: &str| Value::Array(vec![Value::BulkString(role.into())]);
        assert!(is_no_master(&role("slave")) && is_no_master(&role("sentinel")));
        assert!(!is_no_master(&role("master")) && !is_no_master(&Value::Nil));
    }
}
