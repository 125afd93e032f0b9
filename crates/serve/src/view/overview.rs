//! All names: what needs attention, totals, and one page of a table.

use std::{cmp::Reverse, sync::Arc};

use askama::Template;
use seinpaal::Snapshot;
use seinpaal_words::text::{age, held};

use super::{
    Headline, Pieces, Query, encoded,
    gate::Gate,
    grouped,
    headline::needs_attention,
    html,
    query::{Paging, SHOWS, page_of},
};
use crate::source::Source;

/// Lines of what needs attention.
const ATTENTION: usize = 5;

#[derive(Template)]
#[template(path = "parts/attention.html")]
struct Attention<'a> {
    rows: Vec<AttentionRow>,
    more: usize,
    all: String,
    base: &'a str,
}

struct AttentionRow {
    name: String,
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
struct Names<'a> {
    rows: Vec<NameRow>,
    tabs: Vec<Tab>,
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
    gate: Gate,
    waiting: String,
    oldest: String,
    headline: Headline,
}

struct Tab {
    label: &'static str,
    count: String,
    link: String,
    is_on: bool,
}

/// All names.
pub(super) async fn names(inner: &Arc<Source>, query: &Query) -> Result<Pieces, String> {
    let all = inner.lists.names().await.map_err(|error| error.to_string())?;
    let base = &inner.options.base_path;
    let table = names_table(&all, query, inner.seinpaal.address(), base);
    let parts = vec![
        ("attention", html(&attention(&all, base))),
        ("totals", html(&totals(&all))),
        ("table", html(&table)),
    ];
    Ok([parts.clone(), parts])
}

fn attention<'a>(all: &[Snapshot], base: &'a str) -> Attention<'a> {
    let mut found: Vec<_> = all.iter().filter(|seen| needs_attention(seen)).collect();
    found.sort_by_key(|seen| Reverse((seen.waiting_total, seen.oldest_wait())));
    let rows = found.iter().take(ATTENTION).map(|seen| AttentionRow {
        name: seen.name.to_string(),
        link: encoded(&seen.name),
        headline: Headline::of(seen),
    });
    Attention {
        rows: rows.collect(),
        more: found.len().saturating_sub(ATTENTION),
        all: match all.len() {
            1 => "1 name".to_owned(),
            names => format!("{} names", grouped(names as u64)),
        },
        base,
    }
}

fn totals(all: &[Snapshot]) -> Totals {
    let sum = |count: fn(&Snapshot) -> u32| all.iter().map(|seen| u64::from(count(seen))).sum();
    let (holders, waiting): (u64, u64) =
        (sum(|seen| seen.holders_total), sum(|seen| seen.waiting_total));
    let oldest = all.iter().filter_map(Snapshot::oldest_wait).max();
    let paused = all.iter().filter(|seen| seen.paused.is_some()).count() as u64;
    let class = |number: u64, class: &'static str| if number > 0 { class } else { "" };
    Totals {
        figures: vec![
            (grouped(holders), "holders", ""),
            (grouped(waiting), "in line", class(waiting, "wait")),
            (oldest.map_or_else(|| "\u{2013}".to_owned(), age), "oldest wait", ""),
            (grouped(paused), "paused", ""),
            (grouped(all.len() as u64), "names", ""),
        ],
    }
}

fn names_table<'a>(all: &[Snapshot], query: &Query, store: &'a str, base: &'a str) -> Names<'a> {
    let searched = query.search.to_lowercase();
    let found = all.iter().filter(|seen| seen.name.to_lowercase().contains(&searched));
    let found: Vec<_> = found.collect();
    let tabs = SHOWS.iter().map(|(show, _, label)| Tab {
        label,
        count: grouped(found.iter().filter(|seen| show.has(seen)).count() as u64),
        link: Query { show: *show, page: 0, ..query.clone() }.link(),
        is_on: *show == query.show,
    });
    let tabs = tabs.collect();
    let mut rows: Vec<_> = found.into_iter().filter(|seen| query.show.has(seen)).collect();
    query.sort.apply(&mut rows);
    let paging = Paging::new(query, rows.len());
    Names {
        rows: page_of(&rows, query).iter().map(|seen| NameRow::new(seen)).collect(),
        tabs,
        paging,
        is_empty_store: all.is_empty(),
        search: query.search.clone(),
        store,
        base,
    }
}

impl NameRow {
    fn new(seen: &Snapshot) -> Self {
        Self {
            name: seen.name.to_string(),
            link: encoded(&seen.name),
            held: held(seen).replace(" held", ""),
            gate: Gate::of(seen),
            waiting: grouped(seen.waiting_total),
            oldest: seen.oldest_wait().map_or_else(|| "\u{2013}".to_owned(), age),
            headline: Headline::of(seen),
        }
    }
}
