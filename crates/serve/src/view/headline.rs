//! The first sentence of a page: the state of a name, and the next event that changes it.

use std::time::Duration;

use seinpaal::{
    Kind, MOST_READERS, QueueSnapshot, Snapshot, Waiter,
    why::{Estimate, Waits, Why},
};
use seinpaal_words::{
    reservation,
    text::age,
    why::{are, figure, not_renewed},
};

/// A headline: the cause in a few words, and then the next event.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Headline {
    /// The class of the sign: `shut`, `full`, `kept`, `late`, `lost`, `alone`. It is empty if all
    /// is well.
    pub(crate) sign: &'static str,
    pub(crate) cause: String,
    pub(crate) rest: String,
}

impl Headline {
    fn new(sign: &'static str, cause: impl Into<String>, rest: impl Into<String>) -> Self {
        Self { sign, cause: cause.into(), rest: rest.into() }
    }

    /// Puts a loss in front of the headline, if there was one. A loss comes first, because another
    /// client may hold the permit while its old holder goes on.
    pub(crate) fn after(self, loss: Option<&String>) -> Self {
        match loss {
            Some(loss) => Self::new("lost", loss.as_str(), format!("{} {}", self.cause, self.rest)),
            None => self,
        }
    }

    /// Returns the sign as a drawing. It is empty if all is well, or if the gate shows the state
    /// already.
    pub(crate) fn icon(&self) -> &'static str {
        match self.sign {
            "shut" => {
                r#"<svg class="sign shut" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true"><rect x="3" y="2" width="3" height="10"/><rect x="8" y="2" width="3" height="10"/></svg>"#
            }
            "kept" => {
                r#"<svg class="sign kept" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true"><path d="M2 12V5h4v7zM8 12V2h4v10z"/></svg>"#
            }
            "late" => {
                r#"<svg class="sign late" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true"><circle cx="7" cy="7" r="5" stroke-dasharray="2.6 2.6"/></svg>"#
            }
            "lost" => {
                r#"<svg class="sign lost" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true"><path d="M3 3l8 8M11 3l-8 8"/></svg>"#
            }
            "alone" => {
                r#"<svg class="sign alone" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true"><circle cx="7" cy="7" r="5"/><path d="M3 11l8-8"/></svg>"#
            }
            _ => "",
        }
    }

    /// Makes the headline of a name.
    pub(crate) fn of(seen: &Snapshot) -> Self {
        if let Some(shut) = shut(seen) {
            return shut;
        }
        match seen.waiters.first() {
            Some(first) if keeps_free(seen, first) => Self::new(
                "kept",
                format!(
                    "{} free, but the 1st in line wants {}.",
                    are(seen.available()),
                    first.permits
                ),
                format!("Nobody passes it, so that it is served. {}", waiting(seen)),
            ),
            _ => by_holders(seen),
        }
    }

    /// Makes the headline of a queue. Dead letters come first, because nobody works on them any
    /// more.
    pub(crate) fn of_queue(seen: &QueueSnapshot) -> Self {
        let alive = Self::of_living(seen);
        let dead = match seen.dead {
            0 => return alive,
            1 => "1 dead letter.".to_owned(),
            dead => format!("{dead} dead letters."),
        };
        let sign = if alive.sign.is_empty() { "lost" } else { alive.sign };
        Self { sign, cause: format!("{dead} {}", alive.cause), rest: alive.rest }
    }

    fn of_living(seen: &QueueSnapshot) -> Self {
        if let Some(reason) = &seen.paused {
            return Self::new(
                "shut",
                paused(reason),
                format!("{} ready. Nothing is delivered until somebody resumes it.", seen.ready),
            );
        }
        if seen.is_unattended() {
            let oldest = seen.oldest.map_or_else(String::new, |oldest| {
                format!(" The next one was pushed {} ago.", age(oldest))
            });
            return Self::new(
                "alone",
                format!("Nobody works on it: {} ready.", seen.ready),
                format!(
                    "No worker is busy or idle.{oldest} Start one: seinpaal queue work NAME -- CMD"
                ),
            );
        }
        let is_full = seen.limit.is_some_and(|limit| seen.in_work >= limit);
        match (seen.ready, seen.in_work) {
            (0, 0) if seen.delayed > 0 => Self::new(
                "",
                format!("{} delayed, none ready.", seen.delayed),
                connections_idle(seen),
            ),
            (0, 0) => Self::new("", "Empty.", format!("{} idle.", connections(seen.idle))),
            (0, busy) => {
                Self::new("", format!("{busy} in work, none ready."), connections_idle(seen))
            }
            (ready, busy) if is_full => Self::new(
                "full",
                format!("Full: {busy} in work, which is the limit. {ready} ready."),
                "More workers would not help; a higher limit would.",
            ),
            (ready, 0) => Self::new("", format!("{ready} ready."), connections_idle(seen)),
            (ready, busy) => {
                Self::new("", format!("{ready} ready, {busy} in work."), connections_idle(seen))
            }
        }
    }
}

/// Returns whether an operator may have to look after a queue: it has dead letters, or items that
/// nobody will work on.
pub(crate) fn queue_needs_attention(seen: &QueueSnapshot) -> bool {
    let is_stuck = seen.paused.is_some() || seen.is_unattended() || seen.limit == Some(0);
    seen.dead > 0 || (is_stuck && seen.ready > 0)
}

/// Returns whether the name admits nobody, regardless of its holders.
pub(crate) fn is_shut(seen: &Snapshot) -> bool {
    seen.paused.is_some() || seen.guarded_for.is_some() || seen.limit == 0
}

/// Returns whether an operator may have to look after the name: it admits nobody, waiters wait for
/// a lowered limit to fit, or permits stay free because the first in line wants more.
pub(crate) fn needs_attention(seen: &Snapshot) -> bool {
    if is_shut(seen) {
        return true;
    }
    match seen.permits_held > seen.limit {
        true => seen.waiting_total > 0,
        false => seen.waiters.first().is_some_and(|first| keeps_free(seen, first)),
    }
}

/// Returns whether permits stay free because the first in line wants more of them.
fn keeps_free(seen: &Snapshot, first: &Waiter) -> bool {
    let free = seen.available();
    // Users of a readers-writer lock do not think in numbers of permits.
    free > 0 && first.permits > free && seen.kind != Some(Kind::RwLock)
}

/// Makes the headline of a name that admits nobody, regardless of its holders.
fn shut(seen: &Snapshot) -> Option<Headline> {
    let (held, limit) = (seen.permits_held, seen.limit);
    let still = match held {
        0 => format!("Nobody holds it. {}", waiting(seen)),
        _ => format!("{held} still held. {}", waiting(seen)),
    };
    if let Some(reason) = &seen.paused {
        let rest = format!("Nobody new gets in until somebody resumes it. {still}");
        return Some(Headline::new("shut", paused(reason), rest));
    }
    if let Some(left) = seen.guarded_for {
        let cause = format!("The restart guard holds everybody for {} more.", age(left));
        let rest = format!("The server may have forgotten holders. {}", waiting(seen));
        return Some(Headline::new("shut", cause, rest));
    }
    if limit == 0 {
        return Some(Headline::new("shut", "The limit is 0: it admits nobody.", still));
    }
    (held > limit && seen.kind != Some(Kind::RwLock)).then(|| {
        let cause = format!("The limit was lowered to {limit}.");
        let rest =
            format!("{held} still held; nobody new gets in until it fits. {}", waiting(seen));
        Headline::new("full", cause, rest)
    })
}

fn by_holders(seen: &Snapshot) -> Headline {
    let (held, limit) = (seen.permits_held, seen.limit);
    let cause = match (seen.kind, held) {
        (_, 0) => "Free. Nobody holds it.".to_owned(),
        (Some(Kind::RwLock), MOST_READERS) => "A writer holds it.".to_owned(),
        (Some(Kind::RwLock), 1) => "A reader holds it.".to_owned(),
        (Some(Kind::RwLock), readers) => format!("{readers} readers hold it."),
        _ if held >= limit => format!("Full: {held} of {limit} held."),
        _ => format!("{} of {limit} free.", limit - held),
    };
    let (dead, late) = dead(seen);
    let sign = match seen.waiting_total {
        _ if !dead.is_empty() => "late",
        0 => "",
        _ => "full",
    };
    let rest = [late, reserved(seen), waiting(seen), next(seen)];
    let rest: Vec<_> = rest.into_iter().filter(|words| !words.is_empty()).collect();
    let cause = [cause.as_str(), dead].join(" ");
    Headline::new(sign, cause.trim_end(), rest.join(" "))
}

/// Returns two parts of a sentence: that a holder has stopped renewing, and when the first lease of
/// such a holder ends. Both are empty if there is no such holder.
pub(crate) fn dead(seen: &Snapshot) -> (&'static str, String) {
    let silent = seen.holders.iter().filter(|holder| holder.not_renewed_for().is_some());
    let words = silent.clone().min_by_key(|holder| holder.valid_for).and_then(not_renewed);
    match (words, silent.count()) {
        (None, _) => ("", String::new()),
        (Some(words), 1) => ("A holder may be dead or cut off:", format!("{words}.")),
        (Some(words), _) => ("Holders may be dead or cut off:", format!("the first {words}.")),
    }
}

/// Makes the sentence about reservations: the first one, and their number.
fn reserved(seen: &Snapshot) -> String {
    let reserved = seen
        .holders
        .iter()
        .filter_map(|holder| Some((holder.slots.count(), reservation::of(&holder.about)?)));
    let reserved: Vec<_> = reserved.collect();
    let Some((_, (who, until, reason))) = reserved.first() else { return String::new() };
    let permits: u32 = reserved.iter().map(|(permits, _)| permits).sum();
    let more = match reserved.len() {
        1 => String::new(),
        all => format!(" and {} more", all - 1),
    };
    format!("Reserved: {permits} by {who} until {until}: \u{201c}{reason}\u{201d}{more}.")
}

/// Says when the next grant is expected.
fn next(seen: &Snapshot) -> String {
    let first = seen.waiters.first().and_then(|waiter| seen.why(&waiter.ticket));
    let Some(Why::Waits(Waits { estimate, .. })) = first else { return String::new() };
    match (estimate, figure(&estimate)) {
        (Estimate::Now, _) => "The next grant is due at once.".to_owned(),
        // The headline already says this.
        (Estimate::AfterGuard { .. }, _) | (_, None) => String::new(),
        (_, Some(figure)) => format!("Next grant in {figure}."),
    }
}

/// Writes a length of time in whole seconds, because the estimate is no more exact.
pub(crate) fn about(wait: Duration) -> String {
    age(Duration::from_secs(wait.as_secs().max(1)))
}

fn waiting(seen: &Snapshot) -> String {
    let oldest = seen
        .oldest_wait()
        .map_or_else(String::new, |oldest| format!(", the oldest for {}", age(oldest)));
    match seen.waiting_total {
        0 => "Nobody waits.".to_owned(),
        1 => format!("1 has waited{}.", oldest.replace(", the oldest", "")),
        waiters => format!("{waiters} wait{oldest}."),
    }
}

fn paused(reason: &str) -> String {
    match reason {
        "" => "Paused, without a reason given.".to_owned(),
        reason => format!("Paused: \u{201c}{reason}\u{201d}."),
    }
}

fn connections(idle: u32) -> String {
    match idle {
        0 => "No worker".to_owned(),
        1 => "1 worker".to_owned(),
        idle => format!("{idle} workers"),
    }
}

fn connections_idle(seen: &QueueSnapshot) -> String {
    format!("{} idle.", connections(seen.idle))
}
