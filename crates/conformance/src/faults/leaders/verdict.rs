//! Compares the report of a run with the promises.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
};

use seinpaal::Ticket;

use super::{HeldPermit, LeadersPlan, LeadersReport, SortedTimes};

/// The promises that were broken.
#[must_use]
pub fn broken(plan: &LeadersPlan, seen: &LeadersReport) -> Vec<String> {
    let most = most_at_once(&seen.held);
    let checks = [
        (most > plan.limit as usize, format!("{most} permits were believed in at once")),
        (!is_unique(&seen.held), "a fence was given twice".to_owned()),
        (!fences_grow_within_slots(&seen.held), "a fence fell within a slot".to_owned()),
        (
            out_of_order(seen) > 0 && seen.sessions_lost == 0,
            format!("{} waiters were served out of order", out_of_order(seen)),
        ),
        (
            !seen.lines.iter().any(|line| line.len() > 1),
            "the observer never saw two clients wait".to_owned(),
        ),
        (
            seen.left != Some((0, 0)),
            format!("{:?} holders and waiters were left when all clients had gone", seen.left),
        ),
        (
            seen.tally.lost > 0 && seen.sessions_lost == 0,
            format!("{} permits were lost without a session", seen.tally.lost),
        ),
        (seen.recoveries.len() < plan.kills, "work did not go on".to_owned()),
    ];
    checks.into_iter().filter(|(broken, _)| *broken).map(|(_, what)| what).collect()
}

/// The most permits that were believed in at once, by a sweep over all holds. All clients share one
/// clock.
fn most_at_once(holds: &[HeldPermit]) -> usize {
    let mut steps: Vec<_> =
        holds.iter().flat_map(|hold| [(hold.from, 1_i64), (hold.until, -1)]).collect();
    // At the same instant, the client that leaves goes first.
    steps.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, step) in steps {
        now += step;
        most = most.max(now);
    }
    most as usize
}

fn is_unique(holds: &[HeldPermit]) -> bool {
    let fences: HashSet<_> = holds.iter().map(|hold| hold.fence).collect();
    fences.len() == holds.len()
}

/// Returns whether the fences of each slot grow, in the order in which permits were in hand.
fn fences_grow_within_slots(holds: &[HeldPermit]) -> bool {
    let mut by_time: Vec<_> = holds.iter().collect();
    by_time.sort_by_key(|hold| hold.from);
    let mut last: HashMap<u32, u64> = HashMap::new();
    by_time.iter().all(|hold| last.insert(hold.slot, hold.fence).is_none_or(|f| f < hold.fence))
}

/// Counts the neighbours in an observed line that were served in the other order.
fn out_of_order(seen: &LeadersReport) -> usize {
    let fences: HashMap<Ticket, u64> =
        seen.held.iter().map(|hold| (hold.ticket, hold.fence)).collect();
    let served = |line: &Vec<Ticket>| -> Vec<u64> {
        line.iter().filter_map(|ticket| fences.get(ticket).copied()).collect()
    };
    let wrong = |fences: Vec<u64>| fences.windows(2).filter(|two| two[0] > two[1]).count();
    seen.lines.iter().map(|line| wrong(served(line))).sum()
}

/// The figures, in the form of a table in Markdown.
#[must_use]
pub fn table(plan: &LeadersPlan, seen: &LeadersReport) -> String {
    let grants = seen.held.len();
    let mut waits = SortedTimes::default();
    waits.add(seen.held.iter().map(|hold| hold.from - hold.asked));
    let mut text = String::new();
    let mut row = |what: &str, figure: String| {
        let _ = writeln!(text, "| {what} | {figure} |"); // writing to a string does not fail
    };
    row("clients, limit", format!("{}, {}", plan.clients, plan.limit));
    row("leaders killed", plan.kills.to_string());
    row("grants", format!("{grants} in {:.0} s", seen.took.as_secs_f64()));
    row("believed to hold at once, at most", most_at_once(&seen.held).to_string());
    row(
        "lines seen, neighbours out of order",
        format!("{}, {}", seen.lines.len(), out_of_order(seen)),
    );
    row(
        "sessions lost, permits lost, requests failed",
        format!("{}, {}, {}", seen.sessions_lost, seen.tally.lost, seen.tally.errors),
    );
    row("wait for a grant p50, p99, worst", quantiles(&waits));
    row("longest time without a grant around a kill p50, p99, worst", quantiles(&seen.recoveries));
    text
}

fn quantiles(times: &SortedTimes) -> String {
    let text = |share| format!("{} ms", times.quantile(share).as_millis());
    if times.is_empty() { "–".to_owned() } else { [0.5, 0.99, 1.0].map(text).join(", ") }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::faults::tally::FieldTally;

    const PLAN: LeadersPlan =
        LeadersPlan { clients: 2, kills: 1, limit: 1, grants_between: 1, grants_after: 1 };

    fn seen() -> LeadersReport {
        let mut recoveries = SortedTimes::default();
        recoveries.add([Duration::from_secs(1)]);
        let lines = vec![vec![Ticket(1), Ticket(2)]];
        LeadersReport { lines, recoveries, left: Some((0, 0)), ..LeadersReport::default() }
    }

    #[test]
    fn a_run_in_which_all_was_seen_and_nothing_is_left_breaks_nothing() {
        assert_eq!(broken(&PLAN, &seen()), [""; 0]);
    }

    #[test]
    fn an_observer_that_saw_no_line_or_no_end_proves_nothing() {
        for lines in [vec![], vec![vec![Ticket(1)]]] {
            assert_eq!(broken(&PLAN, &LeadersReport { lines, ..seen() }).len(), 1);
        }
        for left in [None, Some((1, 0)), Some((0, 1))] {
            assert_eq!(broken(&PLAN, &LeadersReport { left, ..seen() }).len(), 1);
        }
    }

    #[test]
    fn a_permit_that_is_lost_without_its_session_breaks_a_promise() {
        let tally = FieldTally { lost: 1, ..FieldTally::default() };
        assert_eq!(broken(&PLAN, &LeadersReport { tally, ..seen() }).len(), 1);
        let with_session = LeadersReport { tally, sessions_lost: 1, ..seen() };
        assert_eq!(broken(&PLAN, &with_session), [""; 0]);
    }
}
