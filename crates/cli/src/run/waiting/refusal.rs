//! The messages for a request that got no permits: the event, the name and the store, and the
//! remedy.

use std::time::Duration;

use seinpaal::{AcquireError, Ended, Kind, Outage, Snapshot};
use tokio::time::timeout;

use super::{Entrance, NamePart, line::held_by};
use crate::{
    exit::{Exit, Failure},
    output::{
        NamedStore,
        text::{age, has_no_limit, held, reason},
    },
    run::ending::silence,
};

/// How long to ask the store for the holders of the permits.
const GLANCE: Duration = Duration::from_secs(2);

/// Makes the failure for a store that did not answer, which matters more than the holders.
pub(super) fn unreachable(outage: &Outage) -> Failure {
    let words = format!("{}; does it run, and can it be reached from here?", silence(outage));
    Failure::new(Exit::Unreachable, words)
}

impl Entrance<'_> {
    /// Makes the failure of a request that does not wait, and could not get all its permits.
    pub(super) async fn busy(self, parts: &[NamePart]) -> Failure {
        if !self.are_words_read() {
            return self.conflict(String::new());
        }
        let (mut blocked, mut all) = (Vec::new(), Vec::new());
        for part in parts {
            let snapshot = self.look(part).await;
            let remedy = "leave out -n to wait in line";
            let words = self.of(part).line(&not_acquired("busy", snapshot.as_ref(), remedy));
            if snapshot.is_none_or(|snapshot| self.is_in_the_way(part, &snapshot)) {
                blocked.push(words.clone());
            }
            all.push(words);
        }
        // All of them may have become free meanwhile.
        self.conflict(if blocked.is_empty() { all } else { blocked }.join("; "))
    }

    /// Returns whether a name would not give the permits that are asked of it.
    fn is_in_the_way(self, part: &NamePart, seen: &Snapshot) -> bool {
        let stated = self.entry.limit.filter(|_| part.name == self.entry.name);
        let limit = stated.filter(|_| has_no_limit(seen)).unwrap_or(seen.limit);
        let is_short = part.permits > limit.saturating_sub(seen.permits_held);
        let lacks_slot = !self.slots_of(part).is_empty();
        reason(seen).is_some() || seen.waiting_total > 0 || is_short || lacks_slot
    }

    pub(super) async fn refusal(
        self,
        parts: &[NamePart],
        name: &str,
        error: AcquireError,
    ) -> Failure {
        let part = parts.iter().find(|part| part.name.as_str() == name);
        let subject = part.map_or(self.subject, |part| self.of(part));
        let conflict = |words: String| Failure::new(Exit::Conflict, words).about(subject);
        match error {
            AcquireError::Store(error) => Failure::from(error).about(subject),
            AcquireError::OtherKind { stored, stated } => conflict(format!(
                "the name is in use as a {stored}, and this command asks for a {stated}; use another name for one of them"
            )),
            AcquireError::OtherLimit { stored, stated, is_pinned: true } => conflict(format!(
                "an operator set the limit to {stored} with `seinpaal limit`, and this command says {stated}; \
                 --adopt-limit uses {stored}, and `seinpaal limit NAME --unset` lets it go"
            )),
            AcquireError::OtherLimit { stored, stated, .. } => conflict(format!(
                "other clients say the limit is {stored}, and this command says {stated}; -j {stored} or --adopt-limit \
                 uses their limit, and --set-limit changes it for all"
            )),
            AcquireError::NoSuchSlot { .. } => {
                conflict(format!("{error}; `seinpaal limit NAME --slots` gives slots names"))
            }
            AcquireError::TooMany { permits, limit } => {
                let snapshot = match part {
                    Some(part) => self.look(part).await,
                    None => None,
                };
                let is_pinned = snapshot.is_some_and(|snapshot| snapshot.is_pinned);
                conflict(too_many(permits, limit, is_pinned))
            }
            AcquireError::Name(_) | AcquireError::Count(_) | AcquireError::Setting(_) => {
                Failure::usage(error).about(subject)
            }
            AcquireError::NamedTwice => Failure::usage(
                "the name is given twice; ask for more of its permits with -p or NAME:W",
            )
            .about(subject),
            error => match part {
                Some(part) => self.turned_away(part, &error).await,
                None => self.conflict(subject.line(&error.to_string())),
            },
        }
    }

    /// Makes the failure of a run that waited in vain, or that may not wait behind so many others.
    async fn turned_away(self, part: &NamePart, error: &AcquireError) -> Failure {
        let subject = self.of(part);
        // Whether the store is silent decides about the status, also of a run that prints nothing.
        let is_timed_out = matches!(error, AcquireError::TimedOut);
        if !is_timed_out && !self.are_words_read() {
            return self.conflict(String::new());
        }
        let snapshot = self.look(part).await;
        if is_timed_out && snapshot.is_none() {
            return self.silent().about(subject);
        }
        let (why, remedy) = match error {
            AcquireError::TimedOut | AcquireError::Paused { .. } => {
                let wait = age(self.entry.wait.unwrap_or_default());
                (format!("timed out after {wait}"), "a longer -w waits longer")
            }
            AcquireError::TooManyWaiting => (
                "as many requests wait already as --max-waiting allows".to_owned(),
                "a higher --max-waiting lets more wait",
            ),
            AcquireError::Ended(Ended::Evicted) => (
                "somebody took this request out of the line (`seinpaal evict`)".to_owned(),
                "run it again to wait at the end",
            ),
            AcquireError::Ended(Ended::TooMany) => (
                "the limit was lowered below the number that this request wants".to_owned(),
                "ask for fewer with -p, or have the limit raised",
            ),
            other => (other.to_string(), "run it again to wait at the end"),
        };
        self.conflict(subject.line(&not_acquired(&why, snapshot.as_ref(), remedy)))
    }

    /// Makes the failure of a run whose wait is over, while the store does not answer the question
    /// for the holders.
    pub(super) fn silent(self) -> Failure {
        match self.seinpaal.outage() {
            Some(outage) => unreachable(&outage),
            None => Failure::new(
                Exit::Unreachable,
                "the store did not answer during the wait; does it run, and can it be reached from here?",
            ),
        }
    }

    /// Makes the failure of a busy name. With `-E 0` it is no failure, and is printed with `-v`
    /// only, because cron mails all output.
    fn conflict(self, words: String) -> Failure {
        let exit = Exit::NotAcquired(self.entry.conflict_exit_code);
        if self.entry.conflict_exit_code == 0 {
            self.voice.explain(words);
            return Failure::silent(exit);
        }
        Failure::new(exit, words)
    }

    /// Returns whether anybody reads why the request was refused. Otherwise the store is not asked.
    fn are_words_read(self) -> bool {
        let is_failure = self.entry.conflict_exit_code != 0;
        !self.voice.is_quiet() && (is_failure || self.voice.is_explaining())
    }

    fn of<'b>(&'b self, part: &'b NamePart) -> NamedStore<'b> {
        NamedStore { name: &part.name, ..self.subject }
    }

    /// Asks for the totals and one holder, but only for a short time: a silent store is not worth
    /// another wait.
    async fn look(&self, part: &NamePart) -> Option<Snapshot> {
        timeout(GLANCE, part.semaphore.summary(1)).await.ok()?.ok()
    }
}

/// Makes the message for a request above the limit. An operator's limit overrides the limit that
/// callers state.
fn too_many(permits: u32, limit: u32, is_pinned: bool) -> String {
    let (what, raise) = if is_pinned {
        ("an operator set the limit to", "have the limit raised or unset with `seinpaal limit`")
    } else {
        ("the limit is", "raise the limit with -j or `seinpaal limit`")
    };
    format!(
        "{permits} permits can never be granted, {what} {limit}; ask for fewer with -p, or {raise}"
    )
}

fn not_acquired(why: &str, snapshot: Option<&Snapshot>, remedy: &str) -> String {
    let Some(snapshot) = snapshot else { return format!("{why}; {remedy}") };
    let waiting =
        (snapshot.waiting_total > 0).then(|| format!("{} waiting", snapshot.waiting_total));
    let state: Vec<_> =
        [reason(snapshot), holders(snapshot), waiting].into_iter().flatten().collect();
    let colon = if state.is_empty() { "" } else { ": " };
    format!("{why}{colon}{}; {}", state.join("; "), remedy_for(snapshot, remedy))
}

/// Names one holder, and says how many more there are.
fn holders(snapshot: &Snapshot) -> Option<String> {
    let holder = snapshot.holders.first()?;
    let more = match snapshot.holders_total.saturating_sub(1) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let held = match snapshot.kind {
        Some(Kind::RwLock) => held(snapshot),
        _ if snapshot.permits_held == snapshot.limit => "held".to_owned(),
        _ => held(snapshot),
    };
    Some(format!("{held} by {}{more}", held_by(holder)))
}

/// Returns the remedy for the cause that keeps out all waiters, or else this one.
fn remedy_for(snapshot: &Snapshot, remedy: &str) -> String {
    match (&snapshot.paused, snapshot.guarded_for, snapshot.limit) {
        (Some(_), ..) => "`seinpaal resume` lets people in again".to_owned(),
        (None, Some(_), _) => "wait until then, or longer with -w".to_owned(),
        (None, None, 0) => "`seinpaal limit` sets another".to_owned(),
        _ => remedy.to_owned(),
    }
}
