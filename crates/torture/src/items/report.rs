//! The report of a run.

use std::fmt::Write;

use super::check::{Count, ItemVerdict};

/// Writes the report: counts, then violations.
#[must_use]
pub fn report(verdict: &ItemVerdict) -> String {
    let mut text = String::new();
    let seconds = verdict.took as f64 / 1e6;
    let rate = verdict.count(Count::Acknowledged) as f64 / seconds.max(0.001);
    let _ = writeln!(
        text,
        "{seconds:.1} s from the first push to the last acknowledgement: {rate:.0} items a second"
    );
    for (count, shown) in LINES {
        let _ = writeln!(text, "{:>8} {shown}", verdict.count(count)); // cannot fail
    }
    let _ = writeln!(text, "{} violations", verdict.violations.len());
    for violation in &verdict.violations {
        let _ = writeln!(text, "  {violation}");
    }
    if verdict.count(Count::Acknowledged) == 0 {
        let _ = writeln!(text, "NOTHING WAS DONE: no item was acknowledged");
    }
    text
}

const LINES: [(Count, &str); 25] = [
    (Count::Pushed, "pushes answered"),
    (Count::Refused, "pushes refused"),
    (Count::PushUnknown, "pushes with an unknown result"),
    (Count::PushUnknownDelivered, "  of them delivered"),
    (Count::Kills, "workers killed"),
    (Count::Faults, "faults of the store"),
    (Count::Deliveries, "deliveries that a handler saw"),
    (Count::Unseen, "deliveries that no handler saw (killed before it began)"),
    (Count::GivenBack, "deliveries that were given back before a handler saw them"),
    (Count::Acknowledged, "acknowledgements answered"),
    (Count::DoneUnanswered, "items done whose acknowledgement was not answered (killed meanwhile)"),
    (Count::TooLate, "acknowledgements refused: the delivery was over"),
    (Count::Lost, "items lost"),
    (Count::AcknowledgedTwice, "items acknowledged twice"),
    (Count::DeliveredAfterEnd, "items delivered after an answered acknowledgement"),
    (Count::Repeated, "items delivered more than once"),
    (Count::ByKill, "  deliveries repeated because the worker was killed"),
    (Count::ByLeaseEnd, "  … because the lease ended"),
    (Count::ByFault, "  … because the store was broken"),
    (Count::Unexplained, "  … for no reason that can be seen"),
    (Count::Undisturbed, "undisturbed items"),
    (Count::OutOfOrder, "  delivered before an earlier one of their priority"),
    (Count::OutOfRank, "  delivered before one of another priority further in front"),
    (Count::Strange, "items that nobody pushed, or pushed once and there twice"),
    (Count::BadFence, "fences given twice, or smaller than one of an earlier attempt"),
];
