//! All names, and all queues: what needs attention, totals, and one page of a table.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc, time::Duration};

use askama::Template;
use seinpaal::{QueueSnapshot, Snapshot};
use seinpaal_words::text::{age, held};

use super::{Headline, Pieces, encoded, gate::Gate, grouped, html};
use crate::dashboard::Inner;

/// Rows on a page.
pub(crate) const ROWS: usize = 40;
/// Lines of what needs attention.
const ATTENTION: usize = 5;
/// The longest text to search for, in characters: a name has at most 512 bytes.
const MOST_SEARCHED: usize = 512;

/// What somebody wants to see of the list.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) struct Query {
    /// Part of a name.
    pub(crate) search: String,
    pub(crate) show: Show,
    pub(crate) sort: Sort,
    /// From 0.
    pub(crate) page: usize,
}

/// Which names.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) enum Show {
    /// Somebody holds or waits.
    #[default]
    Used,
    Waiting,
    Full,
    Paused,
    All,
}

/// In which order: most first, and by name where there is no difference.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) enum Sort {
    #[default]
    Oldest,
    Waiting,
    Held,
    Name,
}

const SHOWS: [(Show, &str, &str); 5] = [
    (Show::Used, "used", "In use"),
    (Show::Waiting, "waiting", "In line"),
    (Show::Full, "full", "Full"),
    (Show::Paused, "paused", "Paused"),
    (Show::All, "all", "All"),
];
const SORTS: [(Sort, &str, &str); 4] = [
    (Sort::Oldest, "oldest", "Oldest wait"),
    (Sort::Waiting, "waiting", "Waiting"),
    (Sort::Held, "held", "Held"),
    (Sort::Name, "name", "Name"),
];

impl Query {
    /// From the fields of a link or form. What is not known means the usual.
    pub(crate) fn from_fields(fields: &BTreeMap<String, String>) -> Self {
        let field = |name: &str| fields.get(name).map_or("", String::as_str);
        let show = SHOWS.iter().find(|(_, word, _)| *word == field("show"));
        let sort = SORTS.iter().find(|(_, word, _)| *word == field("sort"));
        Self {
            search: field("q").chars().take(MOST_SEARCHED).collect(),
            show: show.map_or_else(Show::default, |(show, _, _)| *show),
            sort: sort.map_or_else(Sort::default, |(sort, _, _)| *sort),
            page: field("page").parse::<usize>().unwrap_or(0).min(1_000_000),
        }
    }

    /// As the query of a link, beginning with `?`.
    pub(crate) fn link(&self) -> String {
        let show = SHOWS.iter().find(|(show, _, _)| *show == self.show).map_or("", |row| row.1);
        let sort = SORTS.iter().find(|(sort, _, _)| *sort == self.sort).map_or("", |row| row.1);
        let search = encoded(&self.search);
        format!("?q={search}&show={show}&sort={sort}&page={}", self.page)
    }
}

/// What a page says beside its table: the choices.
pub(crate) struct Page {
    pub(crate) sorts: Vec<(&'static str, &'static str, bool)>,
    pub(crate) show: &'static str,
}

impl Page {
    pub(crate) fn new(query: &Query) -> Self {
        let sorts = SORTS.iter().map(|(sort, word, label)| (*word, *label, *sort == query.sort));
        let show = SHOWS.iter().find(|(show, _, _)| *show == query.show).map_or("", |row| row.1);
        Self { sorts: sorts.collect(), show }
    }
}

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

#[derive(Template)]
#[template(path = "parts/paging.html")]
struct Paging {
    words: String,
    back: Option<String>,
    next: Option<String>,
}

#[derive(Template)]
#[template(path = "parts/queues.html")]
struct Queues<'a> {
    rows: Vec<QueueRow>,
    paging: Paging,
    search: String,
    base: &'a str,
}

struct QueueRow {
    name: String,
    link: String,
    ready: String,
    delayed: String,
    in_work: String,
    dead: String,
    idle: String,
    gate: Gate,
    headline: Headline,
}

/// All names.
pub(super) async fn names(inner: &Arc<Inner>, query: &Query) -> Result<Pieces, String> {
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
        all: grouped(all.len() as u64),
        base,
    }
}

/// Somebody keeps others out, or permits stay free although some wait for them.
fn needs_attention(seen: &Snapshot) -> bool {
    let sign = Headline::of(seen).sign;
    matches!(sign, "shut" | "kept") || (seen.permits_held > seen.limit && seen.waiting_total > 0)
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

/// The rows of the page, or of the last one if there are fewer.
fn page_of<'r, T>(rows: &'r [T], query: &Query) -> &'r [T] {
    let from = start(rows.len(), query);
    &rows[from..(from + ROWS).min(rows.len())]
}

fn start(rows: usize, query: &Query) -> usize {
    let last = rows.saturating_sub(1) / ROWS;
    query.page.min(last) * ROWS
}

impl Show {
    fn has(self, seen: &Snapshot) -> bool {
        match self {
            Self::Used => seen.holders_total > 0 || seen.waiting_total > 0,
            Self::Waiting => seen.waiting_total > 0,
            Self::Full => seen.permits_held >= seen.limit,
            Self::Paused => seen.paused.is_some(),
            Self::All => true,
        }
    }
}

impl Sort {
    fn apply(self, rows: &mut [&Snapshot]) {
        // The store lists by name, and the sorts are stable.
        match self {
            Self::Oldest => rows.sort_by_cached_key(|seen| Reverse(seen.oldest_wait())),
            Self::Waiting => rows.sort_by_key(|seen| Reverse(seen.waiting_total)),
            Self::Held => rows.sort_by_key(|seen| Reverse(seen.permits_held)),
            Self::Name => {}
        }
    }
}

impl Paging {
    fn new(query: &Query, rows: usize) -> Self {
        let from = start(rows, query);
        let to = (from + ROWS).min(rows);
        let page = from / ROWS;
        let link = |page| Query { page, ..query.clone() }.link();
        Self {
            words: match rows {
                0 => String::new(),
                _ => format!(
                    "{}\u{2013}{} of {}",
                    grouped(from as u64 + 1),
                    grouped(to as u64),
                    grouped(rows as u64)
                ),
            },
            back: (page > 0).then(|| link(page - 1)),
            next: (to < rows).then(|| link(page + 1)),
        }
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

/// All queues.
pub(super) async fn queues(inner: &Arc<Inner>, query: &Query) -> Result<Pieces, String> {
    let all = inner.lists.queues().await.map_err(|error| error.to_string())?;
    let searched = query.search.to_lowercase();
    let mut found: Vec<_> =
        all.iter().filter(|seen| seen.name.to_lowercase().contains(&searched)).collect();
    found.sort_by_key(|seen| Reverse((seen.is_unattended(), urgency(seen))));
    let table = Queues {
        rows: page_of(&found, query).iter().map(|seen| QueueRow::new(seen)).collect(),
        paging: Paging::new(query, found.len()),
        search: query.search.clone(),
        base: &inner.options.base_path,
    };
    let parts = vec![("table", html(&table))];
    Ok([parts.clone(), parts])
}

fn urgency(seen: &QueueSnapshot) -> (Option<Duration>, u32) {
    (seen.oldest.filter(|_| seen.ready > 0), seen.in_work)
}

impl QueueRow {
    fn new(seen: &QueueSnapshot) -> Self {
        let limit = seen.limit.unwrap_or_else(|| seen.in_work.max(1));
        Self {
            name: seen.name.to_string(),
            link: encoded(&seen.name),
            ready: grouped(seen.ready),
            delayed: grouped(seen.delayed),
            in_work: grouped(seen.in_work),
            dead: grouped(seen.dead),
            idle: grouped(seen.idle),
            gate: Gate::new(seen.in_work, limit, seen.ready, seen.paused.is_some()),
            headline: Headline::of_queue(seen),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(pairs: &[(&str, &str)]) -> Query {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        Query::from_fields(&pairs.iter().map(own).collect())
    }

    #[test]
    fn a_query_survives_its_own_link() {
        let made = query(&[("q", "gpu/a&b"), ("show", "all"), ("sort", "name"), ("page", "3")]);
        assert_eq!(made.link(), "?q=gpu%2Fa%26b&show=all&sort=name&page=3");
        assert_eq!((made.show, made.sort, made.page), (Show::All, Sort::Name, 3));
    }

    #[test]
    fn a_query_of_nonsense_is_the_usual_one() {
        let made = query(&[("show", "<script>"), ("sort", "'"), ("page", "-1")]);
        assert_eq!(made, Query::default());
    }

    #[test]
    fn a_page_beyond_the_end_is_the_last_page() {
        let rows: Vec<u32> = (0..95).collect();
        let shown = page_of(&rows, &Query { page: 77, ..Query::default() });
        assert_eq!((shown.first(), shown.len()), (Some(&80), 15));
        assert!(page_of(&rows[..0], &Query::default()).is_empty());
    }
}
