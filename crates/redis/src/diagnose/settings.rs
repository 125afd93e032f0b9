//! Settings of a server that endanger a promise: a line of advice for each, with the remedy.

use std::collections::HashMap;

use redis::Value;

use super::{ServerInfo, ServerKind, Subject, field};
use crate::{
    greeting::is_before,
    transport::{CommandAnswer, Commands, ROOM},
};
use seinpaal_store::{Advice, Fact};

/// The settings to ask for, one question each, because servers before 7.0 take only one at a time.
const ASKED: [&str; 6] = [
    "save",
    "timeout",
    "lua-time-limit",
    "client-output-buffer-limit",
    "cluster-node-timeout",
    "min-replicas-*",
];
/// An older server gets the hint to plan for this version.
const PREFERRED: (u32, u32) = (7, 0);
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
/// In seconds. With a longer lag, a master that is cut off takes writes for too long before it
/// notices.
const LONGEST_LAG: u64 = 10;

/// The words of advice about a server that forgets something when it crashes.
pub const KEPT_ON_DISK: &str = "kept on disk";
/// In percent of `maxmemory`. With more memory in use, the server may soon refuse writes.
const MOST_USED: u64 = 90;

/// The settings of a server. A setting that the server hides is missing.
pub(super) struct ServerSettings<'a> {
    info: &'a str,
    config: HashMap<String, String>,
    is_hidden: bool,
}

impl<'a> ServerSettings<'a> {
    /// Asks for the settings that `INFO` does not tell. A refusal hides a setting and is no error.
    pub(super) async fn ask(commands: &mut Commands, info: &'a str) -> CommandAnswer<Self> {
        let mut all = redis::pipe();
        for name in ASKED {
            all.cmd("CONFIG").arg("GET").arg(name);
        }
        Ok(Self::read(info, &commands.send_all(&all, 0, all.len(), ROOM).await?))
    }

    fn read(info: &'a str, answers: &[Value]) -> Self {
        let is_hidden = answers.iter().any(|value| matches!(value, Value::ServerError(_)));
        let pairs = |value| redis::from_redis_value_ref::<HashMap<_, _>>(value).ok();
        let config = answers.iter().filter_map(pairs).flatten().collect();
        Self { info, config, is_hidden }
    }

    pub(super) fn advice(&self, subject: &Subject<'_>) -> Vec<Advice> {
        let risks =
            [self.replicas(subject), self.eviction(), self.memory(), self.fail_over(subject)];
        let hints = [self.old(), self.output(), self.scripts(), self.idle(), self.hidden()];
        let risks = risks.into_iter().flatten().map(Advice::risk).chain(self.cut_off(subject));
        let risks = risks.chain(self.forgetting(subject));
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
            field(self.info, "maxmemory_policy").map(|p| Fact::new("eviction policy", p)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn kept(&self) -> Option<&'static str> {
        let keeps_log = field(self.info, "aof_enabled")? == "1";
        let keeps_images = self.config.get("save").map(|save| save.trim() != "");
        Some(match (keeps_log, keeps_images) {
            (true, _) => "append-only file",
            (false, Some(true)) => "snapshots now and then",
            (false, Some(false)) => "none",
            (false, None) => "no append-only file",
        })
    }

    fn memory_limit(&self) -> Option<String> {
        let used = field(self.info, "used_memory_human")?;
        Some(match field(self.info, "maxmemory")? {
            "0" => format!("none, {used} used"),
            _ => format!("{}, {used} used", field(self.info, "maxmemory_human")?),
        })
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.config.get(name)?.parse().ok()
    }

    fn old(&self) -> Option<String> {
        let version =
            ServerInfo::of_info(self.info).version.filter(|it| is_before(it, PREFERRED))?;
        Some(format!(
            "version {version} is of the oldest line that can be used: plan for 7.0 or newer"
        ))
    }

    /// What a fail-over could forget. Of a cluster, its map tells that.
    fn replicas(&self, subject: &Subject<'_>) -> Option<String> {
        let connected = field(self.info, "connected_slaves").and_then(|it| it.parse::<u32>().ok());
        match (subject.url.options.replicated, connected) {
            _ if subject.kind == ServerKind::Cluster => None,
            (None, _) if subject.may_move => Some(
                "grants may be lost in a fail-over, and be given twice: replicated=N, with N as many as there are \
                 replicas, prevents that"
                    .to_owned(),
            ),
            (None, Some(count @ 1..)) => Some(format!(
                "it has replicas ({count}): if one is made the master, the last grants are forgotten and given again, \
                 unless the store URL says replicated={count}"
            )),
            (Some(wanted), Some(count)) if count < wanted => Some(format!(
                "{count} replicas are connected and replicated={wanted}: nothing is granted until there are enough"
            )),
            (Some(wanted), Some(count)) if count > wanted => Some(format!(
                "replicated={wanted} of {count} replicas: only with all of them is it certain that the one that is \
                 promoted has every grant"
            )),
            _ => None,
        }
    }

    /// Until when a master that was cut off takes writes.
    fn cut_off(&self, subject: &Subject<'_>) -> Option<Advice> {
        let fails_over = subject.may_move || subject.url.options.replicated.is_some();
        let is_asked = subject.kind == ServerKind::Server && fails_over;
        if self.number("min-replicas-to-write").filter(|_| is_asked)? == 0 {
            return Some(Advice::risk(
                "min-replicas-to-write is 0, so a master that was paused or cut off goes on taking writes: set it to \
                 1 or more, and min-replicas-max-lag to a few seconds",
            ));
        }
        let is_useless = !(1..=LONGEST_LAG).contains(&self.number("min-replicas-max-lag")?);
        is_useless.then(|| Advice::hint("min-replicas-max-lag should be a few seconds"))
    }

    fn eviction(&self) -> Option<String> {
        let policy =
            field(self.info, "maxmemory_policy").filter(|policy| *policy != "noeviction")?;
        Some(format!(
            "maxmemory-policy is {policy}, so leases that are in use may be thrown away and their permits given \
             twice: set it to noeviction"
        ))
    }

    /// What a crash of the server forgets. A restart guard keeps permits from being given again,
    /// but brings nothing back.
    fn forgetting(&self, subject: &Subject<'_>) -> Option<Advice> {
        if field(self.info, "aof_enabled")? == "1" {
            return None;
        }
        let kept = match self.config.get("save").map(|save| save.trim() != "") {
            Some(false) => "nothing is",
            _ => "only snapshots are",
        };
        let lost = "queue items, limits and pauses are lost";
        let remedy = "set appendonly to yes";
        Some(match subject.url.options.restart_guard {
            Some(_) => Advice::hint(format!(
                "{kept} {KEPT_ON_DISK}, so after a crash of the server the latest {lost}: {remedy}"
            )),
            None => Advice::risk(format!(
                "{kept} {KEPT_ON_DISK}, so after a crash of the server permits that are still held are given again, and \
                 the latest {lost}: {remedy}; restart-guard=on in the store URL protects the permits alone"
            )),
        })
    }

    /// A server that is nearly full refuses everybody soon.
    fn memory(&self) -> Option<String> {
        let number = |name| field(self.info, name)?.parse::<u64>().ok();
        let most = number("maxmemory").filter(|most| *most > 0)?;
        let percent = number("used_memory")?.saturating_mul(100) / most;
        (percent > MOST_USED).then(|| {
            format!(
                "{percent} % of maxmemory are used, and a full server lets nobody in and takes no items: raise \
                 maxmemory, or delete something"
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

    fn fail_over(&self, subject: &Subject<'_>) -> Option<String> {
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
    use seinpaal_proto::Inbox;
    use seinpaal_store::url::StoreUrl;

    use super::*;
    use crate::keys::Keys;

    const SERVER: ServerKind = ServerKind::Server;

    fn said(info: &str, config: &[(&str, &str)], kind: ServerKind) -> String {
        said_of(info, config, kind, false, None)
    }

    fn said_of(
        info: &str,
        config: &[(&str, &str)],
        kind: ServerKind,
        may_move: bool,
        replicated: Option<u32>,
    ) -> String {
        let text = |text: &str| Value::BulkString(text.into());
        let pair = |(name, value): &(&str, &str)| Value::Array(vec![text(name), text(value)]);
        let answers: Vec<_> = config.iter().map(pair).collect();
        let keys = Keys::new("seinpaal:").unwrap();
        let Ok(StoreUrl::Redis(mut url)) = StoreUrl::parse("redis://a:1") else { panic!("a URL") };
        url.options.replicated = replicated;
        let subject = Subject { url: &url, kind, may_move, keys: &keys, inbox: Inbox(1) };
        let advice = ServerSettings::read(info, &answers).advice(&subject);
        advice.iter().map(Advice::to_string).collect::<Vec<_>>().join("\n")
    }

    fn config(pairs: &[(&str, &str)]) -> String {
        said("", pairs, SERVER)
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
        let info = "# Memory\r\nmaxmemory:100\r\nused_memory:90\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n\
             connected_slaves:0\r\n";
        for kind in [SERVER, ServerKind::Cluster] {
            assert_eq!(said(info, &usual, kind), "");
        }
        assert_eq!(said("", &[], SERVER), "");
    }

    #[test]
    fn each_setting_that_endangers_a_promise_is_named_with_the_remedy() {
        for (advice, setting, remedy) in [
            (said("maxmemory_policy:allkeys-lru\r\n", &[], SERVER), "allkeys-lru", "noeviction"),
            (said("aof_enabled:0\r\n", &[("save", "")], SERVER), "nothing is kept", "appendonly"),
            (
                said("aof_enabled:0\r\n", &[("save", "60 1")], SERVER),
                "only snapshots",
                "appendonly",
            ),
            (said("maxmemory:100\r\nused_memory:91\r\n", &[], SERVER), "91 %", "raise maxmemory"),
            (said("connected_slaves:2\r\n", &[], SERVER), "replicas (2)", "replicated=2"),
            (config(&[("timeout", "5")]), "timeout is 5 s", "0"),
            (config(&[("lua-time-limit", "10")]), "10 ms", "5000"),
            (
                config(&[("client-output-buffer-limit", "normal 0 0 0 pubsub 1024 0 0")]),
                "1024 bytes",
                "8388608",
            ),
            (
                said("", &[("cluster-node-timeout", "60000")], ServerKind::Cluster),
                "60000 ms",
                "15000",
            ),
        ] {
            assert!(advice.contains(setting) && advice.contains(remedy), "{advice}");
            assert_eq!(advice.lines().count(), 1, "{advice}");
        }
    }

    /// A master behind sentinels, with so many replicas.
    fn master(replicated: Option<u32>, replicas: u32, alone: &str, lag: &str) -> String {
        let config = [("min-replicas-to-write", alone), ("min-replicas-max-lag", lag)];
        said_of(&format!("connected_slaves:{replicas}\r\n"), &config, SERVER, true, replicated)
    }

    #[test]
    fn what_breaks_a_promise_in_a_fail_over_is_told_with_the_remedy() {
        assert_eq!(master(Some(2), 2, "1", "3"), "");
        for (said, remedy) in [
            (master(None, 2, "1", "3"), "replicated=N"),
            (master(Some(2), 1, "1", "3"), "until there are enough"),
            (master(Some(1), 2, "1", "3"), "only with all of them"),
            (master(Some(2), 2, "0", "10"), "min-replicas-to-write"),
            (master(Some(2), 2, "1", "60"), "min-replicas-max-lag"),
        ] {
            assert!(said.contains(remedy) && said.lines().count() == 1, "{said}");
        }
    }
}
