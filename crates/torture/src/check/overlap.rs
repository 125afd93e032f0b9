//! The rules that at any moment workers believe in at most `limit` permits, and at most one worker
//! in a slot.

use std::collections::BTreeMap;

use super::{
    Check, Violation,
    fences::breach,
    tale::{GrantedRequest, PermitTale, told},
};

pub(super) fn check(tale: &PermitTale, found: &mut Vec<Violation>) {
    for (name, limit) in &tale.names {
        let mut grants: Vec<_> = tale.granted(name).collect();
        grants.sort_by_key(|(_, grant)| grant.at);
        sweep(&grants, *limit, found);
        slots(tale, &grants, found);
    }
}

/// Checks the limit. Only a grant can raise the number of held permits, so it is enough to look at
/// each grant.
fn sweep(grants: &[GrantedRequest<'_>], limit: u32, found: &mut Vec<Violation>) {
    let mut held: Vec<GrantedRequest<'_>> = Vec::new();
    for (request, grant) in grants {
        held.retain(|(_, other)| other.until > grant.at);
        if grant.until <= grant.at {
            continue;
        }
        held.push((request, grant));
        let permits: u32 = held.iter().map(|(request, _)| request.permits).sum();
        if permits > limit {
            let who: Vec<_> = held.iter().map(told).collect();
            let story = format!("{permits} of {limit} at {}: {}", request.name, who.join("; "));
            found.push(Violation { check: Check::Limit, at: grant.at, story });
        }
    }
}

fn slots(tale: &PermitTale, grants: &[GrantedRequest<'_>], found: &mut Vec<Violation>) {
    let mut last: BTreeMap<u32, &GrantedRequest<'_>> = BTreeMap::new();
    for held in grants.iter().filter(|(_, grant)| grant.until > grant.at) {
        let (request, grant) = held;
        for slot in &grant.slots {
            let Some(before) = last.insert(*slot, held) else { continue };
            let pair = format!("slot {slot} of {}: {}; {}", request.name, told(before), told(held));
            if before.1.until > grant.at {
                found.push(Violation { check: Check::Slot, at: grant.at, story: pair.clone() });
            }
            if before.1.fence >= grant.fence {
                let check = breach(tale, before.1, grant);
                found.push(Violation { check, at: grant.at, story: pair });
            }
        }
    }
}
