//! The page of a name: its headline, who holds, and who waits, in order.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use askama::Template;
use seinpaal::{
    About, Holder, Kind, Snapshot, Ticket, Waiter,
    proto::MOST_READERS,
    why::{Estimate, Why},
};
use seinpaal_words::{
    text::age,
    why::{estimate, reason_words, short},
};

use super::{Headline, Pieces, encoded, gate::Gate, grouped, headline::about, html, shown};
use crate::dashboard::Inner;

/// How many holders, and waiters, a page lists.
const ROWS: usize = 50;

/// What was seen of the leases of a name: who renews and who does not.
#[derive(Debug, Default)]
pub(crate) struct Memory(HashMap<Ticket, Lease>);

#[derive(Clone, Copy, Debug)]
struct Lease {
    left: Duration,
    renewed_by: Instant,
}

impl Memory {
    /// Takes note of all leases. Forgets those that are gone.
    fn note(&mut self, holders: &[Holder], now: Instant) {
        let old = std::mem::take(&mut self.0);
        let leases = holders.iter().filter_map(|holder| Some((holder.ticket, holder.valid_for?)));
        self.0 = leases
            .map(|(ticket, left)| {
                let before = old.get(&ticket).filter(|before| left <= before.left);
                let renewed_by = before.map_or(now, |before| before.renewed_by);
                (ticket, Lease { left, renewed_by })
            })
            .collect();
    }

    /// For how long a holder has not renewed, if that is longer than a living one ever takes: who renews at a third of
    /// the ttl never has less than two thirds of it left, so silence is never longer than half of what is left.
    fn silence(&self, ticket: &Ticket, now: Instant) -> Option<Duration> {
        let lease = self.0.get(ticket)?;
        let silent = now.saturating_duration_since(lease.renewed_by);
        (silent > lease.left).then_some(silent)
    }
}

#[derive(Template)]
#[template(path = "parts/name_head.html")]
struct Head<'a> {
    name: &'a str,
    link: String,
    kind: &'static str,
    limit: String,
    gate: Gate,
    headline: Headline,
    is_paused: bool,
    has_limit: bool,
    may_act: bool,
    base: &'a str,
}

#[derive(Template)]
#[template(path = "parts/holders.html")]
struct Holders<'a> {
    link: String,
    rows: Vec<HolderRow>,
    total: String,
    more: String,
    may_act: bool,
    base: &'a str,
}

struct HolderRow {
    ticket: String,
    short: String,
    slots: String,
    who: Who,
    held_for: String,
    left: String,
    fence: String,
    fence_end: String,
    silent: Option<String>,
}

#[derive(Template)]
#[template(path = "parts/waiters.html")]
struct Waiters<'a> {
    link: String,
    rows: Vec<WaiterRow>,
    total: String,
    more: String,
    may_act: bool,
    base: &'a str,
}

struct WaiterRow {
    place: u32,
    ticket: String,
    short: String,
    who: Who,
    wants: String,
    priority: i8,
    waited: String,
    estimate: String,
    basis: String,
    reasons: Vec<String>,
}

struct Who {
    client: String,
    host: String,
    pid: u32,
    labels: Vec<String>,
}

/// Reads the name, and renders it for both roles.
pub(super) async fn read(
    inner: &Arc<Inner>,
    name: &str,
    memory: &mut Memory,
) -> Result<Pieces, String> {
    let seen = inner.seinpaal.semaphore(name).snapshot().await.map_err(|e| e.to_string())?;
    let now = Instant::now();
    memory.note(&seen.holders, now);
    Ok([false, true].map(|may_act| pieces(&seen, memory, now, may_act, &inner.options.base_path)))
}

fn pieces(
    seen: &Snapshot,
    memory: &Memory,
    now: Instant,
    may_act: bool,
    base: &str,
) -> Vec<(&'static str, String)> {
    vec![
        ("head", html(&head(seen, memory, now, may_act, base))),
        ("holders", html(&holders(seen, memory, now, may_act, base))),
        ("waiters", html(&waiters(seen, may_act, base))),
    ]
}

fn head<'a>(
    seen: &'a Snapshot,
    memory: &Memory,
    now: Instant,
    may_act: bool,
    base: &'a str,
) -> Head<'a> {
    let silent = seen.holders.iter().find_map(|holder| {
        let since = memory.silence(&holder.ticket, now)?;
        Some((holder, since))
    });
    Head {
        name: &seen.name,
        link: encoded(&seen.name),
        kind: kind(seen),
        limit: limit(seen),
        gate: Gate::of(seen),
        headline: Headline::of(seen, silent),
        is_paused: seen.paused.is_some(),
        has_limit: matches!(seen.kind, None | Some(Kind::Semaphore)),
        may_act,
        base,
    }
}

pub(super) fn kind(seen: &Snapshot) -> &'static str {
    match seen.kind {
        None | Some(Kind::Semaphore) => "semaphore",
        Some(Kind::Mutex) => "mutex",
        Some(Kind::RwLock) => "readers-writer lock",
    }
}

fn limit(seen: &Snapshot) -> String {
    match seen.kind {
        Some(Kind::RwLock) => "any number of readers, or one writer".to_owned(),
        _ if seen.is_pinned => format!("limit {}, set by an operator", grouped(seen.limit)),
        _ => format!("limit {}", grouped(seen.limit)),
    }
}

fn holders<'a>(
    seen: &'a Snapshot,
    memory: &Memory,
    now: Instant,
    may_act: bool,
    base: &'a str,
) -> Holders<'a> {
    let shown = seen.holders.iter().take(ROWS);
    let rows: Vec<_> =
        shown.map(|holder| holder_row(seen, holder, memory.silence(&holder.ticket, now))).collect();
    let more = more(seen.holders_total, rows.len());
    Holders { link: encoded(&seen.name), rows, total: total(seen), more, may_act, base }
}

fn total(seen: &Snapshot) -> String {
    match seen.kind {
        Some(Kind::RwLock) => grouped(seen.holders_total),
        _ => format!("{} of {} permits", grouped(seen.permits_held), grouped(seen.limit)),
    }
}

fn more(total: u32, listed: usize) -> String {
    let rest = (total as usize).saturating_sub(listed);
    if rest == 0 { String::new() } else { format!("{} more", grouped(rest as u64)) }
}

fn holder_row(seen: &Snapshot, holder: &Holder, silent: Option<Duration>) -> HolderRow {
    let fence = holder.fence.to_string();
    HolderRow {
        ticket: holder.ticket.to_string(),
        short: short(holder.ticket),
        slots: match (seen.kind, holder.slots.count()) {
            (Some(Kind::RwLock), MOST_READERS) => "writer".to_owned(),
            (Some(Kind::RwLock), _) => "reader".to_owned(),
            _ => holder.slots.to_string(),
        },
        who: Who::new(&holder.about),
        held_for: age(holder.held_for),
        left: holder.valid_for.map_or_else(|| "with its process".to_owned(), age),
        fence_end: fence[fence.len().saturating_sub(6)..].to_owned(),
        fence,
        silent: silent.map(age),
    }
}

fn waiters<'a>(seen: &'a Snapshot, may_act: bool, base: &'a str) -> Waiters<'a> {
    let listed = seen.waiters.iter().take(ROWS).zip(1..);
    let rows: Vec<_> = listed.map(|(waiter, place)| waiter_row(seen, waiter, place)).collect();
    let more = more(seen.waiting_total, rows.len());
    let total = grouped(seen.waiting_total);
    Waiters { link: encoded(&seen.name), rows, total, more, may_act, base }
}

fn waiter_row(seen: &Snapshot, waiter: &Waiter, place: u32) -> WaiterRow {
    let (mut reasons, mut guess, mut basis) = (Vec::new(), String::new(), String::new());
    if let Some(Why::Waits(why)) = seen.why(&waiter.ticket) {
        reasons = why.reasons.iter().map(|reason| shown(&reason_words(seen, reason))).collect();
        (guess, basis) = guess_of(&why.estimate);
    }
    WaiterRow {
        place,
        ticket: waiter.ticket.to_string(),
        short: short(waiter.ticket),
        who: Who::new(&waiter.about),
        wants: wants(seen, waiter),
        priority: waiter.priority,
        waited: age(waiter.waiting_for),
        estimate: guess,
        basis,
        reasons,
    }
}

fn wants(seen: &Snapshot, waiter: &Waiter) -> String {
    match (seen.kind, waiter.permits) {
        (Some(Kind::RwLock), MOST_READERS) => "wants to write".to_owned(),
        (Some(Kind::RwLock), _) => "wants to read".to_owned(),
        (_, permits) => format!("wants {}", grouped(permits)),
    }
}

/// The figure, and what it rests on.
fn guess_of(guess: &Estimate) -> (String, String) {
    let words = estimate(guess);
    match guess {
        Estimate::About { wait, .. } => {
            let basis = words.split_once(", ").map(|(_, basis)| basis.to_owned());
            (format!("about {}", about(*wait)), basis.unwrap_or_default())
        }
        Estimate::CannotSay(_) => {
            let basis = words.split_once(": ").map(|(_, basis)| basis.to_owned());
            ("no estimate".to_owned(), basis.unwrap_or_default())
        }
        _ => (words, String::new()),
    }
}

impl Who {
    fn new(about: &About) -> Self {
        let label = |(key, value): &(String, String)| shown(&format!("{key}={value}"));
        Self {
            client: shown(&about.client),
            host: shown(&about.host),
            pid: about.pid,
            labels: about.labels.iter().map(label).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn ticket() -> Ticket {
        "0123456789abcdef0123456789abcdef".parse().unwrap_or_else(|_| panic!("a ticket"))
    }

    fn remembered(left: u64, silent: u64, now: Instant) -> Memory {
        let lease = Lease { left: seconds(left), renewed_by: now - seconds(silent) };
        Memory([(ticket(), lease)].into())
    }

    #[test]
    fn a_holder_that_renews_at_a_third_of_its_ttl_is_never_called_silent() {
        let now = Instant::now() + seconds(100);
        for silent in 0..=10 {
            let memory = remembered(30 - silent, silent, now);
            assert_eq!(memory.silence(&ticket(), now), None, "{silent} s");
        }
    }

    #[test]
    fn a_holder_that_has_let_half_of_its_lease_go_by_is_called_silent() {
        let now = Instant::now() + seconds(100);
        assert_eq!(remembered(14, 16, now).silence(&ticket(), now), Some(seconds(16)));
    }
}
