//! Fences grow with every grant of a name; a ticket is granted once.

use std::collections::BTreeMap;

use super::{Check, Violation, overlap::told, tale::Tale};

pub(super) fn check(tale: &Tale, found: &mut Vec<Violation>) {
    tickets(tale, found);
    for name in tale.names.keys() {
        twice(tale, name, found);
        grow(tale, name, found);
    }
}

fn tickets(tale: &Tale, found: &mut Vec<Violation>) {
    let mut seen = BTreeMap::new();
    for request in &tale.requests {
        let Some(grant) = &request.grant else { continue };
        if let Some(other) = seen.insert(&grant.ticket, &request.req) {
            let story =
                format!("ticket {} was granted to {other} and {}", grant.ticket, request.req);
            found.push(Violation { check: Check::Ticket, at: grant.at, story });
        }
    }
}

fn twice(tale: &Tale, name: &str, found: &mut Vec<Violation>) {
    let mut seen = BTreeMap::new();
    for held in tale.granted(name) {
        if let Some(other) = seen.insert(held.1.fence, held) {
            let story = format!("the same fence: {}; {}", told(&other), told(&held));
            found.push(Violation { check: Check::Fence, at: held.1.at, story });
        }
    }
}

/// Whoever asks when somebody has a grant in hand gets a greater fence. (Slots say more; see there.)
fn grow(tale: &Tale, name: &str, found: &mut Vec<Violation>) {
    let mut in_hand: Vec<_> = tale.granted(name).collect();
    in_hand.sort_by_key(|(_, grant)| grant.at);
    let mut in_hand = in_hand.into_iter().peekable();
    let mut greatest = None;
    for held in tale.granted(name) {
        while let Some(earlier) = in_hand.next_if(|(_, grant)| grant.at < held.0.asked) {
            greatest = greatest.into_iter().chain([earlier]).max_by_key(|(_, grant)| grant.fence);
        }
        if let Some(before) = greatest.filter(|(_, grant)| grant.fence >= held.1.fence) {
            let story = format!("{}; asked later: {}", told(&before), told(&held));
            found.push(Violation { check: Check::Fence, at: held.1.at, story });
        }
    }
}
