//! Whether what was seen is what was promised.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
    time::Duration,
};

use seinpaal::Ticket;

use super::load::{Hold, Plan, Seen};

/// The promises that were broken.
pub(crate) fn broken(plan: &Plan, seen: &Seen) -> Vec<String> {
    let most = most_at_once(&seen.holds);
    let checks = [
        (most > plan.limit as usize, format!("{most} believed to hold at once")),
        (!is_unique(&seen.holds), "a fence was given twice".to_owned()),
        (!fences_grow_within_slots(&seen.holds), "a fence fell within a slot".to_owned()),
        (
            out_of_order(seen) > 0 && seen.sessions_lost == 0,
            format!("{} were served out of order", out_of_order(seen)),
        ),
        (seen.left != (0, 0), format!("{:?} held and waited when all had left", seen.left)),
        (seen.recoveries.len() < plan.kills, "work did not go on".to_owned()),
    ];
    checks.into_iter().filter(|(broken, _)| *broken).map(|(_, what)| what).collect()
}

/// A sweep over all beliefs on the one clock that all clients share.
fn most_at_once(holds: &[Hold]) -> usize {
    let mut steps: Vec<_> =
        holds.iter().flat_map(|hold| [(hold.from, 1_i64), (hold.until, -1)]).collect();
    // At the same instant the one who leaves goes first.
    steps.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, step) in steps {
        now += step;
        most = most.max(now);
    }
    most as usize
}

fn is_unique(holds: &[Hold]) -> bool {
    let fences: HashSet<_> = holds.iter().map(|hold| hold.fence).collect();
    fences.len() == holds.len()
}

/// By the time at which they were believed in.
fn fences_grow_within_slots(holds: &[Hold]) -> bool {
    let mut by_time: Vec<_> = holds.iter().collect();
    by_time.sort_by_key(|hold| hold.from);
    let mut last: HashMap<u32, u64> = HashMap::new();
    by_time.iter().all(|hold| last.insert(hold.slot, hold.fence).is_none_or(|f| f < hold.fence))
}

/// How many neighbours of a line that was seen were served the other way round.
pub(crate) fn out_of_order(seen: &Seen) -> usize {
    let fences: HashMap<Ticket, u64> =
        seen.holds.iter().map(|hold| (hold.ticket, hold.fence)).collect();
    let served = |line: &Vec<Ticket>| -> Vec<u64> {
        line.iter().filter_map(|ticket| fences.get(ticket).copied()).collect()
    };
    let wrong = |fences: Vec<u64>| fences.windows(2).filter(|two| two[0] > two[1]).count();
    seen.lines.iter().map(|line| wrong(served(line))).sum()
}

/// The figures, as docs/internals/measurements.md has them.
pub(crate) fn table(plan: &Plan, seen: &Seen) -> String {
    let grants = seen.holds.len();
    let per_grant = |count: u64| count as f64 / grants.max(1) as f64;
    let mut waits: Vec<_> = seen.holds.iter().map(|hold| hold.from - hold.asked).collect();
    let (mut recoveries, lost) = (seen.recoveries.clone(), seen.holds.iter());
    let lost = lost.filter(|hold| hold.was_lost).count();
    let mut text = String::new();
    let mut row = |what: &str, figure: String| {
        let _ = writeln!(text, "| {what} | {figure} |"); // a string takes whatever is written
    };
    row("clients, limit", format!("{}, {}", plan.clients, plan.limit));
    row("leaders killed", plan.kills.to_string());
    row("grants", format!("{grants} in {:.0} s", seen.took.as_secs_f64()));
    row("believed to hold at once, at most", most_at_once(&seen.holds).to_string());
    row(
        "lines seen, neighbours out of order",
        format!("{}, {}", seen.lines.len(), out_of_order(seen)),
    );
    row(
        "sessions lost, permits lost, requests failed",
        format!("{}, {lost}, {}", seen.sessions_lost, seen.errors),
    );
    row(
        "writes tried a grant, of these again",
        format!("{:.2}, {:.2}", per_grant(seen.attempts), per_grant(seen.repeats)),
    );
    row("wait for a grant p50, p99, worst", quantiles(&mut waits));
    row("longest time without a grant around a kill p50, p99, worst", quantiles(&mut recoveries));
    text
}

fn quantiles(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |part: usize| times.get((times.len() * part / 100).min(times.len().saturating_sub(1)));
    let text =
        |part| at(part).map_or_else(|| "–".to_owned(), |time| format!("{} ms", time.as_millis()));
    [text(50), text(99), text(100)].join(", ")
}
