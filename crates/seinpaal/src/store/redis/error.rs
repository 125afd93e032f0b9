//! What a server says when it will not, and what that means: one table.

use redis::{ErrorKind, RedisError, ServerError};

use crate::store::{
    Certainty::{self, NotExecuted, Unknown},
    StoreError,
    StoreErrorKind::{self, Corrupt, Forbidden, Full, Internal, Misconfigured, Unreachable},
};

/// A code that begins a server's error, what it means, and what to do.
struct Row(&'static str, StoreErrorKind, Certainty, &'static str);

/// Codes of servers and of our scripts. A server refuses with its own codes before it runs a script, and
/// our scripts pass them on only if nothing was written: so all but a torn write are certain.
#[rustfmt::skip]
const TABLE: [Row; 30] = [
    Row("SEINPAALCORRUPT", Corrupt, NotExecuted, "what is kept under this name is not ours or is damaged: use another prefix, or delete the key"),
    Row("SEINPAALTORN", Corrupt, Unknown, "the server failed in the middle of a script: look at its log, then evict or delete what is left"),
    Row("SEINPAALARGUMENT", Internal, NotExecuted, "a request is out of range: please report it"),
    Row("SEINPAALFAILED", Internal, NotExecuted, "a script failed: please report it"),
    Row("SEINPAALGUARD", Misconfigured, NotExecuted, "restart-guard needs the command INFO in full: allow it to this user, or leave the option out"),
    Row("SEINPAALOOM", Full, NotExecuted, "the server has no memory left: raise its maxmemory or delete something"),
    Row("OOM", Full, NotExecuted, "the server has no memory left: raise its maxmemory or delete something"),
    Row("MISCONF", Full, NotExecuted, "the server refuses writes because it cannot save to disk: look at its disk and log"),
    Row("READONLY", Unreachable, NotExecuted, "the server is a replica: connect to its master"),
    Row("LOADING", Unreachable, NotExecuted, "the server is loading its data: try again later"),
    Row("MASTERDOWN", Unreachable, NotExecuted, "the server is a replica and has lost its master: try again later"),
    Row("NOREPLICAS", Unreachable, NotExecuted, "the server refuses writes because too few replicas are connected: try again later"),
    Row("BUSY", Unreachable, NotExecuted, "the server is busy with somebody's slow script: wait, or SCRIPT KILL it"),
    Row("CLUSTERDOWN", Unreachable, NotExecuted, "the cluster is down: try again later"),
    Row("TRYAGAIN", Unreachable, NotExecuted, "the cluster is moving this key: try again later"),
    Row("NOSCRIPT", Unreachable, NotExecuted, "the server forgets scripts as fast as they are loaded: stop whoever runs SCRIPT FLUSH"),
    Row("MOVED", Misconfigured, NotExecuted, "the server is part of a cluster: write redis+cluster:// in the store URL"),
    Row("ASK", Misconfigured, NotExecuted, "the server is part of a cluster: write redis+cluster:// in the store URL"),
    Row("CROSSSLOT", Misconfigured, NotExecuted, "a proxy does not honour hash tags: connect to the server itself"),
    Row("DENIED", Misconfigured, NotExecuted, "the server is in protected mode: set a password on it, or connect from its own machine"),
    Row("NOPROTO", Misconfigured, NotExecuted, "the server speaks neither RESP3 nor RESP2 with us: is it a Redis?"),
    Row("NOPERM", Forbidden, NotExecuted, "this user may not do that: allow it the commands, keys and channels listed in docs/redis.md"),
    Row("NOAUTH", Forbidden, NotExecuted, "the server wants a password: put user:password@ into the store URL"),
    Row("WRONGPASS", Forbidden, NotExecuted, "user or password is wrong: check the store URL"),
    Row("WRONGTYPE", Corrupt, NotExecuted, "the key belongs to somebody else: use another prefix"),
    Row("EXECABORT", Internal, NotExecuted, "a transaction was refused: please report it"),
    Row("NOTBUSY", Internal, NotExecuted, "no script was running: please report it"),
    Row("NOSUB", Internal, NotExecuted, "there was no subscription: please report it"),
    Row("UNKILLABLE", Unreachable, NotExecuted, "the server is busy with a script that cannot be stopped: wait, or restart it"),
    Row("ERR", Internal, Unknown, "the server refuses a command: is it a Redis or Valkey of 6.2 or newer, with scripts allowed?"),
];

/// What became of a batch that the server answered with an error.
pub(super) fn of_server(error: &ServerError) -> StoreError {
    let (code, details) = (error.code(), error.details().unwrap_or_default());
    refused(code, details)
}

fn refused(code: &str, details: &str) -> StoreError {
    let row = TABLE.iter().find(|row| row.0 == code);
    let (kind, certainty, advice) = match row {
        Some(Row(_, kind, certainty, advice)) => (*kind, *certainty, *advice),
        None => (Internal, Unknown, "the server says something unknown: please report it"),
    };
    let said = one_line(&format!("{code} {details}"));
    StoreError::new(kind, certainty, format!("{advice} (it said: {said})"))
}

/// What became of a batch whose answer did not come. It was handed to a connection, so nobody knows.
pub(super) fn of_call(error: &RedisError, shown: &str) -> StoreError {
    if let (Some(code), false) = (error.code(), is_local(error.kind())) {
        return refused(code, error.detail().unwrap_or_default());
    }
    let what = if error.is_timeout() { "did not answer in time" } else { "went away" };
    let message = format!("{shown} {what}: the same request is sent again when it is back");
    StoreError::new(Unreachable, Unknown, message).caused_by(error.clone())
}

/// Why there is no connection. Nothing was sent.
pub(super) fn of_connecting(error: &RedisError, shown: &str) -> StoreError {
    let at = |kind, advice: &str| {
        StoreError::new(kind, NotExecuted, format!("{shown}: {advice}")).caused_by(error.clone())
    };
    match error.kind() {
        ErrorKind::AuthenticationFailed => at(Forbidden, wrong_login(error)),
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => at(
            Misconfigured,
            "what listens there does not speak the Redis protocol: check host and port",
        ),
        ErrorKind::InvalidClientConfig => at(Misconfigured, &one_line(&error.to_string())),
        kind if is_local(kind) => at(Unreachable, io_advice(error)),
        _ if is_bad_database(error) => {
            at(Misconfigured, "there is no database of that number: check the end of the store URL")
        }
        _ => {
            let answer = refused(error.code().unwrap_or("ERR"), error.detail().unwrap_or_default());
            StoreError::new(answer.kind(), NotExecuted, format!("{shown}: {answer}"))
        }
    }
}

fn io_advice(error: &RedisError) -> &'static str {
    if error.is_connection_refusal() {
        "nothing listens there: start the server, or check host and port"
    } else if error.is_timeout() {
        "it does not answer: check host, port and firewall, or raise connect-timeout"
    } else if is_certificate(error) {
        "its certificate is not trusted: check the host name, or name its authority in SSL_CERT_FILE"
    } else if is_name_lookup(error) {
        "the host cannot be found: check its name"
    } else {
        "the connection broke before it was ready: is it a Redis, and with or without TLS (rediss://)?"
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

fn is_certificate(error: &RedisError) -> bool {
    let said = error.to_string();
    said.contains("certificate") || said.contains("UnknownIssuer")
}

fn is_name_lookup(error: &RedisError) -> bool {
    error.to_string().contains("lookup")
}

fn is_bad_database(error: &RedisError) -> bool {
    let said = error.to_string();
    said.contains("DB index") || said.contains("database")
}

/// Whether an error arose on this side of the connection.
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

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    const EXPECTED: [(&str, StoreErrorKind, Certainty); 30] = [
        ("SEINPAALCORRUPT", Corrupt, NotExecuted), ("SEINPAALTORN", Corrupt, Unknown),
        ("SEINPAALARGUMENT", Internal, NotExecuted), ("SEINPAALFAILED", Internal, NotExecuted),
        ("SEINPAALGUARD", Misconfigured, NotExecuted),
        ("SEINPAALOOM", Full, NotExecuted), ("OOM", Full, NotExecuted), ("MISCONF", Full, NotExecuted),
        ("READONLY", Unreachable, NotExecuted), ("LOADING", Unreachable, NotExecuted),
        ("MASTERDOWN", Unreachable, NotExecuted), ("NOREPLICAS", Unreachable, NotExecuted),
        ("BUSY", Unreachable, NotExecuted), ("CLUSTERDOWN", Unreachable, NotExecuted),
        ("TRYAGAIN", Unreachable, NotExecuted), ("NOSCRIPT", Unreachable, NotExecuted),
        ("MOVED", Misconfigured, NotExecuted), ("ASK", Misconfigured, NotExecuted),
        ("CROSSSLOT", Misconfigured, NotExecuted), ("DENIED", Misconfigured, NotExecuted),
        ("NOPROTO", Misconfigured, NotExecuted), ("NOPERM", Forbidden, NotExecuted),
        ("NOAUTH", Forbidden, NotExecuted), ("WRONGPASS", Forbidden, NotExecuted),
        ("WRONGTYPE", Corrupt, NotExecuted), ("EXECABORT", Internal, NotExecuted),
        ("NOTBUSY", Internal, NotExecuted), ("NOSUB", Internal, NotExecuted),
        ("UNKILLABLE", Unreachable, NotExecuted), ("ERR", Internal, Unknown),
    ];

    #[test]
    fn every_code_has_its_kind_and_certainty() {
        assert_eq!(EXPECTED.len(), TABLE.len());
        for (code, kind, certainty) in EXPECTED {
            let error = refused(code, "some detail");
            assert_eq!((error.kind(), error.certainty()), (kind, certainty), "{code}");
        }
    }

    #[test]
    fn an_unknown_code_may_have_been_executed() {
        let error = refused("SOMETHING", "new");
        assert_eq!((error.kind(), error.certainty()), (Internal, Unknown));
    }

    #[test]
    fn an_error_is_one_line_whatever_the_server_says() {
        let error = refused("ERR", "one\r\ntwo\n three");
        assert!(!error.to_string().contains(['\r', '\n']), "{error}");
    }

    #[test]
    fn a_lost_connection_leaves_the_outcome_unknown() {
        let lost = RedisError::from(std::io::Error::from(std::io::ErrorKind::BrokenPipe));
        let error = of_call(&lost, "redis://a:1/0");
        assert_eq!((error.kind(), error.certainty()), (Unreachable, Unknown));
        assert_eq!(of_connecting(&lost, "redis://a:1/0").certainty(), NotExecuted);
    }
}
