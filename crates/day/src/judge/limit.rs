//! At most the limit is held, and no slot is held twice.

use super::{DayCheck, tale::DayTale};

struct PermitsInside<'a> {
    who: &'a str,
    from: u64,
    until: u64,
    permits: u32,
    slot: Option<u32>,
}

pub(super) fn check(tale: &DayTale<'_>, found: &mut Vec<(DayCheck, String)>) {
    for name in tale.names() {
        let mut all = inside(tale, name);
        all.sort_by_key(|it| it.from);
        sweep(name, limit(tale, name), &all, found);
    }
}

/// The limit of a name. All jobs state the same one.
fn limit(tale: &DayTale<'_>, name: &str) -> u32 {
    let wants = tale.jobs.values().filter_map(|job| job.start.want.as_ref());
    wants.filter(|want| want.name == name).map(|want| want.limit).max().unwrap_or(1)
}

fn inside<'a>(tale: &DayTale<'a>, name: &str) -> Vec<PermitsInside<'a>> {
    let mut all = Vec::new();
    for job in tale.jobs.values() {
        for (from, visit) in &job.visits {
            let (who, until) = (job.who, job.until(*from));
            if visit.name == name {
                let (permits, slot) = (visit.permits, visit.slot);
                all.push(PermitsInside { who, from: *from, until, permits, slot });
            } else if has_also(&job.start.argv, name) {
                all.push(PermitsInside { who, from: *from, until, permits: 1, slot: None });
            }
        }
    }
    all
}

fn has_also(argv: &[String], name: &str) -> bool {
    argv.windows(2).any(|pair| pair[0] == "--also" && pair[1] == name)
}

/// Only an arrival can raise the number inside, so it is enough to look at each arrival.
fn sweep(name: &str, limit: u32, all: &[PermitsInside<'_>], found: &mut Vec<(DayCheck, String)>) {
    let mut now: Vec<&PermitsInside<'_>> = Vec::new();
    for new in all {
        now.retain(|it| it.until > new.from);
        if new.until <= new.from {
            continue;
        }
        let twice = now.iter().find(|it| it.slot.is_some() && it.slot == new.slot);
        if let Some(other) = twice {
            found.push((
                DayCheck::Limit,
                format!("slot {:?} of {name}: {} and {}", new.slot, other.who, new.who),
            ));
        }
        now.push(new);
        let permits: u64 = now.iter().map(|it| u64::from(it.permits)).sum();
        if permits > u64::from(limit) {
            let who: Vec<_> = now.iter().map(|it| it.who).collect();
            found.push((
                DayCheck::Limit,
                format!("{permits} of {limit} at {name}: {}", who.join(", ")),
            ));
        }
    }
}
