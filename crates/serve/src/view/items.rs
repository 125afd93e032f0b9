//! The items of one state on the page of their queue, with the number of matches and the possible
//! actions.

mod found;

use std::time::SystemTime;

use askama::Template;
use seinpaal::{ItemState, ListedItem, ListedState};
use seinpaal_words::{
    matching::Matching,
    text::{age, delivery_end},
};

use super::{encoded, grouped, item_query::ItemQuery, lease_left, more, shown};
pub(super) use found::FoundItems;

/// How many characters of a payload are shown.
const PREVIEW: usize = 160;

#[derive(Template)]
#[template(path = "parts/items.html")]
pub(super) struct ItemsPart<'a> {
    base: &'a str,
    link: String,
    title: &'static str,
    heading: String,
    /// The text of the page if there is no row.
    nothing: &'static str,
    /// The search text as a field of a link. It is empty without a search.
    by: String,
    actions: Vec<(String, String)>,
    columns: Vec<(&'static str, bool)>,
    rows: Vec<ItemCells>,
    may_act: bool,
    is_dead: bool,
    more: String,
    /// The link to the rest of the list, and the words of the link.
    next: Option<(String, &'static str)>,
    is_hidden: bool,
}

struct ItemCells {
    id: u64,
    cells: Vec<ItemCell>,
}

enum ItemCell {
    Text { label: &'static str, is_number: bool, text: String },
    History(Vec<String>),
    Payload { text: Option<String>, bytes: String },
}

impl<'a> ItemsPart<'a> {
    /// Makes the part about a state that has `total` items.
    pub(super) fn new(
        name: &str,
        total: u32,
        found: &FoundItems,
        query: &ItemQuery,
        matching: &Matching,
        (may_act, base): (bool, &'a str),
    ) -> Self {
        let (state, link) = (found.state, encoded(name));
        let is_all = matching.text.is_empty();
        let by = if is_all { String::new() } else { format!("&match={}", encoded(&matching.text)) };
        let is_page = query.only.is_some();
        let rest = query.behind(state, if is_page { found.next.as_ref() } else { None });
        let has_more = found.next.is_some();
        let words = if is_page { "Next" } else { "List all of them" };
        Self {
            base,
            title: title(state),
            heading: heading(total, found, is_all),
            nothing: nothing(state, total, is_all),
            actions: actions(found, total, is_all),
            columns: columns(state, matching.with_payloads),
            rows: found.shown.iter().map(|item| row(item, matching.with_payloads)).collect(),
            may_act,
            is_dead: state == ItemState::Dead,
            more: match (is_all, found.is_first) {
                (true, true) => more(u64::from(total), found.shown.len()),
                (true, false) => String::new(),
                (false, _) => more(found.matching, found.shown.len()),
            },
            next: has_more.then(|| (format!("{base}/queue?n={link}{rest}"), words)),
            // The page of a queue leaves out a state without items, except the items in work.
            is_hidden: total == 0
                && found.shown.is_empty()
                && !is_page
                && state != ItemState::InWork,
            by,
            link,
        }
    }
}

fn title(state: ItemState) -> &'static str {
    match state {
        ItemState::Delayed => "Delayed",
        ItemState::InWork => "In work",
        ItemState::Dead => "Dead letters",
        _ => "Ready",
    }
}

fn heading(total: u32, found: &FoundItems, is_all: bool) -> String {
    let (matching, total) = (grouped(found.matching), grouped(total));
    match (is_all, found.is_first) {
        (true, _) => total,
        (_, true) => format!("{matching} of {total} match"),
        _ => format!("{matching} of {total} match, from here on"),
    }
}

fn nothing(state: ItemState, total: u32, is_all: bool) -> &'static str {
    match state {
        ItemState::InWork if is_all || total == 0 => "Nothing is in work.",
        ItemState::InWork => "Nothing in work matches.",
        _ if total == 0 => "There are none.",
        _ if is_all => "There are none here.",
        _ => "None of them matches.",
    }
}

/// Returns the actions: the word in an address, and the words of the button, such as `all 37 that
/// match` if all items were counted.
fn actions(found: &FoundItems, total: u32, is_all: bool) -> Vec<(String, String)> {
    let all = if is_all { u64::from(total) } else { found.matching };
    let words = match (is_all, found.is_first, all) {
        (true, ..) => "all".to_owned(),
        (_, false, _) => "all that match".to_owned(),
        (_, _, 1) => "the one that matches".to_owned(),
        _ => format!("all {} that match", grouped(all)),
    };
    match found.state {
        ItemState::Dead => vec![
            ("replay-all".to_owned(), format!("Replay {words}")),
            ("drop-all".to_owned(), format!("Drop {words}")),
        ],
        _ if all < 2 && found.is_first => Vec::new(),
        state => vec![(format!("cancel-all&state={state}"), format!("Cancel {words}"))],
    }
}

/// Returns the heads of the columns, and whether the column has numbers.
fn columns(state: ItemState, has_payloads: bool) -> Vec<(&'static str, bool)> {
    let payload = (if has_payloads { "Payload" } else { "Bytes" }, false);
    let waiting = |when| {
        let (deliveries, priority) = (("Deliveries", true), ("Priority", true));
        vec![(when, true), ("Group", false), ("Labels", false), deliveries, priority, payload]
    };
    match state {
        ItemState::InWork => vec![
            ("Worker", false),
            ("Group", false),
            ("Delivery", true),
            ("Worked for", true),
            ("Lease left", true),
        ],
        ItemState::Dead => vec![
            ("Deliveries", true),
            ("How they ended", false),
            ("Died", true),
            ("Group", false),
            payload,
        ],
        ItemState::Delayed => waiting("Due in"),
        _ => waiting("Pushed"),
    }
}

fn row(item: &ListedItem, has_payloads: bool) -> ItemCells {
    let cells = match &item.state {
        ListedState::InWork { worker, worked_for, valid_for, .. } => vec![
            words("", shown(&format!("{} {}@{}", worker.client, worker.pid, worker.host))),
            group(item),
            number("delivery", item.attempt.to_string()),
            number("worked for", age(*worked_for)),
            number("lease left", lease_left(*valid_for)),
        ],
        ListedState::Dead { died_at } => {
            let ends = item.history.ends().iter().map(|past| shown(delivery_end(&past.ending)));
            vec![
                number("deliveries", item.attempt.to_string()),
                ItemCell::History(ends.collect()),
                ago("died", *died_at),
                group(item),
                payload(item, has_payloads),
            ]
        }
        state => vec![
            when(item, state),
            group(item),
            words("labels", labels(item)),
            number("deliveries", format!("{} of {}", item.attempt, item.deliveries)),
            number("priority", item.priority.to_string()),
            payload(item, has_payloads),
        ],
    };
    ItemCells { id: item.id.0, cells }
}

/// Says when a delayed item is due, or how long ago a ready item was pushed.
fn when(item: &ListedItem, state: &ListedState) -> ItemCell {
    match state {
        ListedState::Delayed { due_at } => {
            let left = due_at.duration_since(SystemTime::now()).unwrap_or_default();
            number("due in", age(left))
        }
        _ => ago("pushed", item.pushed_at),
    }
}

fn ago(label: &'static str, at: SystemTime) -> ItemCell {
    let since = SystemTime::now().duration_since(at).unwrap_or_default();
    number(label, format!("{} ago", age(since)))
}

fn group(item: &ListedItem) -> ItemCell {
    words("group", item.group.as_ref().map_or_else(String::new, |it| shown(it)))
}

fn payload(item: &ListedItem, is_shown: bool) -> ItemCell {
    ItemCell::Payload { text: is_shown.then(|| preview(item)), bytes: grouped(item.bytes) }
}

fn words(label: &'static str, text: String) -> ItemCell {
    ItemCell::Text { label, is_number: false, text }
}

fn number(label: &'static str, text: String) -> ItemCell {
    ItemCell::Text { label, is_number: true, text }
}

fn labels(item: &ListedItem) -> String {
    let labels = item.pushed_by.labels.iter().map(|(key, value)| shown(&format!("{key}={value}")));
    labels.collect::<Vec<_>>().join(" ")
}

/// Returns the beginning of a payload if it is text, or else the word `binary`.
fn preview(item: &ListedItem) -> String {
    let valid = match std::str::from_utf8(&item.payload) {
        Ok(text) => text,
        // A list has the first 256 bytes of a payload, which may end within a character.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&item.payload[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return "binary".to_owned(),
    };
    let mut text: String = shown(valid).chars().take(PREVIEW).collect();
    if text.len() < item.bytes as usize {
        text.push('\u{2026}');
    }
    text
}
