//! The report of a day.

use std::fmt::Write;

use crate::{
    judge::{DayCheck, DayCounts, DayVerdict},
    store::StoreSetting,
};

/// How many breaches of a rule on a store are told in full.
const TOLD: usize = 5;

const HEAD: &str = "\
| store | runs | other calls | waits | longest wait | order: pairs | items | machine too busy | least left at a grant | statuses \
| unexpected | silent ends | words | order broken | over limit | lease outlived | refused | items | hung | lingers | wrong | left |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
";

const CHECKS: [DayCheck; 12] = [
    DayCheck::Status,
    DayCheck::Silent,
    DayCheck::Words,
    DayCheck::Order,
    DayCheck::Limit,
    DayCheck::Lease,
    DayCheck::Refused,
    DayCheck::Item,
    DayCheck::Hung,
    DayCheck::Lingers,
    DayCheck::Wrong,
    DayCheck::Remains,
];

/// Writes the whole report: the table, the number of breaches, and samples of them.
#[must_use]
pub fn report(verdict: &DayVerdict) -> String {
    let mut text = HEAD.to_owned();
    for (store, counts) in &verdict.stores {
        text.push_str(&row(verdict, *store, counts));
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "VIOLATIONS: {}", verdict.violations.len());
    for violation in verdict.samples(TOLD) {
        let _ = writeln!(text, "    {violation}");
    }
    if verdict.stores.is_empty() {
        text.push_str("NOTHING WAS DONE: the history has no job\n");
    }
    for store in verdict.idle_stores() {
        let _ = writeln!(text, "NOTHING WAS DONE on {store}: no CMD was ever inside");
    }
    text
}

fn row(verdict: &DayVerdict, store: StoreSetting, counts: &DayCounts) -> String {
    let DayCounts { runs, calls, waits, longest, pairs, items, slow, least, statuses, .. } = counts;
    let least = least.map_or_else(|| "–".to_owned(), |permille| format!("{}%", permille / 10));
    let statuses: Vec<_> =
        statuses.iter().map(|(status, times)| format!("{status}: {times}")).collect();
    let mut text = format!(
        "| {store} | {runs} | {calls} | {waits} | {:.1} s | {pairs} | {items} | {:.0} s | {least} | {} |",
        *longest as f64 / 1e6,
        *slow as f64 / 1e6,
        statuses.join(", ")
    );
    for check in CHECKS {
        let _ = write!(text, " {} |", verdict.count(store, check)); // writing to a string cannot fail
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_on_which_nothing_was_done_is_not_well_and_the_report_says_so() {
        let said = |verdict: &DayVerdict| (verdict.is_well(), report(verdict));
        let (is_well, text) = said(&DayVerdict::default());
        assert!(!is_well && text.contains("NOTHING WAS DONE: "), "{text}");
        let with = |inside| {
            let counts = DayCounts { runs: 3, inside, ..DayCounts::default() };
            DayVerdict { stores: [(StoreSetting::Redis, counts)].into(), violations: Vec::new() }
        };
        let (is_well, text) = said(&with(0));
        assert!(!is_well && text.contains("NOTHING WAS DONE on redis"), "{text}");
        let (is_well, text) = said(&with(1));
        assert!(is_well && !text.contains("NOTHING"), "{text}");
    }
}
