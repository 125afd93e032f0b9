//! `doctor`: reports facts about the store, risks to its promises, stored ledgers that contradict
//! themselves, and how long an outage a ttl survives.

mod fail_over;
mod ledgers;

use std::time::{Duration, Instant};

use seinpaal::{Advice, Diagnosis, Fact, Schedule, Seinpaal, Semaphore};
use tokio::time::timeout;

use self::{fail_over::FailOver, ledgers::Ledgers};
use crate::{
    args::{DoctorArgs, Global},
    connection::on_runtime,
    exit::{Exit, Failure},
    output::{self, NamedStore, Voice, json, text::age},
    run::full,
    settings::{self, StoreChoice},
};

/// The name that is acquired and released. Every `doctor` uses the same, so it leaves one behind.
const OWN_NAME: &str = "seinpaal-doctor";
/// How many requests measure the round trip.
const ASKED: usize = 21;
/// How long one answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);
/// The status when a promise is at risk.
const AT_RISK: Exit = Exit::Status(1);
/// The width of a fact's name.
const WIDTH: usize = 17;

/// The findings.
struct Finding {
    connected_in: Duration,
    /// The times of the requests, sorted. There are none if nobody gets in.
    round_trips: Vec<Duration>,
    facts: Vec<Fact>,
    advice: Vec<Advice>,
    ledgers: Ledgers,
    schedule: Schedule,
    /// Whether leases end by time at this store, and not with their process.
    is_leased: bool,
}

/// Examines the store, and prints the findings.
pub(super) fn doctor(global: &Global, args: &DoctorArgs, voice: Voice) -> Result<Exit, Failure> {
    let choice = settings::choose(global)?;
    let finding = on_runtime(async {
        choice.introduce(voice);
        examine(&choice, choice.ttl(args.ttl), args.ledgers).await
    });
    let finding = finding.map_err(|failure| failure.about(NamedStore::new("", &choice.url)))?;
    let text = if global.json { as_json(&choice, &finding) } else { finding.report(&choice) };
    output::print(&text)?;
    Ok(if finding.risks() == 0 { Exit::Success } else { AT_RISK })
}

async fn examine(choice: &StoreChoice, ttl: Duration, most: u32) -> Result<Finding, Failure> {
    let began = Instant::now();
    let connecting = Seinpaal::builder(&choice.text).client("seinpaal doctor").ttl(ttl);
    let seinpaal = connecting.connect().await?;
    let connected_in = began.elapsed();
    let Diagnosis { mut facts, mut advice, fails_over_after } = seinpaal.diagnose().await?;
    let schedule = seinpaal.schedule(ttl);
    let is_leased = !matches!(seinpaal.abilities().scheme, "embedded" | "memory");
    if let Some(wait) = fails_over_after {
        let fail_over = FailOver::new(wait, |ttl| seinpaal.schedule(ttl));
        facts.push(fail_over.fact());
        advice.extend(fail_over.advice(schedule));
    }
    let semaphore = seinpaal.semaphore(OWN_NAME);
    // The store may remember our own name for a while, so the names are counted before.
    let ledgers = Ledgers::look(&seinpaal, most as usize).await;
    // A store that lets nobody in may not answer questions either, and the facts are still worth
    // printing.
    let (round_trips, ledgers) = match refusal(&seinpaal, &semaphore).await? {
        Some(why) => {
            advice.insert(0, Advice::risk(format!("nobody gets in: {why}")));
            (Vec::new(), ledgers.unwrap_or(Ledgers::NotAsked))
        }
        None => (round_trips(&semaphore).await?, ledgers?),
    };
    Ok(Finding { connected_in, round_trips, facts, advice, ledgers, schedule, is_leased })
}

/// Acquires a permit of our own name and gives it back. Returns why the store refuses that.
async fn refusal(seinpaal: &Seinpaal, semaphore: &Semaphore) -> Result<Option<String>, Failure> {
    let passing_through = async {
        // Without a permit a restart guard is on, which is no refusal.
        if let Some(permit) = semaphore.try_acquire().await.map_err(|error| error.to_string())? {
            permit.release().await.map_err(|error| error.to_string())?;
        }
        Ok(())
    };
    tokio::select! {
        biased;
        passed = timeout(ANSWER_TIMEOUT, passing_through) => match passed {
            Ok(passed) => Ok(passed.err()),
            Err(_) => match seinpaal.outage().and_then(|outage| outage.error) {
                Some(error) => Ok(Some(error.to_string())),
                None => Err(silent()),
            },
        },
        full = full(seinpaal) => Ok(full.message),
    }
}

/// Measures requests about an unused name.
async fn round_trips(semaphore: &Semaphore) -> Result<Vec<Duration>, Failure> {
    let mut round_trips = Vec::new();
    for _ in 0..ASKED {
        let began = Instant::now();
        match timeout(ANSWER_TIMEOUT, semaphore.snapshot()).await {
            Ok(snapshot) => drop(snapshot?),
            Err(_) => return Err(silent()),
        }
        round_trips.push(began.elapsed());
    }
    round_trips.sort();
    Ok(round_trips)
}

fn silent() -> Failure {
    let words =
        format!("the store was reached, but then did not answer for {}", age(ANSWER_TIMEOUT));
    Failure::new(Exit::Unreachable, words)
}

impl Finding {
    fn median(&self) -> Option<Duration> {
        self.round_trips.get(self.round_trips.len() / 2).copied()
    }

    fn longest(&self) -> Duration {
        self.round_trips.last().copied().unwrap_or_default()
    }

    fn report(&self, choice: &StoreChoice) -> String {
        let mut lines = vec![fact("store", &format!("{} ({})", choice.url, choice.origin))];
        lines.extend(self.facts.iter().map(|known| fact(known.what, &known.value)));
        lines.push(fact("connected in", &millis(self.connected_in)));
        if let Some(median) = self.median() {
            let (median, longest) = (millis(median), millis(self.longest()));
            lines.push(fact("round trip", &format!("{median}, at most {longest} (of {ASKED})")));
        }
        lines.push(fact("outage", &self.outage()));
        lines.push(fact("ledgers", &self.ledgers.fact()));
        let words = |advice: &Advice| match advice.is_risk {
            true => format!("RISK  {advice}"),
            false => format!("hint  {advice}"),
        };
        lines.extend(self.advice.iter().map(words));
        lines.extend(self.slowness().map(|slowness| format!("RISK  {slowness}")));
        lines.extend(self.ledgers.findings().iter().map(|found| format!("RISK  {found}")));
        lines.push(self.verdict());
        lines.iter().map(|line| format!("{}\n", output::text::plain(line))).collect()
    }

    /// Says how long an outage a lease survives, by the schedule of renewals.
    fn outage(&self) -> String {
        if !self.is_leased {
            return "a permit lasts as long as its process: no outage ends it".to_owned();
        }
        let schedule = self.schedule;
        let seconds = |length: Duration| format!("{:.1}s", length.as_secs_f64());
        format!(
            "a lease of {} survives any silence of the store up to {}, and up to {} right after a renewal; a longer one ends \
             the command",
            seconds(schedule.ttl()),
            seconds(schedule.shortest_outage()),
            seconds(schedule.danger()),
        )
    }

    /// Reports a slow store as a risk. The schedule repeats a renewal that waits too long for its
    /// answer. A store that takes longer than that gets every renewal twice.
    fn slowness(&self) -> Option<String> {
        let (longest, most) = (self.longest(), self.schedule.repetition());
        (self.is_leased && longest > most).then(|| {
            format!(
                "an answer took {}, and a lease of {} leaves {} for one, so permits may be lost without any outage: choose \
                 a longer ttl, or a store nearby",
                millis(longest),
                age(self.schedule.ttl()),
                millis(most),
            )
        })
    }

    fn risks(&self) -> usize {
        let of_store = self.advice.iter().filter(|advice| advice.is_risk).count();
        of_store + usize::from(self.slowness().is_some()) + self.ledgers.findings().len()
    }

    fn verdict(&self) -> String {
        match self.risks() {
            0 => "all well".to_owned(),
            1 => "1 promise at risk".to_owned(),
            count => format!("{count} promises at risk"),
        }
    }
}

fn fact(what: &str, value: &str) -> String {
    format!("{what:<WIDTH$}{value}")
}

fn millis(length: Duration) -> String {
    format!("{:.2} ms", length.as_secs_f64() * 1e3)
}

fn as_json(choice: &StoreChoice, finding: &Finding) -> String {
    // To the microsecond.
    let ms = |length: Duration| length.as_micros() as f64 / 1e3;
    let schedule = finding.schedule;
    let outage = |length: Duration| finding.is_leased.then(|| ms(length));
    let slowness = finding.slowness();
    let of_store = finding
        .advice
        .iter()
        .map(|advice| json::Advised { is_risk: advice.is_risk, text: &advice.text });
    let found = finding.ledgers.findings();
    let others = slowness.iter().chain(&found).map(|text| json::Advised { is_risk: true, text });
    json::line(&json::DoctorJson {
        store: choice.url.to_string(),
        facts: finding.facts.iter().map(|known| (known.what, known.value.as_str())).collect(),
        connected_in_ms: ms(finding.connected_in),
        round_trip_ms: finding.median().map(ms),
        longest_round_trip_ms: finding.median().map(|_| ms(finding.longest())),
        ttl_ms: ms(schedule.ttl()),
        survives_any_outage_ms: outage(schedule.shortest_outage()),
        survives_some_outages_ms: outage(schedule.danger()),
        ledgers: finding.ledgers.as_json(),
        advice: of_store.chain(others).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(ttl: Duration, round_trip: Duration) -> Finding {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let seinpaal = runtime.block_on(Seinpaal::connect("memory:")).unwrap();
        Finding {
            connected_in: Duration::ZERO,
            round_trips: vec![round_trip],
            facts: Vec::new(),
            advice: Vec::new(),
            ledgers: Ledgers::NotAsked,
            schedule: seinpaal.schedule(ttl),
            is_leased: true,
        }
    }

    #[test]
    fn a_look_at_the_ledgers_that_was_broken_off_is_a_risk_and_not_all_well() {
        let mut slow = finding(Duration::from_secs(30), Duration::ZERO);
        assert_eq!((slow.risks(), slow.ledgers.as_json().is_none()), (0, true));
        slow.ledgers = Ledgers::Slow;
        assert_eq!((slow.risks(), slow.verdict().as_str()), (1, "1 promise at risk"));
        assert!(slow.ledgers.findings()[0].contains("--ledgers"));
        let json = serde_json::to_value(slow.ledgers.as_json()).unwrap();
        assert_eq!(json, serde_json::json!({"unseen": "it took more than 30s"}));
    }

    #[test]
    fn an_answer_that_takes_longer_than_the_schedule_allows_is_a_risk() {
        let slow = Duration::from_millis(500);
        assert_eq!(finding(Duration::from_secs(30), slow).risks(), 0);
        let short = finding(Duration::from_secs(1), slow);
        assert_eq!((short.risks(), short.verdict().as_str()), (1, "1 promise at risk"));
        assert!(short.slowness().unwrap().contains("longer ttl"));
    }
}
