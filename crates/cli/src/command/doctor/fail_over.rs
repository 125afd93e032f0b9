//! How long sentinels wait before a fail-over, beside the ttl that outlasts it.

use std::time::Duration;

use seinpaal::{Advice, Fact, Schedule};

/// How long a fail-over takes once it has begun.
const ELECTION: Duration = Duration::from_secs(2);
const MINUTE: Duration = Duration::from_secs(60);
/// In minutes.
const LONGEST_TTL: u32 = 24 * 60;

/// A fail-over that begins when the master has been silent for a while.
pub(super) struct FailOver {
    wait: Duration,
    /// The shortest ttl, in whole minutes, of which every lease outlasts it.
    enough: Option<Duration>,
}

impl FailOver {
    pub(super) fn new(wait: Duration, schedule: impl Fn(Duration) -> Schedule) -> Self {
        let outlasts = |ttl: &Duration| schedule(*ttl).shortest_outage() >= wait + ELECTION;
        let enough = (1..=LONGEST_TTL).map(|minutes| MINUTE * minutes).find(outlasts);
        Self { wait, enough }
    }

    pub(super) fn fact(&self) -> Fact {
        let enough = self.enough.map(|ttl| format!("; any lease of {} outlasts it", seconds(ttl)));
        let begins = format!("begins after {} of silence", seconds(self.wait));
        Fact::new("fail-over", begins + &enough.unwrap_or_default())
    }

    /// A lease that does not outlast a fail-over is lost, although nothing but the master failed.
    pub(super) fn advice(&self, schedule: Schedule) -> Option<Advice> {
        let (ttl, lasts) = (seconds(schedule.ttl()), self.wait + ELECTION);
        if lasts <= schedule.shortest_outage() {
            return None;
        }
        let remedy = match self.enough {
            Some(enough) => {
                format!("lower down-after-milliseconds, or take a ttl of {}", seconds(enough))
            }
            None => "lower down-after-milliseconds".to_owned(),
        };
        let waits = format!("sentinels wait {} for a silent master", seconds(self.wait));
        Some(if lasts > schedule.danger() {
            Advice::risk(format!(
                "{waits}, so a fail-over ends every command with a ttl of {ttl}: {remedy}"
            ))
        } else {
            Advice::hint(format!(
                "{waits}, so a fail-over may end commands with a ttl of {ttl}: {remedy}"
            ))
        })
    }
}

fn seconds(length: Duration) -> String {
    format!("{:.1}s", length.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use seinpaal::Seinpaal;

    use super::*;

    #[test]
    fn a_fail_over_is_judged_by_the_outage_that_a_lease_survives() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let seinpaal = runtime.block_on(Seinpaal::connect("memory:")).unwrap();
        let of =
            |wait: u64| FailOver::new(Duration::from_millis(wait), |ttl| seinpaal.schedule(ttl));
        let usual = seinpaal.schedule(Duration::from_secs(30));
        let slow = of(30_000).advice(usual).unwrap();
        assert!(slow.is_risk && slow.text.contains("wait 30.0s"), "{slow}");
        let enough = of(30_000).enough.unwrap();
        assert!(slow.text.contains(&seconds(enough)), "{slow}");
        assert!(!of(usual.shortest_outage().as_millis() as u64).advice(usual).unwrap().is_risk);
        assert_eq!(of(1500).advice(usual), None);
        assert_eq!(of(30_000).advice(seinpaal.schedule(enough)), None);
    }
}
