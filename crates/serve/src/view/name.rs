//! The page of a name: its headline, its holders, and its waiters in order.

use std::{collections::BTreeSet, sync::Arc};

use askama::Template;
use seinpaal::{About, Holder, Kind, MOST_READERS, Snapshot, Waiter, why::Why};
use seinpaal_words::{
    reservation,
    text::age,
    ticket::ShortTickets,
    why::{basis, figure, not_renewed, reason_words},
};

use super::{
    Headline, Pieces, encoded,
    gate::GatePicture,
    grouped, html, lease_left, more,
    past::{OUTAGES_WITHIN, PERMITS, Pictures},
    shown,
};
use crate::source::StoreSource;

/// How many holders, and waiters, a page lists.
const ROWS: usize = 50;

#[derive(Template)]
#[template(path = "parts/name_head.html")]
struct NameHeadPart<'a> {
    link: String,
    kind: &'static str,
    limit: String,
    gate: GatePicture,
    headline: Headline,
    /// The sentence about losses within the last hour, as far as readings show.
    lost: &'a str,
    is_paused: bool,
    has_limit: bool,
    may_act: bool,
    base: &'a str,
}

#[derive(Template)]
#[template(path = "parts/holders.html")]
struct HoldersPart<'a> {
    link: String,
    rows: Vec<HolderCells>,
    total: String,
    more: String,
    may_act: bool,
    base: &'a str,
}

struct HolderCells {
    ticket: String,
    short: String,
    slots: String,
    who: Who,
    held_for: String,
    left: String,
    /// The text about a holder that has stopped renewing.
    late: String,
    fence: String,
    fence_end: String,
    is_reserved: bool,
}

#[derive(Template)]
#[template(path = "parts/waiters.html")]
struct WaitersPart<'a> {
    link: String,
    rows: Vec<WaiterCells>,
    total: String,
    more: String,
    may_act: bool,
    base: &'a str,
}

struct WaiterCells {
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
pub(super) async fn read(inner: &Arc<StoreSource>, name: &str) -> Result<Pieces, String> {
    let mut seen = inner.seinpaal.semaphore(name).snapshot().await.map_err(|e| e.to_string())?;
    let (past, now) = inner.history.look(&mut seen);
    let lost = past.losses(now);
    let past = html(&Pictures::of(&past, now, &PERMITS, inner.history.outages(OUTAGES_WITHIN)));
    let base = &inner.options.base_path;
    Ok([false, true].map(|may_act| pieces(&seen, &lost, may_act, base, &past)))
}

fn pieces(
    seen: &Snapshot,
    lost: &str,
    may_act: bool,
    base: &str,
    past: &str,
) -> Vec<(&'static str, String)> {
    vec![
        ("head", html(&head(seen, lost, may_act, base))),
        ("holders", html(&holders(seen, may_act, base))),
        ("waiters", html(&waiters(seen, may_act, base))),
        ("past", past.to_owned()),
    ]
}

fn head<'a>(seen: &'a Snapshot, lost: &'a str, may_act: bool, base: &'a str) -> NameHeadPart<'a> {
    NameHeadPart {
        link: encoded(&seen.name),
        kind: kind(seen),
        limit: limit(seen),
        gate: GatePicture::of(seen),
        headline: Headline::of(seen),
        lost,
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

fn holders<'a>(seen: &'a Snapshot, may_act: bool, base: &'a str) -> HoldersPart<'a> {
    let listed = seen.holders.iter().take(ROWS);
    let short = ShortTickets::of(seen);
    let rows: Vec<_> = listed.map(|holder| holder_row(seen, holder, &short)).collect();
    let more = more(seen.holders_total, rows.len());
    HoldersPart { link: encoded(&seen.name), rows, total: total(seen), more, may_act, base }
}

fn total(seen: &Snapshot) -> String {
    match seen.kind {
        Some(Kind::RwLock) => grouped(seen.holders_total),
        _ => format!("{} of {} permits", grouped(seen.permits_held), grouped(seen.limit)),
    }
}

fn holder_row(seen: &Snapshot, holder: &Holder, short: &ShortTickets) -> HolderCells {
    let fence = holder.fence.to_string();
    HolderCells {
        ticket: holder.ticket.to_string(),
        short: short.short(holder.ticket),
        slots: match (seen.kind, holder.slots.count()) {
            // A store knows only numbers of permits. A holder of all of them is the writer.
            (Some(Kind::RwLock), MOST_READERS) => "writer".to_owned(),
            (Some(Kind::RwLock), _) => "reader".to_owned(),
            _ if !seen.slot_names.of(&holder.slots).is_empty() => {
                shown(&seen.slot_names.of(&holder.slots).to_string())
            }
            _ => holder.slots.to_string(),
        },
        who: Who::new(&holder.about),
        held_for: age(holder.held_for),
        left: lease_left(holder.valid_for),
        late: not_renewed(holder).unwrap_or_default(),
        fence_end: fence[fence.len().saturating_sub(6)..].to_owned(),
        fence,
        is_reserved: reservation::of(&holder.about).is_some(),
    }
}

fn waiters<'a>(seen: &'a Snapshot, may_act: bool, base: &'a str) -> WaitersPart<'a> {
    let listed = seen.waiters.iter().take(ROWS).zip(1..);
    let short = ShortTickets::of(seen);
    let mut told = AlreadyTold::default();
    let row = |(waiter, place)| waiter_row(seen, waiter, place, &short, &mut told);
    let rows: Vec<_> = listed.map(row).collect();
    let more = more(seen.waiting_total, rows.len());
    let total = grouped(seen.waiting_total);
    WaitersPart { link: encoded(&seen.name), rows, total, more, may_act, base }
}

/// What the page has already said. It is not repeated for each waiter.
#[derive(Default)]
struct AlreadyTold(BTreeSet<String>);

impl AlreadyTold {
    /// Returns what is new about these words, if anything is.
    fn once(&mut self, words: String) -> Option<String> {
        // `reason_words` names the request in the way behind these words.
        let (first, rest) = words.split_once("; next is ").unwrap_or((&words, ""));
        if !rest.is_empty() && !self.0.insert(rest.to_owned()) {
            return Some(first.to_owned());
        }
        self.0.insert(words.clone()).then_some(words)
    }
}

fn waiter_row(
    seen: &Snapshot,
    waiter: &Waiter,
    place: u32,
    short: &ShortTickets,
    told: &mut AlreadyTold,
) -> WaiterCells {
    let (mut reasons, mut estimate, mut rests_on) = (Vec::new(), String::new(), String::new());
    if let Some(Why::Waits(why)) = seen.why(&waiter.ticket) {
        let words = why.reasons.iter().map(|reason| shown(&reason_words(seen, reason)));
        reasons = words.filter_map(|reason| told.once(reason)).collect();
        estimate = figure(&why.estimate).unwrap_or_else(|| "no estimate".to_owned());
        rests_on = told.once(basis(&why.estimate)).unwrap_or_default();
    }
    WaiterCells {
        place,
        ticket: waiter.ticket.to_string(),
        short: short.short(waiter.ticket),
        who: Who::new(&waiter.about),
        wants: wants(seen, waiter),
        priority: waiter.priority,
        waited: age(waiter.waiting_for),
        estimate,
        basis: rests_on,
        reasons,
    }
}

fn wants(seen: &Snapshot, waiter: &Waiter) -> String {
    match (seen.kind, waiter.permits) {
        (Some(Kind::RwLock), MOST_READERS) => "wants to write".to_owned(),
        (Some(Kind::RwLock), _) => "wants to read".to_owned(),
        (_, permits) if waiter.wishes.count() == 0 => format!("wants {}", grouped(permits)),
        (_, permits) => {
            let named = seen.slot_names.of(&waiter.wishes).iter().map(shown).collect::<Vec<_>>();
            format!("wants {}, of them {}", grouped(permits), named.join(", "))
        }
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

    #[test]
    fn what_is_in_the_way_of_many_is_told_once() {
        let mut told = AlreadyTold::default();
        let held = "4 of 4 held: job 7@ci-1 (ab12) for 3s".to_owned();
        assert_eq!(told.once(held.clone()), Some(held.clone()));
        assert_eq!(told.once(held), None);
        let ahead =
            |count| format!("{count} are ahead and want 9 permits; next is job 7@ci-1 (ab12)");
        assert_eq!(told.once(ahead(2)), Some(ahead(2)));
        assert_eq!(told.once(ahead(3)), Some("3 are ahead and want 9 permits".to_owned()));
    }
}
