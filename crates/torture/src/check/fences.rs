//! The rules that fences grow with every grant of a name, and that a ticket is granted at most
//! once.

use std::collections::BTreeMap;

use super::{
    Check, Violation,
    tale::{PermitTale, ToldGrant, told},
};

/// How long a clock that was set can have effects, in microseconds. Afterwards the store has
/// forgotten an unused name: it does so after a ttl.
const SETTLES: u64 = 10_000_000;

/// Returns the rule that the later grant breaks. Fences follow the store's clock, so a clock that
/// is behind them has a rule of its own, [`Check::FenceBehind`].
pub(super) fn breach(tale: &PermitTale, earlier: &ToldGrant, later: &ToldGrant) -> Check {
    let is_ahead = tale.fence_at(later.at).is_some_and(|usual| earlier.fence > usual);
    let is_set = tale.windows.iter().any(|window| {
        let time = window.from..=window.to.saturating_add(SETTLES);
        window.fault == "clock-server" && time.contains(&later.at)
    });
    if is_ahead || is_set { Check::FenceBehind } else { Check::Fence }
}

pub(super) fn check(tale: &PermitTale, found: &mut Vec<Violation>) {
    tickets(tale, found);
    for name in tale.names.keys() {
        twice(tale, name, found);
        grow(tale, name, found);
    }
}

fn tickets(tale: &PermitTale, found: &mut Vec<Violation>) {
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

fn twice(tale: &PermitTale, name: &str, found: &mut Vec<Violation>) {
    let mut seen = BTreeMap::new();
    for held in tale.granted(name) {
        if let Some(other) = seen.insert(held.1.fence, held) {
            let story = format!("two grants with one fence: {}; {}", told(&other), told(&held));
            let check = breach(tale, other.1, held.1);
            found.push(Violation { check, at: held.1.at, story });
        }
    }
}

/// Checks that a request which is made while another grant is in hand gets a greater fence.
fn grow(tale: &PermitTale, name: &str, found: &mut Vec<Violation>) {
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
            let check = breach(tale, before.1, held.1);
            found.push(Violation { check, at: held.1.at, story });
        }
    }
}
