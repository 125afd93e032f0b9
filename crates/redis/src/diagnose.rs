//! What `doctor` and `-v` tell about a server: facts, advice on its settings, and the rights that
//! this user lacks. A client that only takes a permit asks for none of it.

mod rights;
mod settings;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use redis::Value;
use seinpaal_proto::{Inbox, time::Micros};

pub(super) use self::rights::{of_subscribing, with_the_right_named};
pub use self::settings::KEPT_ON_DISK;
use self::settings::ServerSettings;
use super::{
    error::{self, LinkFailure},
    greeting::{ServerInfo, ServerKind, field, read_time, text},
    keys::Keys,
    transport::Commands,
};
use seinpaal_store::{Diagnosis, Fact, url::RedisUrl};

/// A server, and its intended use.
pub(super) struct Subject<'a> {
    pub(super) url: &'a RedisUrl,
    pub(super) kind: ServerKind,
    /// Whether sentinels may name another master.
    pub(super) may_move: bool,
    pub(super) keys: &'a Keys,
    pub(super) inbox: Inbox,
}

impl Subject<'_> {
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

/// Asks a server for all of it. A user who lacks a right that is needed is an error.
pub(super) async fn diagnose(
    commands: &mut Commands,
    subject: &Subject<'_>,
) -> Result<Diagnosis, LinkFailure> {
    let sent = SystemTime::now();
    let time = commands.send(&redis::cmd("TIME")).await?;
    if let Value::ServerError(refused) = &time {
        return Err(error::of_server_at(refused, &subject.url.to_string()).into());
    }
    let clock = of_clock(read_time(&time, subject.url)?, (sent, SystemTime::now()));
    // A server that hides INFO is not described, which the advice about rights says.
    let info = text(&commands.send(&redis::cmd("INFO")).await?);
    let mut advice = rights::advice(commands, subject).await?;
    let settings = ServerSettings::ask(commands, &info).await?;
    advice.extend(settings.advice(subject));
    let advice = advice.into_iter().map(|advice| advice.at(&subject.url.to_string())).collect();
    let facts = of_server(&info).into_iter().chain(settings.facts()).chain(clock).collect();
    Ok(Diagnosis { facts, advice, ..Diagnosis::default() })
}

fn of_server(info: &str) -> Vec<Fact> {
    let is_valkey = field(info, "valkey_version").is_some();
    let product = if is_valkey { "Valkey" } else { "Redis" };
    let ServerInfo { version, mode, .. } = ServerInfo::of_info(info);
    [
        version.map(|version| Fact::new("version", format!("{product} {version}"))),
        mode.map(|mode| Fact::new("mode", mode)),
        field(info, "connected_slaves").map(|count| Fact::new("replicas", count)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The difference between a server's clock and ours. `here` has the readings of our clock just
/// before and just after the server's.
fn of_clock(shows: Micros, here: (SystemTime, SystemTime)) -> Option<Fact> {
    let since = |at: SystemTime| at.duration_since(UNIX_EPOCH).ok();
    let (sent, answered) = (since(here.0)?, since(here.1)?);
    // The server read its clock between the two, so the middle is the best estimate.
    let (between, doubt) = ((sent + answered) / 2, answered.saturating_sub(sent) / 2);
    let there = Duration::from_micros(shows);
    let (off, way) = match there.checked_sub(between) {
        Some(ahead) => (ahead, "ahead of"),
        None => (between - there, "behind"),
    };
    let off = match off.as_secs() {
        0..10 => format!("{:.1} ms", off.as_secs_f64() * 1e3),
        seconds => format!("{seconds} s"),
    };
    let doubt = doubt.as_secs_f64() * 1e3;
    Some(Fact::new("clock", format!("{off} {way} this machine's (± {doubt:.1} ms)")))
}

/// The facts about several servers: each fact once, with all the different values.
pub fn together(of_servers: impl IntoIterator<Item = Fact>) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for fact in of_servers {
        match facts.iter_mut().find(|known| known.what == fact.what) {
            Some(known) if known.value.split("; ").any(|value| value == fact.value) => {}
            Some(known) => known.value = format!("{}; {}", known.value, fact.value),
            None => facts.push(fact),
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_told_with_its_doubt() {
        let at = |millis| UNIX_EPOCH + Duration::from_millis(millis);
        let told = |shows| of_clock(shows, (at(1000), at(1010))).unwrap().value;
        assert_eq!(told(1_105_000), "100.0 ms ahead of this machine's (± 5.0 ms)");
        assert_eq!(told(905_000), "100.0 ms behind this machine's (± 5.0 ms)");
        assert_eq!(told(3_601_005_000), "3600 s ahead of this machine's (± 5.0 ms)");
    }
}
