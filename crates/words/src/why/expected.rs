//! How long a waiter may still wait, in words.

use std::time::Duration;

use seinpaal::why::{Estimate, LeasesEnd, Unsaid};

use crate::text::age;

/// How long, and what that rests on.
#[must_use]
pub fn estimate(estimate: &Estimate) -> String {
    match estimate {
        Estimate::Now => "at once".to_owned(),
        Estimate::AfterGuard { wait } => format!("in {}, when the guard ends", age(*wait)),
        Estimate::ByHolds { wait, .. } | Estimate::AtLeaseEnd { wait } => {
            format!("{}, {}", about(*wait), basis(estimate))
        }
        Estimate::CannotSay(_) => format!("cannot say: {}", basis(estimate)),
        _ => "cannot say".to_owned(),
    }
}

/// The figure alone; `None` if there is none.
#[must_use]
pub fn figure(given: &Estimate) -> Option<String> {
    match given {
        Estimate::Now => Some(estimate(given)),
        Estimate::AfterGuard { wait } => Some(format!("in {}", age(*wait))),
        given => given.wait().map(about),
    }
}

/// In whole seconds, because nobody knows fractions.
fn about(wait: Duration) -> String {
    format!("about {}", age(Duration::from_secs(wait.as_secs().max(1))))
}

/// What an estimate rests on, or why there is none; empty where that goes without saying.
#[must_use]
pub fn basis(estimate: &Estimate) -> String {
    match estimate {
        Estimate::ByHolds { seen: 1, typical, .. } => {
            format!("going by the only hold that has ended, which took {}", age(whole(*typical)))
        }
        Estimate::ByHolds { seen, typical, .. } => {
            format!(
                "going by the last {seen} holds, half of them within {}",
                age(rounded_up(*typical))
            )
        }
        Estimate::AtLeaseEnd { .. } => "when the lease ends that is not renewed".to_owned(),
        Estimate::CannotSay(unsaid) => because(*unsaid).to_owned(),
        _ => String::new(),
    }
}

fn because(unsaid: Unsaid) -> &'static str {
    match unsaid {
        Unsaid::Paused => "nobody knows when the name is resumed",
        Unsaid::LimitIsZero => "nobody knows when the limit is raised",
        Unsaid::AboveLimit => "it will be refused",
        Unsaid::SlotWishedFor => "it goes by which slot is given back",
        Unsaid::Unreachable => "nobody knows whether it comes back",
        Unsaid::NoHoldEnded => "no hold has ended yet",
        _ => "not all holders are listed",
    }
}

pub(super) fn latest(end: &LeasesEnd) -> String {
    let within = age(end.within);
    match end.leases {
        1 => format!("at the latest: in {within}, unless a lease that ends then is renewed"),
        leases => format!(
            "at the latest: in {within}, unless one of {leases} leases that end by then is renewed"
        ),
    }
}

/// Without a fraction of a second that nobody knows.
fn whole(duration: Duration) -> Duration {
    if duration < Duration::from_secs(1) {
        duration
    } else {
        Duration::from_secs(duration.as_secs())
    }
}

/// Rounds up, so that a wait that took less is within the estimate.
fn rounded_up(duration: Duration) -> Duration {
    let part = u64::from(duration.subsec_nanos() > 0);
    Duration::from_secs(duration.as_secs() + part)
}
