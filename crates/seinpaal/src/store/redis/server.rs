//! What a server says of itself, and whether it will do.

use std::fmt::Display;

use redis::{Cmd, RedisResult, Value, aio::MultiplexedConnection};
use seinpaal_proto::time::{Micros, SECOND};

use super::link::Failure;
use crate::{
    boottime,
    store::{Certainty, Reading, StoreError, StoreErrorKind},
};

const OLDEST: (u32, u32) = (6, 2);
/// The first with sharded channels.
const OLDEST_CLUSTER: (u32, u32) = (7, 0);

/// Looks at the clock and at the server, in one round trip.
pub(super) async fn look(
    commands: &mut MultiplexedConnection,
    shown: &str,
) -> Result<Reading, Failure> {
    let (time, asked_at) = (time(), boottime::now());
    let mut same = commands.clone();
    let (checked, answer) = tokio::join!(check(commands, shown), time.query_async(&mut same));
    checked?;
    let shows = read_time(&answer?);
    Ok(Reading { shows: shows.ok_or_else(|| Failure::Store(no_time(shown)))?, asked_at })
}

pub(super) fn time() -> Cmd {
    redis::cmd("TIME")
}

/// Seconds and microseconds.
pub(super) fn read_time(answer: &Value) -> Option<Micros> {
    let (seconds, micros): (u64, u64) = redis::from_redis_value_ref(answer).ok()?;
    Some(seconds * SECOND + micros)
}

pub(super) fn no_time(shown: &(impl Display + ?Sized)) -> StoreError {
    let message = format!("{shown} answers TIME with something else: is there a proxy?");
    StoreError::new(StoreErrorKind::Misconfigured, Certainty::NotExecuted, message)
}

/// Refuses replicas, members of a cluster and servers that are too old. A server that will not say
/// (some managed ones) is believed.
async fn check(commands: &mut MultiplexedConnection, shown: &str) -> Result<(), Failure> {
    let mut questions = redis::pipe();
    questions.cmd("INFO").arg("server").cmd("INFO").arg("replication");
    let answers: RedisResult<(String, String)> = questions.query_async(commands).await;
    match answers {
        Ok((server, replication)) => judge(&server, &replication, shown).map_err(Failure::Store),
        Err(error) if matches!(error.code(), Some("NOPERM" | "ERR")) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn judge(server: &str, replication: &str, shown: &str) -> Result<(), StoreError> {
    let refuse = |kind, why: String| {
        Err(StoreError::new(kind, Certainty::NotExecuted, format!("{shown} {why}")))
    };
    if let Some(version) = field(server, "redis_version")
        && is_before(version, OLDEST)
    {
        let why =
            format!("is version {version}: 6.2 is the oldest that can be used, so upgrade it");
        return refuse(StoreErrorKind::Misconfigured, why);
    }
    if field(server, "redis_mode") == Some("cluster") {
        let why = "is part of a cluster: write redis+cluster:// in the store URL";
        return refuse(StoreErrorKind::Misconfigured, why.into());
    }
    if field(server, "redis_mode") == Some("sentinel") {
        let why = "is a sentinel: write redis+sentinel://HOST:PORT/MASTER";
        return refuse(StoreErrorKind::Misconfigured, why.into());
    }
    if field(replication, "role") == Some("slave") {
        let host = field(replication, "master_host").unwrap_or("?");
        let port = field(replication, "master_port").unwrap_or("?");
        let why = format!("is a replica: connect to its master, {host}:{port}");
        return refuse(StoreErrorKind::Unreachable, why);
    }
    Ok(())
}

/// Refuses servers that are in no cluster, or without sharded channels. One that will not say is believed.
pub(super) fn check_cluster(
    answer: Result<Value, StoreError>,
    shown: &impl Display,
) -> Result<(), StoreError> {
    let info = match answer {
        Ok(value) => redis::from_redis_value::<String>(value).unwrap_or_default(),
        Err(error) if error.kind() == StoreErrorKind::Forbidden => return Ok(()),
        Err(error) => return Err(error),
    };
    let refuse = |why: String| {
        let message = format!("{shown} {why}");
        Err(StoreError::new(StoreErrorKind::Misconfigured, Certainty::NotExecuted, message))
    };
    match field(&info, "redis_mode") {
        Some("cluster") | None => {}
        Some(_) => return refuse("is not a cluster: write redis:// in the store URL".into()),
    }
    match field(&info, "redis_version") {
        Some(version) if is_before(version, OLDEST_CLUSTER) => refuse(format!(
            "is version {version}: 7.0 is the oldest cluster that can be used, so upgrade it"
        )),
        _ => Ok(()),
    }
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
mod tests {
    use super::*;

    fn judged(server: &str, replication: &str) -> Result<(), String> {
        judge(server, replication, "redis://a:1/0").map_err(|error| error.to_string())
    }

    #[test]
    fn versions_from_6_2_will_do() {
        for version in ["6.2.0", "7.0.15", "7.2.4", "8.0", "10.1.2", "unstable"] {
            assert_eq!(judged(&format!("redis_version:{version}\r\n"), "role:master"), Ok(()));
        }
    }

    #[test]
    fn older_ones_are_refused_with_what_to_do() {
        for version in ["6.0.16", "5.0.7", "2.8.0"] {
            let error =
                judged(&format!("# Server\r\nredis_version:{version}\r\n"), "").unwrap_err();
            assert!(error.contains(version) && error.contains("upgrade"), "{error}");
        }
    }

    #[test]
    fn a_sentinel_is_refused_with_the_scheme_to_use() {
        let error = judged("redis_mode:sentinel\r\n", "").unwrap_err();
        assert!(error.contains("redis+sentinel://"), "{error}");
    }

    #[test]
    fn a_replica_is_refused_with_the_name_of_its_master() {
        let error =
            judged("", "role:slave\r\nmaster_host:db1\r\nmaster_port:6380\r\n").unwrap_err();
        assert!(error.contains("db1:6380"), "{error}");
    }
}
