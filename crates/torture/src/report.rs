//! The report of a run.

use std::fmt::{self, Write};

use crate::{
    check::{Bound, FreedBy, GrantDelay, Verdict, Violation},
    queue,
    rig::TorturePlan,
};

/// How many breaches are printed in full.
const TOLD: usize = 10;

/// Writes the whole report, which ends with a line for the table.
#[must_use]
pub fn report(plan: &TorturePlan, verdict: &Verdict) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, plan, verdict);
    text
}

/// Writes the run as a line of a table.
#[must_use]
pub fn row(plan: &TorturePlan, verdict: &Verdict) -> String {
    let free = |cause| times(&verdict.waits_of(|wait: &GrantDelay| wait.cause == cause));
    format!(
        "| {} | {:.1} | {} | {} | {} | {} | {} | {} | {} | {} |",
        plan.kind,
        plan.time.as_secs_f64() / 60.0,
        plan.seed,
        verdict.acquisitions,
        verdict.faults.values().sum::<u64>(),
        verdict.violations.len(),
        free(FreedBy::Release),
        times(&verdict.delays_of(|wait| wait.cause == FreedBy::Release)),
        free(FreedBy::Death),
        free(FreedBy::LeaseEnd),
    )
}

fn write(text: &mut String, plan: &TorturePlan, verdict: &Verdict) -> fmt::Result {
    let Verdict { acquisitions, calm, lost, killed, stopped, pairs, .. } = verdict;
    writeln!(text, "{acquisitions} acquisitions, {lost} permits lost by their holders")?;
    writeln!(text, "alarms: judged beside {calm} acquisitions without the effects of faults")?;
    let [workers, holds, waits] = killed;
    writeln!(
        text,
        "killed: {workers} workers, which held {holds} permits and stood {waits} times in line"
    )?;
    let [workers, holds, waits] = stopped;
    writeln!(
        text,
        "stopped: {workers} workers, which held {holds} permits and stood {waits} times in line"
    )?;
    let faults: Vec<_> =
        verdict.faults.iter().map(|(name, count)| format!("{name} {count}")).collect();
    writeln!(text, "faults: {}", faults.join(", "))?;
    for (why, count) in &verdict.refused {
        writeln!(text, "refused {count}: {why}")?;
    }
    writeln!(text, "order: {} pairs proven, {} passed over for a fault", pairs[0], pairs[1])?;
    waits_by_cause(text, verdict)?;
    told(text, "counted, not promised", &verdict.counted)?;
    told(text, "VIOLATIONS", &verdict.violations)?;
    nothing_done(text, *acquisitions == 0, "nothing was acquired")?;
    writeln!(
        text,
        "| store | minutes | seed | acquisitions | faults | violations | release to grant: p50 / p99 / worst | \
         less the time in which the store could grant nothing | holder's death to grant | end of belief to grant |\n\
         |---|---|---|---|---|---|---|---|---|---|\n{}",
        row(plan, verdict)
    )
}

/// Writes the report about a queue, which ends with a line for the table.
#[must_use]
pub fn queue(plan: &TorturePlan, verdict: &queue::check::QueueVerdict) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_queue(&mut text, plan, verdict);
    text
}

fn write_queue(
    text: &mut String,
    plan: &TorturePlan,
    verdict: &queue::check::QueueVerdict,
) -> fmt::Result {
    let faults: Vec<_> =
        verdict.faults.iter().map(|(name, count)| format!("{name} {count}")).collect();
    writeln!(text, "faults: {}", faults.join(", "))?;
    let [pairs, waits, pops] = [verdict.pairs, verdict.prompt, verdict.calm];
    writeln!(
        text,
        "judged without the effects of faults: {pairs} pairs in order, {waits} waits beside an idle worker, {pops} \
         deliveries for alarms"
    )?;
    told(text, "counted, not promised", &verdict.counted)?;
    told(text, "VIOLATIONS", &verdict.violations)?;
    let is_idle = verdict.pushed == 0 || verdict.acknowledged == 0;
    nothing_done(text, is_idle, "nothing was pushed, or nothing acknowledged")?;
    writeln!(
        text,
        "| store | minutes | seed | pushed | deliveries | acknowledged | lost by workers | dead | faults | violations \
         | counted | pairs in order | due to in hand beside an idle worker: p50 / p99 / worst |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|\n\
         | {} | {:.1} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        plan.kind,
        plan.time.as_secs_f64() / 60.0,
        plan.seed,
        verdict.pushed,
        verdict.deliveries,
        verdict.acknowledged,
        verdict.lost,
        verdict.dead,
        verdict.faults.values().sum::<u64>(),
        verdict.violations.len(),
        verdict.counted.len(),
        verdict.pairs,
        times(&verdict.waits),
    )
}

fn waits_by_cause(text: &mut String, verdict: &Verdict) -> fmt::Result {
    for cause in [FreedBy::Release, FreedBy::Death, FreedBy::LeaseEnd, FreedBy::Arrival] {
        let all = verdict.waits_of(|wait| wait.cause == cause);
        let net = verdict.delays_of(|wait| wait.cause == cause);
        let able = |wait: &GrantDelay| wait.cause == cause && wait.outage == 0;
        let calm = verdict.waits_of(|wait| able(wait) && wait.bound == Bound::Prompt);
        let able = verdict.waits_of(able);
        writeln!(text, "{cause} to grant, p50 / p99 / worst: {}", times(&all))?;
        writeln!(
            text,
            "    less the time in which the store could grant nothing: {}",
            times(&net)
        )?;
        writeln!(text, "    the store able to grant all the time: {}", times(&able))?;
        writeln!(text, "    and no client stopped or dead: {}", times(&calm))?;
    }
    Ok(())
}

fn nothing_done(text: &mut String, is_so: bool, what: &str) -> fmt::Result {
    if is_so {
        writeln!(text, "NOTHING WAS DONE: {what}, so the run proves nothing")
    } else {
        Ok(())
    }
}

fn told(text: &mut String, what: &str, violations: &[Violation]) -> fmt::Result {
    writeln!(text, "{what}: {}", violations.len())?;
    for violation in violations.iter().take(TOLD) {
        writeln!(text, "    {violation}")?;
    }
    Ok(())
}

/// Writes the median, the 99th percentile and the longest of these times, and their number.
fn times(sorted: &[u64]) -> String {
    let at =
        |share: usize| sorted.get((sorted.len() * share / 100).min(sorted.len().saturating_sub(1)));
    let shown = |micros: Option<&u64>| match micros {
        None => "–".to_owned(),
        Some(micros) if *micros < 10_000 => format!("{:.1} ms", *micros as f64 / 1e3),
        Some(micros) if *micros < 1_000_000 => format!("{} ms", micros / 1000),
        Some(micros) => format!("{:.2} s", *micros as f64 / 1e6),
    };
    format!("{} / {} / {} of {}", shown(at(50)), shown(at(99)), shown(at(100)), sorted.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_as_people_read_them() {
        let hundred: Vec<u64> = (1..=100).map(|ms| ms * 100).collect();
        assert_eq!(times(&hundred), "5.1 ms / 10 ms / 10 ms of 100");
        assert_eq!(times(&[]), "– / – / – of 0");
        assert_eq!(times(&[2_500_000]), "2.50 s / 2.50 s / 2.50 s of 1");
    }
}
