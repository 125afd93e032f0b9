//! Finds the rights that a user lacks. Advice names each command and the cost of lacking it.

use redis::{Pipeline, Value};

use super::{ServerKind, Subject};
use crate::{
    error::{self, LinkFailure, NEEDED_RIGHTS},
    script::hash_of,
    transport::{CallError, Commands, ROOM},
};
use seinpaal_store::{Advice, Certainty, StoreError, StoreErrorKind};

const SOURCE: &str = include_str!("../lua/rights.lua");

/// Without these commands no operation works, or an operation would be torn in the middle.
const NEEDED: [&str; 20] = [
    "time",
    "exists",
    "type",
    "hget",
    "hmget",
    "hgetall",
    "hlen",
    "hscan",
    "hset",
    "hdel",
    "zadd",
    "zrem",
    "zrange",
    "zrangebylex",
    "zlexcount",
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
    ("info", "its settings are not checked"),
    ("eval", "a server whose scripts are flushed all the time cannot be used"),
    ("sunsubscribe", "subscriptions to names that are not used any more stay"),
    ("asking", "calls fail while a slot moves"),
];

/// The commands that ask for the rights. They need only rights that calls need in any case: on one
/// server SCRIPT LOAD and EVALSHA, and in a cluster EVAL.
fn questions(subject: &Subject<'_>) -> Pipeline {
    let mut all = redis::pipe();
    let (publish, listeners) = match subject.kind {
        ServerKind::Server => {
            all.cmd("SCRIPT").arg("LOAD").arg(SOURCE).cmd("EVALSHA").arg(hash_of(SOURCE));
            ("publish", "numsub")
        }
        ServerKind::Cluster => {
            all.cmd("EVAL").arg(SOURCE);
            ("spublish", "shardnumsub")
        }
    };
    all.arg(0).arg(subject.keys.probe()).arg(subject.channel());
    all.arg(publish).arg(listeners).arg(words(subject));
    all
}

fn words(subject: &Subject<'_>) -> Vec<&'static str> {
    let mut words = vec!["scan", "ping", "info"];
    match subject.kind {
        ServerKind::Server => words.push("eval"),
        ServerKind::Cluster => words.extend(["sunsubscribe", "asking", "myid"]),
    }
    if subject.url.options.replicated.is_some() {
        words.push("wait");
    }
    words
}

/// Refuses a user who lacks a right that is needed. Otherwise gives advice about the rights that
/// are only useful.
pub(super) async fn advice(
    commands: &mut Commands,
    subject: &Subject<'_>,
) -> Result<Vec<Advice>, LinkFailure> {
    let questions = questions(subject);
    let answers = commands.send_all(&questions, 0, questions.len(), ROOM).await?;
    for answer in &answers {
        match answer {
            // Another client flushed the scripts in between, so this user's rights stay unknown.
            Value::ServerError(refused) if refused.code() == "NOSCRIPT" => {}
            Value::ServerError(refused) => {
                return Err(error::of_server_at(refused, &subject.url.to_string()).into());
            }
            _ => {}
        }
    }
    // The answer of the script is the last one.
    let denied = answers.last().map(read).unwrap_or_default();
    let is_needed = |word: &&String| {
        NEEDED.contains(&word.as_str()) || *word == "myid" || is_info(word, subject)
    };
    let needed: Vec<_> = denied.iter().filter(is_needed).map(String::as_str).collect();
    if needed.is_empty() {
        Ok(wishes(&denied, subject))
    } else {
        Err(refusal(&needed, subject).into())
    }
}

/// Returns whether a word is INFO, and INFO is needed: the restart guard recognizes a server's
/// incarnation by it.
fn is_info(word: &str, subject: &Subject<'_>) -> bool {
    word == "info" && subject.url.options.restart_guard.is_some()
}

fn read(answer: &Value) -> Vec<String> {
    redis::from_redis_value_ref(answer).unwrap_or_default()
}

fn refusal(needed: &[&str], subject: &Subject<'_>) -> StoreError {
    let (commands, rights) = (needed.join(", ").to_uppercase(), rights(needed));
    let message = format!(
        "{}: this user may not run {commands} on our keys: allow it {rights} ~{}*",
        subject.url,
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

fn wishes(denied: &[String], subject: &Subject<'_>) -> Vec<Advice> {
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

/// The error with the right in it that this user lacks, if the error is about a right. A script that
/// was stopped for lack of a right does not always say at which command.
pub(crate) async fn with_the_right_named(
    error: StoreError,
    commands: &mut Commands,
    subject: &Subject<'_>,
) -> StoreError {
    if error.kind() != StoreErrorKind::Forbidden {
        return error;
    }
    let Err(LinkFailure::Store(named)) = advice(commands, subject).await else { return error };
    let message = match error.certainty() {
        Certainty::NotExecuted => named.to_string(),
        // What the script left behind has to be told as well.
        Certainty::Unknown => format!("{named} (it said: {error})"),
    };
    StoreError::new(error.kind(), error.certainty(), message)
}

/// The failure of a subscription. The server names the channel, which no person has ever written, so
/// this names the right that is missing.
pub(crate) fn of_subscribing(refused: CallError, subject: &Subject<'_>) -> LinkFailure {
    if refused.code() != Some("NOPERM") {
        return refused.into();
    }
    let message = format!(
        "{}: this user may not SUBSCRIBE to its inbox: allow it +subscribe &{} (all that is needed: {NEEDED_RIGHTS})",
        subject.url,
        subject.channels(),
    );
    StoreError::new(StoreErrorKind::Forbidden, Certainty::NotExecuted, message).into()
}
