//! The rules that fences grow with every grant of a name, and that a ticket is granted at most
//! once.

use std::collections::BTreeMap;

use super::{
    Check, Violation,
    tale::{CLOCK_FAULT, PermitTale, ToldGrant, Window, told},
};

/// How long a clock that was set can have effects, in microseconds. Afterwards the store has
/// forgotten an unused name: it does so after a ttl.
const SETTLES: u64 = 10_000_000;
/// How far a fence may be from what the clock says, in microseconds, if nobody has set the clock:
/// half of the shortest step. Workers note their grants later than the store makes them.
const NEAR: u64 = 500_000;

/// Returns the rule that the later grant breaks. Fences follow the store's clock. If that clock is
/// behind them, because it was ahead before or is behind now, an idle name has a rule of its own,
/// [`Check::FenceBehind`]. In both cases the later fence is not ahead of the usual clock. While the
/// clock is still ahead, it is not behind the fences that it gave.
pub(super) fn breach(tale: &PermitTale, earlier: &ToldGrant, later: &ToldGrant) -> Check {
    let has_begun = |window: &&Window| window.fault == CLOCK_FAULT && window.from <= later.at;
    let mut set = tale.windows.iter().filter(has_begun).peekable();
    if set.peek().is_none() {
        return Check::Fence;
    }
    let Some(usual) = tale.fence_at(later.at) else { return Check::FenceBehind };
    let was_ahead = earlier.fence > usual && later.fence <= usual.saturating_add(NEAR);
    let is_behind = later.fence.saturating_add(NEAR) < usual
        && set.any(|window| later.at <= window.to.saturating_add(SETTLES));
    if was_ahead || is_behind { Check::FenceBehind } else { Check::Fence }
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
