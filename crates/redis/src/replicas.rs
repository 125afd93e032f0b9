//! Replicas: whether they are connected, and whether they have what was written.
//!
//! `WAIT` is sent on the connection that wrote, after the script was answered. One `WAIT` at a time
//! is under way on a connection, and it covers every script that was answered before it was sent.
//! So a replica that hangs costs one timeout, however many names are asked about.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use redis::{RedisError, Value};
use tokio::sync::Mutex;

use super::transport::{CallError, CommandAnswer, Commands};
use seinpaal_store::{Certainty, StoreError, StoreErrorKind};

/// How long replicas may take to confirm a write; see `ConnectOptions::replication_timeout`.
pub(super) const REPLICATION_TIMEOUT: Duration = Duration::from_millis(500);

/// The replicas of the server at the other end of one link.
pub(super) struct Replicas {
    /// How many confirmations were asked for so far.
    asked: AtomicU64,
    round: Mutex<Round>,
    timeout: Duration,
}

/// The last `WAIT`.
struct Round {
    /// The result answers the confirmations that were asked for up to this number.
    covers: u64,
    result: CommandAnswer<u32>,
}

impl Replicas {
    /// Replicas that may take so long to confirm a write.
    pub(super) fn new(timeout: Duration) -> Self {
        let round = Mutex::new(Round { covers: 0, result: Ok(0) });
        Self { asked: AtomicU64::new(0), round, timeout }
    }

    /// Returns how many replicas have everything that this connection wrote before. Waits a while
    /// for `wanted` of them.
    pub(super) async fn confirm(&self, commands: &mut Commands, wanted: u32) -> CommandAnswer<u32> {
        let number = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        let mut round = self.round.lock().await;
        if round.covers < number {
            // The number is read before `WAIT` is sent. A caller that asks after this may have
            // written after it, and needs another `WAIT`.
            let covers = self.asked.load(Ordering::SeqCst);
            let result = wait(commands, wanted, self.timeout).await;
            // A connection that failed once answers no caller any more, so this result is for all
            // of them.
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
/// it, so no caller may rely on it.
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
        _ => (StoreErrorKind::Unreachable, "it no longer knows which replicas have the write"),
    };
    StoreError::new(kind, Certainty::Unknown, format!("{shown}: {advice}"))
        .caused_by(refused.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_replicas_are_a_misconfiguration_until_there_were_enough() {
        let kind = |had_enough| too_few(0, 1, had_enough).kind();
        assert_eq!(kind(false), StoreErrorKind::Misconfigured);
        assert_eq!(kind(true), StoreErrorKind::Unreachable);
    }
}
