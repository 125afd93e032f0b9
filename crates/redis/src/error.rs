//! The refusals of servers and their meaning, in one table.

mod advice;

use redis::{ErrorKind, RedisError, ServerError};

use self::advice::{ErrorAdvice, SLOW, SPEAKS_OTHER, of_fault};
use super::transport::{CallError, TransportFault};
use seinpaal_store::{
    Certainty::{self, NotExecuted, Unknown},
    StoreError,
    StoreErrorKind::{
        self, Corrupt, Forbidden, Full, Internal, Misconfigured, OtherVersion, Unreachable,
    },
};

/// All rights of a user for Seinpaal alone, with the default prefix.
pub(super) const NEEDED_RIGHTS: &str = "resetchannels ~seinpaal:* &seinpaal:inbox:* +evalsha +eval +script|load +scan +ping +info +select +subscribe \
     +hget +hmget +hgetall +hlen +hscan +hset +hdel +zadd +zrem +zrange +zrangebylex +zlexcount +zremrangebylex \
     +exists +type +unlink +time +pubsub +publish +pexpire +persist";

/// A code that begins a server's error, its meaning, and the remedy.
struct ErrorRule(&'static str, StoreErrorKind, Certainty, &'static str);

/// Codes of servers and of our scripts. A server refuses with its own codes before it runs a
/// script, and our scripts pass them on only if nothing was written. So a refused request was not
/// executed, with two exceptions: a torn write, and `ERR`, which also stands for a script that
/// failed on its way.
#[rustfmt::skip]
const TABLE: [ErrorRule; 31] = [
    ErrorRule("SEINPAALCORRUPT", Corrupt, NotExecuted, "the data under this name is not ours or is damaged: use another prefix, or delete the key"),
    ErrorRule("SEINPAALFORMAT", OtherVersion, NotExecuted, "another version of Seinpaal keeps this name: use that version, or another prefix"),
    ErrorRule("SEINPAALTORN", Corrupt, Unknown, "the server failed in the middle of a script: look at its log, then evict or delete what is left"),
    ErrorRule("SEINPAALARGUMENT", Internal, NotExecuted, "a request is out of range: please report it"),
    ErrorRule("SEINPAALFAILED", Internal, NotExecuted, "a script failed: please report it"),
    ErrorRule("SEINPAALGUARD", Misconfigured, NotExecuted, "restart-guard needs the command INFO in full: allow it to this user, or leave the option out"),
    ErrorRule("SEINPAALOOM", Full, NotExecuted, "the server has no memory left: raise its maxmemory or delete something"),
    ErrorRule("OOM", Full, NotExecuted, "the server has no memory left: raise its maxmemory or delete something"),
    ErrorRule("MISCONF", Full, NotExecuted, "the server refuses writes because it cannot save to disk: look at its disk and log"),
    ErrorRule("READONLY", Unreachable, NotExecuted, "the server is a replica: connect to its master"),
    ErrorRule("LOADING", Unreachable, NotExecuted, "the server is loading its data: try again later"),
    ErrorRule("MASTERDOWN", Unreachable, NotExecuted, "the server is a replica and has lost its master: try again later"),
    ErrorRule("NOREPLICAS", Unreachable, NotExecuted, "the server refuses writes because too few replicas are connected: try again later"),
    ErrorRule("BUSY", Unreachable, NotExecuted, "the server is busy with a slow script: wait, or SCRIPT KILL it"),
    ErrorRule("CLUSTERDOWN", Unreachable, NotExecuted, "the cluster is down: try again later"),
    ErrorRule("TRYAGAIN", Unreachable, NotExecuted, "the cluster is moving this key: try again later"),
    ErrorRule("NOSCRIPT", Unreachable, NotExecuted, "the server forgets scripts as fast as they are loaded: stop the client that runs SCRIPT FLUSH"),
    ErrorRule("MOVED", Misconfigured, NotExecuted, "the server is part of a cluster: write redis+cluster:// in the store URL"),
    ErrorRule("ASK", Misconfigured, NotExecuted, "the server is part of a cluster: write redis+cluster:// in the store URL"),
    ErrorRule("CROSSSLOT", Misconfigured, NotExecuted, "a proxy does not honour hash tags: connect to the server itself"),
    ErrorRule("DENIED", Misconfigured, NotExecuted, "the server is in protected mode: set a password on it, or connect from its own machine"),
    ErrorRule("NOPROTO", Misconfigured, NotExecuted, "the server speaks neither RESP3 nor RESP2 with us: is it a Redis?"),
    ErrorRule("NOPERM", Forbidden, NotExecuted, "this user may not do that: allow it the commands, keys and channels that `seinpaal doctor` names"),
    ErrorRule("NOAUTH", Forbidden, NotExecuted, "the server wants a password: put user:password@ into the store URL"),
    ErrorRule("WRONGPASS", Forbidden, NotExecuted, "user or password is wrong: check the store URL"),
    ErrorRule("WRONGTYPE", Corrupt, NotExecuted, "the key belongs to another program: use another prefix"),
    ErrorRule("EXECABORT", Internal, NotExecuted, "a transaction was refused: please report it"),
    ErrorRule("NOTBUSY", Internal, NotExecuted, "no script was running: please report it"),
    ErrorRule("NOSUB", Internal, NotExecuted, "there was no subscription: please report it"),
    ErrorRule("UNKILLABLE", Unreachable, NotExecuted, "the server is busy with a script that cannot be stopped: wait, or restart it"),
    ErrorRule("ERR", Internal, Unknown, "the server refuses a command: is it a Redis or Valkey of 6.2 or newer, with scripts allowed?"),
];

/// Errors without a code of their own: the code, words of the text, the meaning and the remedy.
/// None of these was executed.
#[rustfmt::skip]
const SPECIAL: [(&str, &str, StoreErrorKind, &str); 4] = [
    ("ERR", "max number of clients", Unreachable, "the server takes no more clients: raise its maxclients, or close some"),
    ("ERR", "unknown command", Misconfigured, "the server does not know a command that is needed: it is no Redis or Valkey of 6.2 or newer, or the command was renamed"),
    ("ERR", "unknown subcommand", Misconfigured, "the server does not know a command that is needed: it is no Redis or Valkey of 6.2 or newer, or a proxy stands before it"),
    ("ERR", "only (P|S)SUBSCRIBE", Unreachable, "a proxy mixes up connections: connect to the server itself"),
];

/// The error for a batch that the server answered with an error.
// Used by fuzz/.
pub fn of_server(error: &ServerError) -> StoreError {
    let (code, details) = (error.code(), error.details().unwrap_or_default());
    refused(code, details)
}

/// The error for a client that a server refuses while it connects. Nothing was executed. The
/// message names the server, because it may not be the right one.
pub(super) fn of_server_at(error: &ServerError, shown: &str) -> StoreError {
    at(shown, &of_server(error))
}

fn at(shown: &str, error: &StoreError) -> StoreError {
    StoreError::new(error.kind(), NotExecuted, format!("{shown}: {error}"))
}

fn refused(code: &str, details: &str) -> StoreError {
    let (code, details) = without_trace(code, without_arguments(details));
    if let Some(denied) = denied(code, details) {
        return denied;
    }
    let special = SPECIAL.iter().find(|(of, words, ..)| *of == code && details.contains(words));
    if let Some((_, _, kind, advice)) = special {
        let said = one_line(&format!("{code} {details}"));
        return StoreError::new(*kind, NotExecuted, format!("{advice} (it said: {said})"));
    }
    let row = TABLE.iter().find(|row| row.0 == code);
    let (kind, certainty, advice) = match row {
        Some(ErrorRule(_, kind, certainty, advice)) => (*kind, *certainty, *advice),
        None => (Internal, Unknown, "the server says something unknown: please report it"),
    };
    let said = one_line(&format!("{code} {details}"));
    StoreError::new(kind, certainty, format!("{advice} (it said: {said})"))
}

/// Hides the line of a script that the server names. The straight paths of the scripts read a value
/// before they write. If the value ends too early, the server ends the script, and says at which of
/// its lines.
fn without_trace<'a>(code: &'a str, details: &'a str) -> (&'a str, &'a str) {
    match code == "ERR" && details.contains("data string too short") {
        true => ("SEINPAALCORRUPT", "a value ends too early"),
        false => (code, details),
    }
}

/// The error for a command that this user may not run, by itself or inside a script.
fn denied(code: &str, details: &str) -> Option<StoreError> {
    // A refusal inside a script has another code, so it is recognized by its words: those of Redis
    // 7.0 and newer, or those of 6.2.
    let in_script = ["ACL failure in script", "The user executing the script"]
        .iter()
        .any(|said| details.contains(said));
    if code != "NOPERM" && !in_script {
        return None;
    }
    let certainty = if code == "SEINPAALTORN" { Unknown } else { NotExecuted };
    let advice = match command_of(details) {
        Some(command) => {
            let (shown, right) = (command.to_uppercase(), command.to_lowercase());
            format!("this user may not run {}: allow it +{right}", shown.replace('|', " "))
        }
        None => "this user may not do that: allow it the commands, keys and channels".to_owned(),
    };
    let torn = if certainty == Unknown {
        "; the script stopped in the middle, so evict or delete what is left"
    } else {
        ""
    };
    let said = one_line(&format!("{code} {details}"));
    let message = format!("{advice} (all that is needed: {NEEDED_RIGHTS}){torn} (it said: {said})");
    Some(StoreError::new(Forbidden, certainty, message))
}

/// `... no permissions to run the 'zadd' command`.
fn command_of(details: &str) -> Option<&str> {
    let (_, rest) = details.split_once("to run the '")?;
    let (command, _) = rest.split_once('\'')?;
    let is_one = command.len() < 40
        && command.chars().all(|c| c.is_ascii_alphanumeric() || "|-_".contains(c));
    is_one.then_some(command)
}

/// The error for a batch without an answer. The batch was handed to a connection, so it may have
/// been executed.
// Used by fuzz/.
pub fn of_call(error: &CallError, shown: &str) -> StoreError {
    let error = match error {
        CallError::Fault(fault) => return of_fault_in_call(fault, shown),
        CallError::Library(error) => error,
    };
    if let (Some(code), false) = (error.code(), is_local(error.kind())) {
        return refused(code, error.detail().unwrap_or_default());
    }
    let what = if error.is_timeout() { "did not answer in time" } else { "closed the connection" };
    let message = format!("{shown} {what}: the same request is sent again when it is back");
    StoreError::new(Unreachable, Unknown, message).caused_by(error.clone())
}

fn of_fault_in_call(fault: &TransportFault, shown: &str) -> StoreError {
    let ErrorAdvice(kind, advice) = of_fault(fault);
    let message = format!("{shown}: {advice}");
    StoreError::new(kind, Unknown, message).caused_by(CallError::from(fault.clone()))
}

/// The error for a connection that could not be made. Nothing was sent.
// Used by fuzz/.
pub fn of_connecting(error: &CallError, shown: &str) -> StoreError {
    let at = |kind, advice: &str| {
        let at = StoreError::new(kind, NotExecuted, format!("{shown}: {advice}"));
        // The server's answer may repeat the request, and so the password.
        if is_answer(error) { at } else { at.caused_by(error.clone()) }
    };
    let error = match error {
        CallError::Fault(TransportFault::Refused(said)) => {
            let (code, details) = said.split_once(' ').unwrap_or((said, ""));
            return self::at(shown, &refused(code, details));
        }
        CallError::Fault(fault) => {
            let ErrorAdvice(kind, advice) = of_fault(fault);
            return at(kind, &advice);
        }
        CallError::Library(error) => error,
    };
    match error.kind() {
        ErrorKind::AuthenticationFailed => at(Forbidden, wrong_login(error)),
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => at(Misconfigured, SPEAKS_OTHER),
        ErrorKind::InvalidClientConfig => at(Misconfigured, &one_line(&error.to_string())),
        kind if is_local(kind) && error.is_timeout() => at(Unreachable, SLOW),
        kind if is_local(kind) => at(
            Unreachable,
            "the connection broke before it was ready: is it a Redis, and with or without TLS (rediss://)?",
        ),
        _ if is_bad_database(error) && error.to_string().contains("permission") => {
            at(Forbidden, "this user may not SELECT a database: allow it +select")
        }
        _ if is_bad_database(error) => {
            at(Misconfigured, "there is no database of that number: check the end of the store URL")
        }
        _ => {
            let answer = refused(error.code().unwrap_or("ERR"), error.detail().unwrap_or_default());
            self::at(shown, &answer)
        }
    }
}

fn wrong_login(error: &RedisError) -> &'static str {
    let said = error.to_string();
    if said.contains("NOAUTH") || said.contains("no password") {
        "the server wants another login: check user and password in the store URL"
    } else {
        "user or password is wrong: check the store URL"
    }
}

fn is_bad_database(error: &RedisError) -> bool {
    // The client library has no code for this error, so it is recognized by its words.
    let said = error.to_string();
    said.contains("DB index") || said.contains("database")
}

/// Returns whether an error is a server's answer.
fn is_answer(error: &CallError) -> bool {
    match error {
        CallError::Fault(fault) => matches!(fault, TransportFault::Refused(_)),
        CallError::Library(error) => error.code().is_some() && !is_local(error.kind()),
    }
}

/// Returns whether an error arose on this side of the connection.
fn is_local(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Io
            | ErrorKind::Client
            | ErrorKind::Parse
            | ErrorKind::UnexpectedReturnType
            | ErrorKind::InvalidClientConfig
    )
}

/// A server's error text, without the arguments of the command that the server does not know. If
/// that command is HELLO, the password is among the arguments.
pub(super) fn without_arguments(said: &str) -> &str {
    said.split_once(", with args beginning with").map_or(said, |(said, _)| said)
}

/// The text of a server in one line, without characters that a terminal would obey.
pub(super) fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(200)
        .collect()
}

/// The reason why a link could not be opened.
pub(super) enum LinkFailure {
    Call(CallError),
    Store(StoreError),
}

impl LinkFailure {
    pub(super) fn at(self, shown: &str) -> StoreError {
        match self {
            Self::Call(error) => of_connecting(&error, shown),
            Self::Store(error) => error,
        }
    }
}

impl From<CallError> for LinkFailure {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl From<StoreError> for LinkFailure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

#[cfg(test)]
mod tests;
