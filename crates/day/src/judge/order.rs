//! First come, first served, where the history proves which job came first.
//!
//! A job that was told that it stands in line, before another was even started, is ahead of that
//! one. Ten seconds of waiting outweigh a step of priority.

use super::{
    DayCheck,
    tale::{DayTale, JobTale},
};

/// How much waiting outweighs one step of priority, in microseconds.
const STEP: i128 = 10_000_000;
/// A silence of at most this length, in microseconds, costs no place in line.
const SHORT: u64 = 5_000_000;

/// Returns how many pairs were judged.
pub(super) fn check(tale: &DayTale<'_>, found: &mut Vec<(DayCheck, String)>) -> u64 {
    let mut pairs = 0;
    for name in tale.names() {
        let is_here = |job: &&JobTale<'_>| {
            job.start.want.as_ref().is_some_and(|want| want.name == name) && !job.was_stopped
        };
        let jobs: Vec<_> = tale.jobs.values().filter(is_here).collect();
        for ahead in jobs.iter().filter(|job| job.queued.contains_key(name)) {
            for behind in &jobs {
                pairs += u64::from(judge(tale, name, ahead, behind, found));
            }
        }
    }
    pairs
}

/// Judges one pair, and returns whether it proves anything.
fn judge(
    tale: &DayTale<'_>,
    name: &str,
    ahead: &JobTale<'_>,
    behind: &JobTale<'_>,
    found: &mut Vec<(DayCheck, String)>,
) -> bool {
    let (Some(first), Some(second)) = (ahead.fence(), behind.fence()) else { return false };
    let queued = ahead.queued[name];
    let is_seen = queued < behind.started && behind.started < ahead.visits[0].0;
    if !is_seen || rank(ahead, queued) >= rank(behind, behind.started) {
        return false;
    }
    if tale.was_silent(ahead.started, ahead.visits[0].0, SHORT) {
        return false;
    }
    if second < first {
        let story = format!(
            "at {name} {} (fence {second}, started at {}) before {} (fence {first}, in line since {})",
            behind.who, behind.started, ahead.who, queued
        );
        found.push((DayCheck::Order, story));
    }
    true
}

/// The rank of a job. The lower rank is served first.
fn rank(job: &JobTale<'_>, came: u64) -> i128 {
    let priority = job.start.want.as_ref().map_or(0, |want| want.priority);
    i128::from(came) - i128::from(priority) * STEP
}
