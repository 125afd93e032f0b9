//! Facts that a server reports about itself, for people.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use redis::Value;
use seinpaal_proto::time::Micros;

use super::{field, mode, version};
use seinpaal_store::Fact;

/// The facts in a server's answers to `INFO server` and `INFO replication`.
pub(super) fn of_server(server: &Value, replication: &Value) -> Vec<Fact> {
    let text = |value| redis::from_redis_value_ref::<String>(value).unwrap_or_default();
    let (server, replication) = (text(server), text(replication));
    let is_valkey = field(&server, "valkey_version").is_some();
    let product = if is_valkey { "Valkey" } else { "Redis" };
    [
        version(&server).map(|version| Fact::new("version", format!("{product} {version}"))),
        mode(&server).map(|mode| Fact::new("mode", mode)),
        field(&replication, "connected_slaves").map(|count| Fact::new("replicas", count)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The difference between a server's clock and ours. `here` has the readings of our clock just
/// before and just after the server's.
pub(super) fn of_clock(shows: Micros, here: (SystemTime, SystemTime)) -> Option<Fact> {
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
