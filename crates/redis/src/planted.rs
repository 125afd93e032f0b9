//! Mistakes that are put into the scripts on purpose. For `crates/planted` only.

use seinpaal_proto::planted::{Bug, planted};

/// A script with the planted mistake of this process, if it has the text that the mistake replaces.
/// The test below shows that some script has that text.
pub(crate) fn spoil(source: String) -> String {
    let chosen = Bug::ALL.iter().copied().find(|bug| planted(*bug));
    let Some((from, to)) = chosen.and_then(mistake) else { return source };
    source.replacen(from, to, 1)
}

fn mistake(bug: Bug) -> Option<(&'static str, &'static str)> {
    Some(match bug {
        Bug::LuaOneTooMany => {
            ("permits <= going - held and waiting", "permits <= going - held + 1 and waiting")
        }
        Bug::LuaLosesTheHead => ("= 'h', pack(HEAD", "= 'x', pack(HEAD"),
        Bug::LuaWakesNobody => ("held - permits, false\n", "held - permits, true\n"),
        Bug::LuaFenceNotRaised => ("  fence = max(fence + 1, now)", "  fence = max(fence, now)"),
        Bug::LuaSeconds => ("now = time[1] * 1000000 + time[2]", "now = time[1] + 0"),
        Bug::LuaCallersTtl => (
            "if deadline <= 0 or left < need or left > most then\n",
            "need = max(lease_ttl, MIN_TTL)\n    most, left = need, -1\n    if left < need then\n",
        ),
        Bug::QueueLuaOneTooMany => {
            ("then most = limit - in_work end", "then most = limit - in_work + 1 end")
        }
        Bug::QueueLuaCallsNobody => ("ledger.wake(place.inbox, 'called')", ""),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_in_a_script_finds_its_place() {
        for bug in Bug::ALL {
            if let Some((from, _)) = mistake(*bug) {
                assert!(crate::has_in_a_script(from), "{bug:?}");
            }
        }
    }
}
