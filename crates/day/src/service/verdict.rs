//! Judges the answers that the clients of a service got.

use std::{
    collections::BTreeMap,
    fmt::{self, Display},
};

/// One request and its answer. Times are in microseconds.
#[derive(Clone, Debug)]
pub struct AnswerSeen {
    /// The tenant.
    pub tenant: usize,
    /// The moment at which the request was sent.
    pub sent: u64,
    /// The moment at which the answer arrived.
    pub got: u64,
    /// How long the work takes.
    pub work: u64,
    /// The status, or the reason why there is none.
    pub status: Result<u16, String>,
}

/// A time in which the store was silent.
#[derive(Clone, Copy, Debug)]
pub struct SilentTime {
    /// The beginning of the silence.
    pub from: u64,
    /// The end of the silence.
    pub until: u64,
}

/// The rules for answers.
#[derive(Clone, Copy, Debug)]
pub struct ServiceTerms {
    /// The number of requests of a tenant that may be worked on at once.
    pub limit: u32,
    /// Whether the shorter silence already outlasts a lease of this store.
    pub loses_soon: bool,
}

/// The verdict.
#[derive(Debug, Default)]
pub struct ServiceVerdict {
    /// The number of answers with each status, while all was well and around each outage.
    pub statuses: [BTreeMap<String, u64>; 3],
    /// The longest time to an answer in each of these situations, in microseconds.
    pub longest: [u64; 3],
    /// The answers that are not allowed.
    pub wrong: Vec<String>,
    /// The things that remain at the store after all clients have gone.
    pub remains: Vec<String>,
}

/// The situations that a request can meet.
const NAMES: [&str; 3] = ["all well", "silent for 5 s", "silent for 60 s"];
/// How long an outage may have consequences, in microseconds: leases that no process could give
/// back, and a long queue.
const AFTERMATH: u64 = 45_000_000;

/// Judges all answers.
#[must_use]
pub fn judge(
    answers: &[AnswerSeen],
    outages: &[SilentTime],
    terms: ServiceTerms,
) -> ServiceVerdict {
    let mut verdict = ServiceVerdict::default();
    for answer in answers {
        // In a short day long work can meet both silences. Then the second, long one may have cost
        // its permit.
        let met = outages
            .iter()
            .rposition(|it| answer.got >= it.from && answer.sent <= it.until + AFTERMATH);
        let met = met.map_or(0, |outage| outage + 1);
        let status = match &answer.status {
            Ok(status) => status.to_string(),
            Err(_) => "none".to_owned(),
        };
        *verdict.statuses[met].entry(status).or_default() += 1;
        verdict.longest[met] = verdict.longest[met].max(answer.got - answer.sent);
        if !may_be(met, answer, terms) {
            let seconds = (answer.got - answer.sent) as f64 / 1e6;
            let story = format!("{}: {:?} after {seconds:.1} s", NAMES[met], answer.status);
            verdict.wrong.push(story);
        }
    }
    over_limit(answers, terms.limit, &mut verdict.wrong);
    verdict
}

/// Returns whether an answer is allowed in this situation. Three answers are always allowed: done
/// (200), busy (429), and no answer of the store within 2 s (503), since a busy machine may need
/// the 2 s. A lost permit is allowed only where the store was silent for long.
fn may_be(met: usize, answer: &AnswerSeen, terms: ServiceTerms) -> bool {
    match answer.status {
        Ok(200 | 429 | 503) => true,
        // The permit was lost during the work: the store was silent, or reported that its lease had
        // ended.
        Ok(500 | 409) => met == 2 || met == 1 && terms.loses_soon,
        _ => false,
    }
}

/// Looks for times with more work than the limit. The work was done at some time between the
/// request and the answer. If the answer came within twice the time of the work, the work certainly
/// went on from `got - work` to `sent + work`.
fn over_limit(answers: &[AnswerSeen], limit: u32, wrong: &mut Vec<String>) {
    let certain = |it: &&AnswerSeen| it.status == Ok(200) && it.got - it.sent < 2 * it.work;
    let mut spans: Vec<(usize, u64, u64)> = answers
        .iter()
        .filter(certain)
        .map(|it| (it.tenant, it.got - it.work, it.sent + it.work))
        .collect();
    spans.sort_by_key(|(_, from, _)| *from);
    for (tenant, from, _) in &spans {
        let inside = |it: &&(usize, u64, u64)| it.0 == *tenant && it.1 <= *from && *from < it.2;
        let count = spans.iter().filter(inside).count();
        if count > limit as usize {
            wrong.push(format!("{count} of {limit} at once for tenant {tenant}, at {from}"));
        }
    }
}

impl ServiceVerdict {
    /// Returns whether nothing is wrong and work was done while all was well. A service that turns
    /// everything away breaks no other rule.
    #[must_use]
    pub fn is_well(&self) -> bool {
        self.wrong.is_empty() && self.remains.is_empty() && self.did_work()
    }

    fn did_work(&self) -> bool {
        self.statuses[0].contains_key("200")
    }
}

impl Display for ServiceVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, statuses) in self.statuses.iter().enumerate() {
            let statuses: Vec<_> =
                statuses.iter().map(|(status, n)| format!("{status}: {n}")).collect();
            let longest = self.longest[at] as f64 / 1e6;
            writeln!(f, "    {}: {}; longest {longest:.1} s", NAMES[at], statuses.join(", "))?;
        }
        writeln!(f, "    wrong: {}, left: {}", self.wrong.len(), self.remains.len())?;
        if !self.did_work() {
            writeln!(f, "    NOTHING WAS DONE while all was well: no answer was 200")?;
        }
        self.wrong
            .iter()
            .chain(&self.remains)
            .take(20)
            .try_for_each(|it| writeln!(f, "        {it}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(sent: u64, got: u64, status: u16) -> AnswerSeen {
        let second = 1_000_000;
        AnswerSeen {
            tenant: 0,
            sent: sent * second,
            got: got * second,
            work: 2 * second,
            status: Ok(status),
        }
    }

    const TERMS: ServiceTerms = ServiceTerms { limit: 1, loses_soon: false };
    const OUTAGES: [SilentTime; 2] = [
        SilentTime { from: 100_000_000, until: 105_000_000 },
        SilentTime { from: 300_000_000, until: 360_000_000 },
    ];

    #[test]
    fn a_lost_permit_is_told_only_where_the_store_was_silent_for_long() {
        let wrong =
            |sent, status| judge(&[answer(sent, sent + 2, status)], &OUTAGES, TERMS).wrong.len();
        assert_eq!([wrong(10, 500), wrong(101, 500), wrong(310, 500)], [1, 1, 0]);
        let soon = ServiceTerms { loses_soon: true, ..TERMS };
        assert!(judge(&[answer(101, 103, 500)], &OUTAGES, soon).wrong.is_empty());
        assert_eq!([wrong(10, 200), wrong(10, 429), wrong(10, 404)], [0, 0, 1]);
        assert!(judge(&[answer(104, 320, 500)], &OUTAGES, TERMS).wrong.is_empty(), "in both");
    }

    #[test]
    fn one_too_many_is_found_where_the_times_prove_it() {
        let at_once = [answer(10, 12, 200), answer(11, 13, 200)];
        assert_eq!(judge(&at_once, &OUTAGES, TERMS).wrong.len(), 1);
        assert_eq!(judge(&at_once, &OUTAGES, ServiceTerms { limit: 2, ..TERMS }).wrong.len(), 0);
        let in_turn = [answer(10, 12, 200), answer(11, 14, 200)];
        assert_eq!(judge(&in_turn, &OUTAGES, TERMS).wrong.len(), 0);
    }

    #[test]
    fn a_service_that_only_turns_away_is_not_well() {
        let of = |status| judge(&[answer(10, 12, status)], &OUTAGES, TERMS);
        assert!(!of(503).is_well() && of(503).to_string().contains("NOTHING WAS DONE"));
        assert!(of(200).is_well(), "{}", of(200));
        assert!(!judge(&[answer(310, 312, 200)], &OUTAGES, TERMS).is_well(), "in a silence only");
    }

    #[test]
    fn no_answer_is_always_wrong() {
        let silent = AnswerSeen { status: Err("refused".to_owned()), ..answer(310, 312, 0) };
        assert_eq!(judge(&[silent], &OUTAGES, TERMS).wrong.len(), 1);
    }
}
