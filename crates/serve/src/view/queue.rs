//! The page of a queue. It shows a headline and counts, the items by their state, the groups, and
//! the past. Or it lists the items of one state alone, page by page.

use std::sync::Arc;

use askama::Template;
use seinpaal::{ItemState, Queue, QueueError, QueueSnapshot};
use seinpaal_words::matching::Matching;

use super::{
    Headline, Pieces, encoded, grouped, html,
    item_query::ItemQuery,
    items::{FoundItems, ItemsPart},
    past::{ITEMS, OUTAGES_WITHIN, Pictures},
    shown,
};
use crate::source::StoreSource;

/// How many groups a page lists.
const ROWS: usize = 50;

#[derive(Template)]
#[template(path = "parts/queue_head.html")]
struct QueueHeadPart<'a> {
    link: String,
    limits: String,
    headline: Headline,
    figures: Vec<(String, &'static str, &'static str, String)>,
    is_paused: bool,
    may_act: bool,
    base: &'a str,
}

#[derive(Template)]
#[template(path = "parts/groups.html")]
struct GroupsPart {
    groups: Vec<GroupCells>,
}

struct GroupCells {
    group: String,
    in_work: String,
    ready: String,
    is_full: bool,
}

/// The pieces with items, in their order, and the state of each.
const LISTS: [(&str, ItemState); 4] = [
    ("work", ItemState::InWork),
    ("ready", ItemState::Ready),
    ("delayed", ItemState::Delayed),
    ("dead", ItemState::Dead),
];

/// Reads the queue and those of its items that the query asks for, and renders them for both roles.
pub(super) async fn read(
    inner: &Arc<StoreSource>,
    name: &str,
    query: &ItemQuery,
) -> Result<Pieces, String> {
    let (base, with_payloads) = (inner.options.base_path.as_str(), inner.options.payloads);
    let matching = Matching { text: query.text.clone(), with_payloads, counted: None };
    let said = |error: QueueError| error.to_string();
    let queue = inner.seinpaal.queue(name);
    let seen = queue.snapshot().await.map_err(said)?;
    let lists = lists(&queue, &seen, query, &matching).await.map_err(said)?;
    let (past, now) = inner.history.look_into(&seen);
    let past = html(&Pictures::of(&past, now, &ITEMS, inner.history.outages(OUTAGES_WITHIN)));
    Ok([false, true].map(|may_act| {
        let mut pieces = vec![("head", html(&head(&seen, may_act, base)))];
        for (id, found) in &lists {
            let total = total(&seen, found.state());
            let visitor = (may_act, base);
            let mut piece = html(&ItemsPart::new(name, total, found, query, &matching, visitor));
            if *id == "work" {
                piece.push_str(&html(&groups(&seen)));
            }
            pieces.push((id, piece));
            if *id == "work" {
                pieces.push(("past", past.clone()));
            }
        }
        pieces
    }))
}

/// Reads the items of one state, or the first items of each state.
async fn lists(
    queue: &Queue,
    seen: &QueueSnapshot,
    query: &ItemQuery,
    matching: &Matching,
) -> Result<Vec<(&'static str, FoundItems)>, QueueError> {
    if let Some(state) = query.only {
        return Ok(vec![("items", FoundItems::read(queue, state, query, matching).await?)]);
    }
    let mut lists = Vec::with_capacity(LISTS.len());
    for (id, state) in LISTS {
        lists.push((
            id,
            match total(seen, state) {
                0 => FoundItems::none(state),
                _ => FoundItems::read(queue, state, query, matching).await?,
            },
        ));
    }
    Ok(lists)
}

fn total(seen: &QueueSnapshot, state: ItemState) -> u32 {
    match state {
        ItemState::Delayed => seen.delayed,
        ItemState::InWork => seen.in_work,
        ItemState::Dead => seen.dead,
        _ => seen.ready,
    }
}

fn head<'a>(seen: &'a QueueSnapshot, may_act: bool, base: &'a str) -> QueueHeadPart<'a> {
    let bad = if seen.dead > 0 { "bad" } else { "" };
    let wait = if seen.ready > 0 { "wait" } else { "" };
    let link = encoded(&seen.name);
    let list = |state: ItemState| match total(seen, state) {
        0 => String::new(),
        _ => format!("{base}/queue?n={link}&state={state}"),
    };
    QueueHeadPart {
        limits: limits(seen),
        headline: Headline::of_queue(seen),
        figures: vec![
            (grouped(seen.delayed), "delayed", "", list(ItemState::Delayed)),
            (grouped(seen.ready), "ready", wait, list(ItemState::Ready)),
            (grouped(seen.in_work), "in work", "", list(ItemState::InWork)),
            (grouped(seen.idle), "idle workers", "", String::new()),
            (grouped(seen.dead), "dead letters", bad, list(ItemState::Dead)),
        ],
        is_paused: seen.paused.is_some(),
        may_act,
        base,
        link,
    }
}

fn limits(seen: &QueueSnapshot) -> String {
    let all = seen.limit.map_or_else(
        || "any number in work".to_owned(),
        |limit| format!("at most {limit} in work"),
    );
    match seen.group_limit {
        Some(limit) => format!("{all}, {limit} of a group"),
        None => all,
    }
}

fn groups(seen: &QueueSnapshot) -> GroupsPart {
    let groups = seen.groups.iter().take(ROWS).map(|group| GroupCells {
        group: shown(&group.group),
        in_work: grouped(group.in_work),
        ready: grouped(group.ready),
        is_full: seen.group_limit.is_some_and(|limit| group.in_work >= limit),
    });
    GroupsPart { groups: groups.collect() }
}
