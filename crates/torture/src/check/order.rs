//! The rule of first come, first served, as far as the history proves which request came first.
//!
//! If the store had answered one request that it stands in line before another request was made,
//! then the first request is ahead of the other. It may be passed only if a fault made it
//! unreachable, or let its place run out.

use super::{
    Check, CheckTerms, Violation,
    tale::{PermitTale, ToldRequest},
};

/// Judges all pairs of requests. Returns how many pairs there are, and how many of them are
/// excused.
pub(super) fn check(tale: &PermitTale, terms: &CheckTerms, found: &mut Vec<Violation>) -> [u64; 2] {
    let mut pairs = [0; 2];
    for name in tale.names.keys() {
        let mut line: Vec<&ToldRequest> = Vec::new();
        for request in tale.requests.iter().filter(|request| request.name == *name) {
            line.retain(|ahead| ahead.ends > request.asked);
            for ahead in
                line.iter().filter(|ahead| ahead.queued.is_some_and(|at| at < request.asked))
            {
                judge(tale, terms, (ahead, request), &mut pairs, found);
            }
            line.push(request);
        }
    }
    pairs
}

fn judge(
    tale: &PermitTale,
    terms: &CheckTerms,
    (ahead, request): (&ToldRequest, &ToldRequest),
    pairs: &mut [u64; 2],
    found: &mut Vec<Violation>,
) {
    let Some(grant) = &request.grant else { return };
    pairs[0] += 1;
    let has_passed = match &ahead.grant {
        Some(other) => other.fence > grant.fence,
        // The request ahead may have been granted and have left before its worker was told. So if
        // both requests fit, the history proves nothing.
        None => grant.at < ahead.ends && ahead.permits + request.permits > limit_of(tale, request),
    };
    if !has_passed {
        return;
    }
    if is_excused(tale, terms, ahead, grant.at) {
        pairs[1] += 1;
        return;
    }
    let queued = ahead.queued.unwrap_or(0);
    let story = format!(
        "{} asked at {} and was granted at {}, though {} stood in line since {queued} and did until {}",
        request.req, request.asked, grant.at, ahead.req, ahead.ends
    );
    found.push(Violation { check: Check::Order, at: grant.at, story });
}

fn limit_of(tale: &PermitTale, request: &ToldRequest) -> u32 {
    tale.names.get(&request.name).copied().unwrap_or(1)
}

/// Returns whether a fault kept the store from reaching the waiter.
fn is_excused(tale: &PermitTale, terms: &CheckTerms, ahead: &ToldRequest, until: u64) -> bool {
    let touches =
        |from: u64, to: u64| from <= until && to.saturating_add(terms.prompt) >= ahead.asked;
    let stopped =
        tale.stops.iter().any(|(life, from, to)| *life == ahead.life && touches(*from, *to));
    let is_concerned = |worker: Option<usize>| worker.is_none() || worker == ahead.worker();
    stopped
        || tale.windows.iter().any(|window| {
            is_concerned(window.worker)
                && touches(window.from, window.to.saturating_add(terms.after_fault))
        })
}
