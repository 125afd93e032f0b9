//! Mistakes that are put into the scripts on purpose. For `crates/planted` only.

use seinpaal_proto::planted::{Mistake, planted};

/// A script with the mistake of this process in it, if it has the text that the mistake replaces.
/// The test below shows that some script has that text.
pub(crate) fn spoil(source: String) -> String {
    let chosen = Mistake::ALL.iter().copied().find(|mistake| planted(*mistake));
    let Some((from, to)) = chosen.and_then(mistake) else { return source };
    source.replacen(from, to, 1)
}

fn mistake(mistake: Mistake) -> Option<(&'static str, &'static str)> {
    Some(match mistake {
        Mistake::LuaOneTooMany => {
            ("permits <= going - held and waiting", "permits <= going - held + 1 and waiting")
        }
        Mistake::LuaLosesTheHead => ("= 'h', pack(HEAD", "= 'x', pack(HEAD"),
        Mistake::LuaWakesNobody => ("held - permits, false\n", "held - permits, true\n"),
        Mistake::LuaFenceNotRaised => {
            ("  fence = max(fence + 1, now)", "  fence = max(fence, now)")
        }
        Mistake::LuaSeconds => ("now = time[1] * 1000000 + time[2]", "now = time[1] + 0"),
        Mistake::LuaCallersTtl => (
            "if deadline <= 0 or left < need or left > most then\n",
            "need = max(lease_ttl, MIN_TTL)\n    most, left = need, -1\n    if left < need then\n",
        ),
        Mistake::QueueLuaOneTooMany => {
            ("then most = limit - in_work end", "then most = limit - in_work + 1 end")
        }
        Mistake::QueueLuaCallsNobody => ("ledger.wake(place.inbox, 'called')", ""),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_in_a_script_finds_its_place() {
        for mistake in Mistake::ALL {
            if let Some((from, _)) = mistake(*mistake) {
                assert!(crate::has_in_a_script(from), "{mistake:?}");
            }
        }
    }
}
