//! The rule that each job ends and prints as it may. Only CMD's own end may be silent.

use super::{
    DayCheck,
    tale::{DayTale, JobEnd, JobTale},
};
use crate::{
    end::{BUSY, LOST, PossibleEnd},
    store::StoreSetting,
};

/// The longest time that a lease lasts after the store was last heard: the default ttl.
const TTL: u64 = 30_000_000;

/// How long a job may take to connect to a store that answers.
const CONNECTING: u64 = 2_000_000;
/// How long the program may stay after CMD is gone: far longer than it needs, and not longer than a
/// third of a ttl.
const PARTING: u64 = 10_000_000;

pub(super) fn check(store: StoreSetting, tale: &DayTale<'_>, found: &mut Vec<(DayCheck, String)>) {
    for job in tale.jobs.values() {
        let Some(end) = &job.ended else {
            found.push((DayCheck::Hung, format!("{} never ended", job.who)));
            continue;
        };
        if job.hung {
            found.push((DayCheck::Hung, told(job, end)));
        } else if !is_allowed(tale, job, end) && !is_starved(store, tale, job, end) {
            found.push((breach(job, end), told(job, end)));
        }
        if is_silent(job, end) {
            found.push((DayCheck::Silent, told(job, end)));
        }
        if job.exited.is_some_and(|at| end.at > at + PARTING) {
            found.push((DayCheck::Lingers, told(job, end)));
        }
        check_events(job, end, found);
        check_lease(store, tale, job, end, found);
        check_refusal(tale, job, end, found);
    }
}

fn is_allowed(tale: &DayTale<'_>, job: &JobTale<'_>, end: &JobEnd<'_>) -> bool {
    // A job that comes while the store is silent may end because of that. So may a job that gives
    // up soon, if the store falls silent before it ends.
    let until = if job.start.is_hurried { end.at } else { job.started + CONNECTING };
    let unreachable = tale.was_silent(job.started, until, 0).then(PossibleEnd::unreachable_again);
    let err = beside_silence(tale, job, end);
    job.start.ends.iter().chain(&unreachable).any(|may| {
        may.status == end.status
            && may.out.as_ref().is_none_or(|out| out == end.out)
            && may.err.fits(&err)
    })
}

/// Returns whether the machine had no time for a client or a server for longer than a permit can go
/// without. A permit lost in this way, and reported as lost, is no mistake.
fn is_starved(
    store: StoreSetting,
    tale: &DayTale<'_>,
    job: &JobTale<'_>,
    end: &JobEnd<'_>,
) -> bool {
    let name = job.start.want.as_ref().map_or("", |want| &want.name);
    let blink = u64::try_from(store.blink().as_micros()).unwrap_or(u64::MAX);
    let lost = PossibleEnd::lost(name);
    end.status == LOST
        && lost.err.fits(&beside_silence(tale, job, end))
        && tale.was_slow(job.started, end.at, blink)
}

/// Allows one more line on stderr for a job that waits while the store is silent.
fn beside_silence(tale: &DayTale<'_>, job: &JobTale<'_>, end: &JobEnd<'_>) -> String {
    let was_silent = tale.was_silent(job.started, end.at, 0);
    let is_told = |line: &&str| !(was_silent && line.ends_with("; still waiting\n"));
    end.err.split_inclusive('\n').filter(is_told).collect()
}

fn breach(job: &JobTale<'_>, end: &JobEnd<'_>) -> DayCheck {
    let is_expected = job.start.ends.iter().any(|may| may.status == end.status);
    if is_expected { DayCheck::Words } else { DayCheck::Status }
}

/// Returns whether the job printed nothing on stderr and ended with a status that is not CMD's and
/// must not come without a line.
fn is_silent(job: &JobTale<'_>, end: &JobEnd<'_>) -> bool {
    let is_own = job.left.iter().any(|(_, status)| *status == end.status);
    let may_be = |may: &PossibleEnd| may.status == end.status && may.err.fits("");
    let is_call = job.start.want.is_none();
    !is_call
        && end.err.is_empty()
        && end.status != 0
        && !is_own
        && job.killed.is_none()
        && !job.start.ends.iter().any(may_be)
}

/// Checks that a job whose events are read reports a loss as an event before its end.
fn check_events(job: &JobTale<'_>, end: &JobEnd<'_>, found: &mut Vec<(DayCheck, String)>) {
    if end.status != LOST || job.told.is_empty() {
        return;
    }
    let at = |event| job.told.iter().position(|told| *told == event);
    if at("lost").is_none() || at("lost") > at("exited") {
        let story = format!("{}: the events of a loss are {:?}", job.who, job.told);
        found.push((DayCheck::Words, story));
    }
}

/// Checks that CMD was gone before its lease ended, if the store was silent for longer than a lease
/// while CMD was inside. The rule holds for every `run` that nobody has killed or stopped, whatever
/// its status: with a guard that never acts, CMD ends as if nothing had happened. Nobody watches
/// over the CMD of a script, so a script is judged only if it says that its lease was lost.
fn check_lease(
    store: StoreSetting,
    tale: &DayTale<'_>,
    job: &JobTale<'_>,
    end: &JobEnd<'_>,
    found: &mut Vec<(DayCheck, String)>,
) {
    let (Some((entered, _)), true) = (job.visits.first(), store.has_leases()) else { return };
    let is_disturbed = job.killed.is_some() || job.was_stopped;
    if end.status != LOST && (is_disturbed || !is_run(job)) {
        return;
    }
    let left = job.until(*entered);
    let outlasts = |(from, to): &&(u64, u64)| *from > *entered && from + TTL < left.min(*to);
    if let Some((from, _)) = tale.outages.iter().find(outlasts) {
        let late = (left - from) as f64 / 1e6;
        let story = format!("{}: CMD was inside {late:.1} s after the store fell silent", job.who);
        found.push((DayCheck::Lease, story));
    }
}

/// Returns whether the job is `seinpaal run`, which ends CMD before the lease ends.
fn is_run(job: &JobTale<'_>) -> bool {
    job.start.argv.get(1).is_some_and(|word| word == "run")
}

/// Checks that no job is refused at a name that no job holds.
fn check_refusal(
    tale: &DayTale<'_>,
    job: &JobTale<'_>,
    end: &JobEnd<'_>,
    found: &mut Vec<(DayCheck, String)>,
) {
    let Some(want) = job.start.want.as_ref().filter(|_| end.status == BUSY) else { return };
    let is_other = |other: &JobTale<'_>| {
        let same = other.start.want.as_ref().is_some_and(|theirs| theirs.name == want.name);
        same && other.who != job.who && other.started <= end.at && other.end() >= job.started
    };
    // If the machine was too busy for a job to give back its permit, the job holds it until the
    // lease ends.
    let may_be_held = tale.was_slow(job.started.saturating_sub(TTL), end.at, 0);
    if !may_be_held && !tale.jobs.values().any(is_other) {
        found.push((DayCheck::Refused, told(job, end)));
    }
}

pub(super) fn told(job: &JobTale<'_>, end: &JobEnd<'_>) -> String {
    let cmd: Vec<_> = job.left.iter().map(|(_, status)| status).collect();
    format!(
        "{} {:?}: status {} (CMD {cmd:?}) after {:.1} s, stdout {:?}, stderr {:?}, events {:?}",
        job.who,
        job.start.argv.join(" "),
        end.status,
        (end.at - job.started) as f64 / 1e6,
        end.out,
        end.err,
        job.told
    )
}
