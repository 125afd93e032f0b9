//! The page of all names: the names that need attention, totals, and one page of a table.

use std::{cmp::Reverse, collections::HashMap, sync::Arc, time::Duration};

use askama::Template;
use seinpaal::{QueueSnapshot, Snapshot};
use seinpaal_words::text::{age, held};

use super::{
    Headline, ListQuery, Pieces, encoded,
    gate::GatePicture,
    grouped,
    headline::{dead, needs_attention, queue_needs_attention},
    html,
    query::{Paging, SHOWS, page_of},
};
use crate::{history::NameHistories, source::StoreSource};

/// How many names that need attention are listed, and how many queues.
const ATTENTION: usize = 5;
/// How far back outages are told here.
const HOUR: Duration = Duration::from_secs(3600);

#[derive(Template)]
#[template(path = "parts/attention.html")]
struct Attention<'a> {
    rows: Vec<AttentionRow>,
    more: usize,
    all: String,
    /// Sentences about the outages of the store within the last hour.
    outages: Vec<String>,
    base: &'a str,
}

struct AttentionRow {
    name: String,
    /// The page of the name or queue, and its query.
    link: String,
    headline: Headline,
}

#[derive(Template)]
#[template(path = "parts/totals.html")]
struct Totals {
    figures: Vec<(String, &'static str, &'static str)>,
}

#[derive(Template)]
#[template(path = "parts/names.html")]
struct NamesPart<'a> {
    rows: Vec<NameRow>,
    tabs: Vec<NamesTab>,
    paging: Paging,
    is_empty_store: bool,
    search: String,
    store: &'a str,
    base: &'a str,
}

struct NameRow {
    name: String,
    link: String,
    held: String,
    gate: GatePicture,
    waiting: String,
    oldest: String,
    headline: Headline,
    /// The text about a holder that may be dead, and the one about a hold that was lost.
    late: String,
    lost: String,
}

/// The sentences about losses within the last hour, by name.
type LostHolds = HashMap<String, String>;

struct NamesTab {
    label: &'static str,
    count: String,
    link: String,
    is_on: bool,
}

/// Reads all names, and renders the page.
pub(super) async fn names(inner: &Arc<StoreSource>, query: &ListQuery) -> Result<Pieces, String> {
    let all = inner.lists.names().await.map_err(|error| error.to_string())?;
    // Some stores have no queues.
    let queues = inner.lists.queues().await.unwrap_or_default();
    let base = &inner.options.base_path;
    let found = FoundNames::of(&all, query);
    let from = (&inner.seinpaal, &inner.history);
    let shown = inner.glances.fill(from, page_of(&found.rows, query)).await;
    let lost = inner.history.losses();
    let table = names_table(found, &shown, &lost, query, inner.seinpaal.address(), base);
    let parts = vec![
        ("attention", html(&attention(&all, &shown, &lost, &queues, &inner.history, base))),
        ("totals", html(&totals(&all, &queues))),
        ("table", html(&table)),
    ];
    Ok([parts.clone(), parts])
}

/// Returns the names that an operator may have to look after. A holder that may be dead is known
/// only for names on this page, and a lost hold only for names that were read.
fn attention<'a>(
    all: &[Snapshot],
    shown: &[Snapshot],
    lost: &LostHolds,
    queues: &[QueueSnapshot],
    history: &NameHistories,
    base: &'a str,
) -> Attention<'a> {
    let used = in_trouble(all, shown, lost).into_iter().map(|seen| {
        let headline = Headline::of(seen).after(lost.get(&*seen.name));
        AttentionRow { name: seen.name.to_string(), link: link("name", &seen.name), headline }
    });
    let unused = unused(all, lost).into_iter().map(|(name, words)| AttentionRow {
        name: name.clone(),
        link: link("name", name),
        headline: Headline::default().after(Some(words)),
    });
    let queues =
        queues.iter().filter(|seen| queue_needs_attention(seen)).map(|seen| AttentionRow {
            name: seen.name.to_string(),
            link: link("queue", &seen.name),
            headline: Headline::of_queue(seen),
        });
    // Queues that need attention are few, and not to be hidden by many names.
    let queues: Vec<_> = queues.take(ATTENTION).collect();
    let shown_rows = ATTENTION + queues.len();
    let rows: Vec<_> = queues.into_iter().chain(used).chain(unused).collect();
    Attention {
        more: rows.len().saturating_sub(shown_rows),
        rows: rows.into_iter().take(shown_rows).collect(),
        all: match all.len() {
            1 => "1 name".to_owned(),
            names => format!("{} names", grouped(names as u64)),
        },
        outages: history.outages(HOUR),
        base,
    }
}

/// Returns the names in use that an operator may have to look after, those with the most waiters
/// first.
fn in_trouble<'a>(
    all: &'a [Snapshot],
    shown: &'a [Snapshot],
    lost: &LostHolds,
) -> Vec<&'a Snapshot> {
    let late = shown.iter().filter(|seen| !dead(seen).0.is_empty());
    let is_late = |seen: &&Snapshot| late.clone().any(|late| late.name == seen.name);
    let is_due = |seen: &&Snapshot| needs_attention(seen) || lost.contains_key(&*seen.name);
    let others = all.iter().filter(|seen| is_due(seen) && !is_late(seen));
    let mut found: Vec<_> = late.clone().chain(others).collect();
    found.sort_by_key(|seen| Reverse((seen.waiting_total, seen.oldest_wait())));
    found
}

/// Returns the unused names that lost a hold, in their order.
fn unused<'a>(all: &[Snapshot], lost: &'a LostHolds) -> Vec<(&'a String, &'a String)> {
    let is_used = |name: &str| all.iter().any(|seen| &*seen.name == name);
    let mut unused: Vec<_> = lost.iter().filter(|(name, _)| !is_used(name)).collect();
    unused.sort_unstable();
    unused
}

fn link(page: &str, name: &str) -> String {
    format!("{page}?n={}", encoded(name))
}

fn totals(all: &[Snapshot], queues: &[QueueSnapshot]) -> Totals {
    let sum = |count: fn(&Snapshot) -> u32| all.iter().map(|seen| u64::from(count(seen))).sum();
    let (holders, waiting): (u64, u64) =
        (sum(|seen| seen.holders_total), sum(|seen| seen.waiting_total));
    let oldest = all.iter().filter_map(Snapshot::oldest_wait).max();
    let paused = all.iter().filter(|seen| seen.paused.is_some()).count() as u64;
    let dead: u64 = queues.iter().map(|seen| u64::from(seen.dead)).sum();
    let class = |number: u64, class: &'static str| if number > 0 { class } else { "" };
    Totals {
        figures: vec![
            (grouped(holders), "holders", ""),
            (grouped(waiting), "in line", class(waiting, "wait")),
            (oldest.map_or_else(|| "\u{2013}".to_owned(), age), "oldest wait", ""),
            (grouped(paused), "paused", ""),
            (grouped(all.len() as u64), "names", ""),
            (grouped(queues.len() as u64), "queues", ""),
            (grouped(dead), "dead letters", class(dead, "bad")),
        ],
    }
}

/// The names that the query finds.
struct FoundNames<'a> {
    tabs: Vec<NamesTab>,
    rows: Vec<&'a Snapshot>,
    is_empty_store: bool,
}

impl<'a> FoundNames<'a> {
    fn of(all: &'a [Snapshot], query: &ListQuery) -> Self {
        let searched = query.search.to_lowercase();
        let found = all.iter().filter(|seen| seen.name.to_lowercase().contains(&searched));
        let found: Vec<_> = found.collect();
        let tabs = SHOWS.iter().map(|(show, _, label)| NamesTab {
            label,
            count: grouped(found.iter().filter(|seen| show.has(seen)).count() as u64),
            link: ListQuery { show: *show, page: 0, ..query.clone() }.link(),
            is_on: *show == query.show,
        });
        let tabs = tabs.collect();
        let mut rows: Vec<_> = found.into_iter().filter(|seen| query.show.has(seen)).collect();
        query.sort.apply(&mut rows);
        Self { tabs, rows, is_empty_store: all.is_empty() }
    }
}

fn names_table<'a>(
    found: FoundNames<'_>,
    shown: &[Snapshot],
    lost: &LostHolds,
    query: &ListQuery,
    store: &'a str,
    base: &'a str,
) -> NamesPart<'a> {
    NamesPart {
        rows: page_of(&found.rows, query)
            .iter()
            .zip(shown)
            .map(|(listed, seen)| NameRow::new(listed, seen, lost))
            .collect(),
        paging: Paging::new(query, found.rows.len()),
        tabs: found.tabs,
        is_empty_store: found.is_empty_store,
        search: query.search.clone(),
        store,
        base,
    }
}

impl NameRow {
    /// Makes the row of a name from its row in the list, and from the same row with its holders.
    fn new(listed: &Snapshot, seen: &Snapshot, lost: &LostHolds) -> Self {
        let (dead, words) = dead(seen);
        Self {
            name: seen.name.to_string(),
            link: encoded(&seen.name),
            held: held(seen).replace(" held", ""),
            gate: GatePicture::of(seen),
            waiting: grouped(seen.waiting_total),
            oldest: seen.oldest_wait().map_or_else(|| "\u{2013}".to_owned(), age),
            headline: Headline::of(listed),
            late: [dead, &words].join(" ").trim_end().to_owned(),
            lost: lost.get(&*seen.name).cloned().unwrap_or_default(),
        }
    }
}
