//! The query of a list: the rows to show, their order, and the page.

use std::cmp::Reverse;

use askama::Template;
use seinpaal::Snapshot;

use super::{encoded, grouped};
use crate::fields::{FieldMap, field};

/// How many rows a page has.
const ROWS: usize = 40;
/// The longest text to search for, in characters: a name has at most 512 bytes.
const MOST_SEARCHED: usize = 512;

/// The query of a list.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) struct ListQuery {
    /// The search text, a part of a name.
    pub(crate) search: String,
    pub(crate) show: ShownNames,
    pub(crate) sort: Sort,
    /// The number of the page, from 0.
    pub(crate) page: usize,
}

/// A choice of names to show.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) enum ShownNames {
    /// Names with a holder or a waiter.
    #[default]
    Used,
    Waiting,
    Full,
    Paused,
    All,
}

/// The order of the names: the highest figure first, and equal figures in the order of names.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) enum Sort {
    #[default]
    Oldest,
    Waiting,
    Held,
    Name,
}

pub(super) const SHOWS: [(ShownNames, &str, &str); 5] = [
    (ShownNames::Used, "used", "In use"),
    (ShownNames::Waiting, "waiting", "In line"),
    (ShownNames::Full, "full", "Full"),
    (ShownNames::Paused, "paused", "Paused"),
    (ShownNames::All, "all", "All"),
];
const SORTS: [(Sort, &str, &str); 4] = [
    (Sort::Oldest, "oldest", "Oldest wait"),
    (Sort::Waiting, "waiting", "Waiting"),
    (Sort::Held, "held", "Held"),
    (Sort::Name, "name", "Name"),
];

impl ListQuery {
    /// Reads the fields of a link or form. An unknown value means the default.
    pub(crate) fn from_fields(fields: &FieldMap) -> Self {
        let field = |name: &str| field(fields, name);
        let show = SHOWS.iter().find(|(_, word, _)| *word == field("show"));
        // A search also finds names that are not in use.
        let usual = if field("q").is_empty() { ShownNames::default() } else { ShownNames::All };
        let sort = SORTS.iter().find(|(_, word, _)| *word == field("sort"));
        Self {
            search: field("q").chars().take(MOST_SEARCHED).collect(),
            show: show.map_or(usual, |(show, _, _)| *show),
            sort: sort.map_or_else(Sort::default, |(sort, _, _)| *sort),
            page: field("page").parse::<usize>().unwrap_or(0).min(1_000_000),
        }
    }

    /// Returns the query of a link to this page, beginning with `?`.
    pub(crate) fn link(&self) -> String {
        let show = SHOWS.iter().find(|(show, _, _)| *show == self.show).map_or("", |row| row.1);
        let sort = SORTS.iter().find(|(sort, _, _)| *sort == self.sort).map_or("", |row| row.1);
        let search = encoded(&self.search);
        format!("?q={search}&show={show}&sort={sort}&page={}", self.page)
    }
}

/// The choices beside the table of a page.
pub(crate) struct PageChoices {
    pub(crate) sorts: Vec<(&'static str, &'static str, bool)>,
    pub(crate) show: &'static str,
}

impl PageChoices {
    pub(crate) fn new(query: &ListQuery) -> Self {
        let sorts = SORTS.iter().map(|(sort, word, label)| (*word, *label, *sort == query.sort));
        let show = SHOWS.iter().find(|(show, _, _)| *show == query.show).map_or("", |row| row.1);
        Self { sorts: sorts.collect(), show }
    }
}

#[derive(Template)]
#[template(path = "parts/paging.html")]
pub(super) struct Paging {
    words: String,
    back: Option<String>,
    next: Option<String>,
}

/// Returns the rows of the page, or of the last page if there are fewer pages.
pub(super) fn page_of<'r, T>(rows: &'r [T], query: &ListQuery) -> &'r [T] {
    let from = start(rows.len(), query);
    &rows[from..(from + ROWS).min(rows.len())]
}

fn start(rows: usize, query: &ListQuery) -> usize {
    let last = rows.saturating_sub(1) / ROWS;
    query.page.min(last) * ROWS
}

impl ShownNames {
    pub(super) fn has(self, seen: &Snapshot) -> bool {
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
    pub(super) fn apply(self, rows: &mut [&Snapshot]) {
        // The store lists in the order of names, and the sorts are stable.
        match self {
            Self::Oldest => rows.sort_by_cached_key(|seen| Reverse(seen.oldest_wait())),
            Self::Waiting => rows.sort_by_key(|seen| Reverse(seen.waiting_total)),
            Self::Held => rows.sort_by_key(|seen| Reverse(seen.permits_held)),
            Self::Name => {}
        }
    }
}

impl Paging {
    pub(super) fn new(query: &ListQuery, rows: usize) -> Self {
        let from = start(rows, query);
        let to = (from + ROWS).min(rows);
        let page = from / ROWS;
        let link = |page| ListQuery { page, ..query.clone() }.link();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn query(pairs: &[(&str, &str)]) -> ListQuery {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        ListQuery::from_fields(&pairs.iter().map(own).collect())
    }

    #[test]
    fn a_query_survives_its_own_link() {
        let made = query(&[("q", "gpu/a&b"), ("show", "all"), ("sort", "name"), ("page", "3")]);
        assert_eq!(made.link(), "?q=gpu%2Fa%26b&show=all&sort=name&page=3");
        assert_eq!((made.show, made.sort, made.page), (ShownNames::All, Sort::Name, 3));
    }

    #[test]
    fn a_search_covers_all_names_by_default() {
        assert_eq!(query(&[("q", "gpu")]).show, ShownNames::All);
        assert_eq!(query(&[("q", "gpu"), ("show", "used")]).show, ShownNames::Used);
        assert_eq!(query(&[("q", "")]).show, ShownNames::Used);
    }

    #[test]
    fn a_query_of_nonsense_is_the_usual_one() {
        let made = query(&[("show", "<script>"), ("sort", "'"), ("page", "-1")]);
        assert_eq!(made, ListQuery::default());
    }

    #[test]
    fn a_page_beyond_the_end_is_the_last_page() {
        let rows: Vec<u32> = (0..95).collect();
        let shown = page_of(&rows, &ListQuery { page: 77, ..ListQuery::default() });
        assert_eq!((shown.first(), shown.len()), (Some(&80), 15));
        assert!(page_of(&rows[..0], &ListQuery::default()).is_empty());
    }
}
