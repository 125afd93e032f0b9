//! Settings of a server that endanger a promise: a line of advice for each, with the remedy.

use std::collections::HashMap;

use redis::{Cmd, Value};

use super::{LookedAt, ServerKind, field};
use seinpaal_store::{Advice, Fact};

/// The settings to ask for, one question each, because servers before 7.0 take only one at a time.
const ASKED: [&str; 5] =
    ["save", "timeout", "lua-time-limit", "client-output-buffer-limit", "cluster-node-timeout"];
/// The largest answer without rows, in bytes, on the connection that listens. A wakeup has fewer
/// bytes.
const LARGEST_ANSWER: u64 = 8 << 20;
/// In milliseconds. A script of ours takes less than this, unless the machine is overloaded.
const LONGEST_SCRIPT: u64 = 100;
/// In seconds. With a shorter timeout, idle connections are closed.
const SHORTEST_IDLE: u64 = 30;
/// In milliseconds. A fail-over takes longer than this timeout, and with a larger one a lease of
/// the default ttl is lost before the fail-over is over.
const LONGEST_NODE_TIMEOUT: u64 = 20_000;

/// The words for a server that forgets everything when it is restarted.
pub const NOTHING_KEPT: &str = "nothing is kept on disk";

/// The settings of a server. A setting that the server hides is missing.
#[derive(Debug, Default)]
pub(super) struct ServerSettings {
    memory: String,
    persistence: String,
    config: HashMap<String, String>,
    is_hidden: bool,
}

pub(super) fn questions() -> Vec<Cmd> {
    let info = ["memory", "persistence"].map(|section| {
        let mut info = redis::cmd("INFO");
        info.arg(section);
        info
    });
    let config = ASKED.map(|name| {
        let mut config = redis::cmd("CONFIG");
        config.arg("GET").arg(name);
        config
    });
    info.into_iter().chain(config).collect()
}

impl ServerSettings {
    /// Reads the answers to [`questions`]. A refusal hides a setting and is no error.
    pub(super) fn read(answers: &[Value]) -> Self {
        let mut settings = Self::default();
        if let [memory, persistence, config @ ..] = answers {
            let text = |value| redis::from_redis_value_ref::<String>(value).unwrap_or_default();
            (settings.memory, settings.persistence) = (text(memory), text(persistence));
            settings.is_hidden = config.iter().any(|value| matches!(value, Value::ServerError(_)));
            let pairs = |value| redis::from_redis_value_ref::<HashMap<_, _>>(value).ok();
            settings.config = config.iter().filter_map(pairs).flatten().collect();
        }
        settings
    }

    pub(super) fn advice(&self, subject: &LookedAt<'_>) -> Vec<Advice> {
        let risks = [self.eviction(), self.forgetting(subject), self.fail_over(subject)];
        let hints = [self.output(), self.scripts(), self.idle(), self.hidden()];
        let risks = risks.into_iter().flatten().map(Advice::risk);
        risks.chain(hints.into_iter().flatten().map(Advice::hint)).collect()
    }

    fn hidden(&self) -> Option<String> {
        self.is_hidden.then(|| {
            let asked = ASKED.join(", ");
            format!("its settings were not checked: this user may not CONFIG GET {asked}")
        })
    }

    /// The settings as facts, whether or not they are good.
    pub(super) fn facts(&self) -> Vec<Fact> {
        [
            self.kept().map(|kept| Fact::new("persistence", kept)),
            self.memory_limit().map(|limit| Fact::new("memory limit", limit)),
            field(&self.memory, "maxmemory_policy").map(|p| Fact::new("eviction policy", p)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn kept(&self) -> Option<&'static str> {
        let keeps_log = field(&self.persistence, "aof_enabled")? == "1";
        let keeps_images = self.config.get("save").map(|save| save.trim() != "");
        Some(match (keeps_log, keeps_images) {
            (true, _) => "append-only file",
            (false, Some(true)) => "snapshots now and then",
            (false, Some(false)) => "none",
            (false, None) => "no append-only file",
        })
    }

    fn memory_limit(&self) -> Option<String> {
        let used = field(&self.memory, "used_memory_human")?;
        Some(match field(&self.memory, "maxmemory")? {
            "0" => format!("none, {used} used"),
            _ => format!("{}, {used} used", field(&self.memory, "maxmemory_human")?),
        })
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.config.get(name)?.parse().ok()
    }

    fn eviction(&self) -> Option<String> {
        let policy =
            field(&self.memory, "maxmemory_policy").filter(|policy| *policy != "noeviction")?;
        Some(format!(
            "maxmemory-policy is {policy}, so leases that are in use may be thrown away and their permits given \
             twice: set it to noeviction"
        ))
    }

    fn forgetting(&self, subject: &LookedAt<'_>) -> Option<String> {
        let keeps_log = field(&self.persistence, "aof_enabled")? == "1";
        let keeps_images = self.config.get("save")?.trim() != "";
        let is_safe = keeps_log || keeps_images || subject.is_guarded;
        (!is_safe).then(|| {
            format!(
                "{NOTHING_KEPT}, so after a restart of the server permits that are still held are given again: set \
                 appendonly to yes, or add restart-guard=on to the store URL"
            )
        })
    }

    /// Advice about the buffer for subscribers. The setting lists several classes in a line, each
    /// as `pubsub HARD SOFT SECONDS`.
    fn output(&self) -> Option<String> {
        let limits = self.config.get("client-output-buffer-limit")?;
        let mut words = limits.split(' ').skip_while(|word| *word != "pubsub").skip(1);
        // 0 stands for no limit, here and in the two settings below.
        let most =
            words.next()?.parse::<u64>().ok().filter(|most| (1..LARGEST_ANSWER).contains(most))?;
        Some(format!(
            "client-output-buffer-limit pubsub is {most} bytes, so a long answer ends the connection: set it to \
             {LARGEST_ANSWER} or more"
        ))
    }

    fn scripts(&self) -> Option<String> {
        let limit =
            self.number("lua-time-limit").filter(|limit| (1..LONGEST_SCRIPT).contains(limit))?;
        Some(format!(
            "lua-time-limit is {limit} ms, so calls are refused as BUSY when the machine is slow: set it to the \
             usual 5000"
        ))
    }

    fn idle(&self) -> Option<String> {
        let idle = self.number("timeout").filter(|idle| (1..SHORTEST_IDLE).contains(idle))?;
        Some(format!(
            "timeout is {idle} s, so connections between two renewals are closed: set it to 0, or to some minutes"
        ))
    }

    fn fail_over(&self, subject: &LookedAt<'_>) -> Option<String> {
        let is_slow =
            |wait: &u64| subject.kind == ServerKind::Cluster && *wait > LONGEST_NODE_TIMEOUT;
        let wait = self.number("cluster-node-timeout").filter(is_slow)?;
        Some(format!(
            "cluster-node-timeout is {wait} ms, so leases of the default ttl end before a fail-over does: set it \
             to 15000 or less, or state a longer ttl"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Keys;

    fn said(memory: &str, persistence: &str, config: &[(&str, &str)], kind: ServerKind) -> String {
        let text = |text: &str| Value::BulkString(text.into());
        let pair = |(name, value): &(&str, &str)| Value::Array(vec![text(name), text(value)]);
        let mut answers = vec![text(memory), text(persistence)];
        answers.extend(config.iter().map(pair));
        let keys = Keys::new("seinpaal:").unwrap();
        let subject = LookedAt::plain(&keys, kind);
        let advice = ServerSettings::read(&answers).advice(&subject);
        advice.iter().map(Advice::to_string).collect::<Vec<_>>().join("\n")
    }

    fn config(pairs: &[(&str, &str)]) -> String {
        said("", "", pairs, ServerKind::Server)
    }

    #[test]
    fn the_usual_settings_endanger_nothing() {
        let usual = [
            ("save", "3600 1 300 100 60 10000"),
            ("timeout", "0"),
            ("lua-time-limit", "5000"),
            (
                "client-output-buffer-limit",
                "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60",
            ),
            ("cluster-node-timeout", "15000"),
        ];
        let (memory, persistence) =
            ("# Memory\r\nmaxmemory_policy:noeviction\r\n", "aof_enabled:0\r\n");
        for kind in [ServerKind::Server, ServerKind::Cluster] {
            assert_eq!(said(memory, persistence, &usual, kind), "");
        }
        assert_eq!(said("", "", &[], ServerKind::Server), "");
    }

    #[test]
    fn each_setting_that_endangers_a_promise_is_named_with_the_remedy() {
        for (advice, setting, remedy) in [
            (
                said("maxmemory_policy:allkeys-lru\r\n", "", &[], ServerKind::Server),
                "allkeys-lru",
                "noeviction",
            ),
            (
                said("", "aof_enabled:0\r\n", &[("save", "")], ServerKind::Server),
                "disk",
                "appendonly",
            ),
            (config(&[("timeout", "5")]), "timeout is 5 s", "0"),
            (config(&[("lua-time-limit", "10")]), "10 ms", "5000"),
            (
                config(&[("client-output-buffer-limit", "normal 0 0 0 pubsub 1024 0 0")]),
                "1024 bytes",
                "8388608",
            ),
            (
                said("", "", &[("cluster-node-timeout", "60000")], ServerKind::Cluster),
                "60000 ms",
                "15000",
            ),
        ] {
            assert!(advice.contains(setting) && advice.contains(remedy), "{advice}");
            assert_eq!(advice.lines().count(), 1, "{advice}");
        }
    }
}
