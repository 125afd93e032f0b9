//! Finds the rights that a user lacks, when a connection is opened. Advice names each command and
//! the cost of lacking it.

use redis::{Cmd, Value};

use super::{LookedAt, ServerKind};
use crate::{error, script::hash_of, transport::CallError};
use seinpaal_store::{Advice, Certainty, StoreError, StoreErrorKind};

const SOURCE: &str = include_str!("../lua/rights.lua");

/// Without these commands no operation works, or an operation would be torn in the middle.
const NEEDED: [&str; 16] = [
    "time",
    "exists",
    "type",
    "hget",
    "hmget",
    "hgetall",
    "hset",
    "hdel",
    "zadd",
    "zrem",
    "zrangebylex",
    "zremrangebylex",
    "unlink",
    "pexpire",
    "persist",
    "wait",
];

/// Without each of these commands one ability is missing or worse.
#[rustfmt::skip]
const WISHED: [(&str, &str); 9] = [
    ("publish", "waiters are not woken, and look again only every few seconds"),
    ("spublish", "waiters are not woken, and look again only every few seconds"),
    ("pubsub", "a waiter whose process is gone is served all the same, and delays the others"),
    ("scan", "names cannot be listed"),
    ("ping", "a connection that has died silently is not noticed"),
    ("info", "version, mode, role and settings are not checked"),
    ("eval", "a server whose scripts are flushed all the time cannot be used"),
    ("sunsubscribe", "subscriptions to names that are not used any more stay"),
    ("asking", "calls fail while a slot moves"),
];

/// The commands that ask for the rights. They need only rights that calls need in any case: on one
/// server SCRIPT LOAD and EVALSHA, and in a cluster EVAL.
pub(super) fn questions(subject: &LookedAt<'_>) -> Vec<Cmd> {
    let (mut load, hash) = (redis::cmd("SCRIPT"), hash_of(SOURCE));
    load.arg("LOAD").arg(SOURCE);
    match subject.kind {
        ServerKind::Server => vec![load, asking("EVALSHA", &hash, subject)],
        ServerKind::Cluster => vec![asking("EVAL", SOURCE, subject)],
    }
}

fn asking(command: &str, script: &str, subject: &LookedAt<'_>) -> Cmd {
    let mut asking = redis::cmd(command);
    let (publish, listeners) = match subject.kind {
        ServerKind::Server => ("publish", "numsub"),
        ServerKind::Cluster => ("spublish", "shardnumsub"),
    };
    asking.arg(script).arg(0).arg(subject.keys.probe()).arg(subject.channel());
    asking.arg(publish).arg(listeners).arg(words(subject));
    asking
}

fn words(subject: &LookedAt<'_>) -> Vec<&'static str> {
    let mut words = vec!["scan", "ping", "info"];
    match subject.kind {
        ServerKind::Server => words.push("eval"),
        ServerKind::Cluster => words.extend(["sunsubscribe", "asking", "myid"]),
    }
    if subject.is_replicated {
        words.push("wait");
    }
    words
}

/// Refuses a user who lacks a right that is needed. Otherwise gives advice about the rights that
/// are only useful.
pub(super) fn judge(answers: &[Value], subject: &LookedAt<'_>) -> Result<Vec<Advice>, StoreError> {
    for answer in answers {
        match answer {
            // Another client flushed the scripts in between, so this user's rights stay unknown.
            Value::ServerError(refused) if refused.code() == "NOSCRIPT" => {}
            Value::ServerError(refused) => return Err(error::of_server_at(refused, subject.shown)),
            _ => {}
        }
    }
    // The answer of the script is the last one.
    let denied = answers.last().map(read).unwrap_or_default();
    let is_needed = |word: &&String| {
        NEEDED.contains(&word.as_str()) || *word == "myid" || is_info(word, subject)
    };
    let needed: Vec<_> = denied.iter().filter(is_needed).map(String::as_str).collect();
    if needed.is_empty() { Ok(advice(&denied, subject)) } else { Err(refusal(&needed, subject)) }
}

/// Returns whether a word is INFO, and INFO is needed: the restart guard recognizes a server's
/// incarnation by it.
fn is_info(word: &str, subject: &LookedAt<'_>) -> bool {
    word == "info" && subject.is_guarded
}

fn read(answer: &Value) -> Vec<String> {
    redis::from_redis_value_ref(answer).unwrap_or_default()
}

fn refusal(needed: &[&str], subject: &LookedAt<'_>) -> StoreError {
    let (commands, rights) = (needed.join(", ").to_uppercase(), rights(needed));
    let message = format!(
        "{}: this user may not run {commands} on our keys: allow it {rights} ~{}* (docs/internals/stores/redis.md has all that \
         is needed)",
        subject.shown,
        subject.keys.prefix(),
    );
    StoreError::new(StoreErrorKind::Forbidden, Certainty::NotExecuted, message)
}

fn rights(words: &[&str]) -> String {
    let right = |word: &&str| match *word {
        "myid" => "+cluster|myid".to_owned(),
        word => format!("+{word}"),
    };
    words.iter().map(right).collect::<Vec<_>>().join(" ")
}

fn advice(denied: &[String], subject: &LookedAt<'_>) -> Vec<Advice> {
    let line = |&(word, cost): &(&str, &str)| {
        denied.iter().any(|denied| denied == word).then(|| {
            let channels = match word {
                "publish" | "spublish" => format!(" &{}", subject.channels()),
                _ => String::new(),
            };
            let denied = word.to_uppercase();
            Advice::hint(format!("this user may not {denied}: {cost}: allow it +{word}{channels}"))
        })
    };
    WISHED.iter().filter_map(line).collect()
}

/// The error for a subscription that was refused. The server names the channel, which no person has
/// ever written, so this error names the right that is missing.
pub(crate) fn of_subscribing(
    refused: CallError,
    subject: &LookedAt<'_>,
) -> Result<StoreError, CallError> {
    if refused.code() != Some("NOPERM") {
        return Err(refused);
    }
    let message = format!(
        "{}: this user may not SUBSCRIBE to its inbox: allow it +subscribe &{} (docs/internals/stores/redis.md has all that is \
         needed)",
        subject.shown,
        subject.channels(),
    );
    Ok(StoreError::new(StoreErrorKind::Forbidden, Certainty::NotExecuted, message))
}
