//! The variables that tell CMD about its permits.

use seinpaal::Slots;

use super::held::CmdGrant;

/// Longer lists of slots are written as ranges, because the kernel refuses a variable above 128
/// KiB.
const MOST_SLOTS_TEXT: usize = 64 * 1024;

/// The variables that only some permits have. They are removed first, so that CMD does not take
/// those of a run around us for its own.
pub(super) const OF_SOME: [&str; 4] =
    ["SEINPAAL_SLOT_NAME", "SEINPAAL_SLOT_NAMES", "SEINPAAL_ALSO_FENCES", "SEINPAAL_ALSO_SLOTS"];

pub(super) fn of(grants: &[CmdGrant]) -> Vec<(&'static str, String)> {
    let Some((grant, also)) = grants.split_first() else { return Vec::new() };
    let mut variables = vec![
        ("SEINPAAL_NAME", grant.name.clone()),
        ("SEINPAAL_FENCE", grant.fence.to_string()),
        ("SEINPAAL_SLOT", slot(grant)),
        ("SEINPAAL_SLOTS", slots(&grant.slots)),
        ("SEINPAAL_PERMITS", grant.permits.to_string()),
        ("SEINPAAL_LIMIT", grant.limit.to_string()),
        ("SEINPAAL_TICKET", grant.ticket.to_string()),
    ];
    if let Some(first) = grant.slot_names.first() {
        variables.push(("SEINPAAL_SLOT_NAME", first.clone()));
        variables.push(("SEINPAAL_SLOT_NAMES", grant.slot_names.join(",")));
    }
    if !also.is_empty() {
        let each =
            |what: fn(&CmdGrant) -> String| also.iter().map(what).collect::<Vec<_>>().join(",");
        variables.push(("SEINPAAL_ALSO_FENCES", each(|grant| grant.fence.to_string())));
        variables.push(("SEINPAAL_ALSO_SLOTS", each(slot)));
    }
    variables
}

fn slot(grant: &CmdGrant) -> String {
    grant.slots.lowest().unwrap_or_default().to_string()
}

fn slots(slots: &Slots) -> String {
    let all = || slots.iter().map(|slot| slot.to_string()).collect::<Vec<_>>().join(",");
    // A slot takes at most ten digits and a comma.
    if slots.count() as usize * 11 > MOST_SLOTS_TEXT { slots.to_string() } else { all() }
}
