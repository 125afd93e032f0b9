//! The page of a queue: its headline, its counts, what is in work, groups, dead letters.

use std::{sync::Arc, time::SystemTime};

use askama::Template;
use seinpaal::{DeadLetter, InWork, QueueSnapshot};
use seinpaal_words::text::{age, delivery_end};

use super::{
    Headline, Pieces, encoded, grouped, html, lease_left, more,
    past::{ITEMS, Pictures},
    shown,
};
use crate::source::StoreSource;

/// How many rows of each kind a page lists.
const ROWS: usize = 50;
const DEAD_ROWS: u32 = 50;
/// How much of a payload is shown, in characters.
const PREVIEW: usize = 160;

#[derive(Template)]
#[template(path = "parts/queue_head.html")]
struct QueueHeadPart<'a> {
    name: &'a str,
    link: String,
    limits: String,
    headline: Headline,
    figures: Vec<(String, &'static str, &'static str)>,
    is_paused: bool,
    may_act: bool,
    base: &'a str,
}

#[derive(Template)]
#[template(path = "parts/work.html")]
struct WorkPart<'a> {
    link: String,
    rows: Vec<WorkCells>,
    more: String,
    groups: Vec<GroupCells>,
    may_act: bool,
    base: &'a str,
}

struct WorkCells {
    id: u64,
    attempt: u32,
    group: String,
    worker: String,
    worked_for: String,
    left: String,
}

struct GroupCells {
    group: String,
    in_work: String,
    ready: String,
    is_full: bool,
}

#[derive(Template)]
#[template(path = "parts/dead.html")]
struct DeadPart<'a> {
    link: String,
    rows: Vec<DeadCells>,
    total: String,
    more: String,
    shows_payloads: bool,
    may_act: bool,
    base: &'a str,
}

struct DeadCells {
    id: u64,
    attempt: u32,
    group: String,
    died: String,
    history: Vec<String>,
    payload: String,
    bytes: String,
}

/// Reads the queue and its first dead letters, and renders them for both roles.
pub(super) async fn read(inner: &Arc<StoreSource>, name: &str) -> Result<Pieces, String> {
    let queue = inner.seinpaal.queue(name);
    let seen = queue.snapshot().await.map_err(|error| error.to_string())?;
    let letters = match seen.dead {
        0 => Vec::new(),
        _ => queue.dead(None, DEAD_ROWS).await.map_err(|error| error.to_string())?,
    };
    let (past, now) = inner.history.look_into(&seen);
    let past = html(&Pictures::of(&past, now, &ITEMS));
    let (base, shows_payloads) = (&inner.options.base_path, inner.options.payloads);
    Ok([false, true].map(|may_act| {
        vec![
            ("head", html(&head(&seen, may_act, base))),
            ("work", html(&work(&seen, may_act, base))),
            ("past", past.clone()),
            ("dead", html(&dead(&seen, &letters, shows_payloads, may_act, base))),
        ]
    }))
}

fn head<'a>(seen: &'a QueueSnapshot, may_act: bool, base: &'a str) -> QueueHeadPart<'a> {
    let bad = if seen.dead > 0 { "bad" } else { "" };
    QueueHeadPart {
        name: &seen.name,
        link: encoded(&seen.name),
        limits: limits(seen),
        headline: Headline::of_queue(seen),
        figures: vec![
            (grouped(seen.delayed), "delayed", ""),
            (grouped(seen.ready), "ready", if seen.ready > 0 { "wait" } else { "" }),
            (grouped(seen.in_work), "in work", ""),
            (grouped(seen.idle), "idle workers", ""),
            (grouped(seen.dead), "dead letters", bad),
        ],
        is_paused: seen.paused.is_some(),
        may_act,
        base,
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

fn work<'a>(seen: &'a QueueSnapshot, may_act: bool, base: &'a str) -> WorkPart<'a> {
    let groups = seen.groups.iter().take(ROWS).map(|group| GroupCells {
        group: shown(&group.group),
        in_work: grouped(group.in_work),
        ready: grouped(group.ready),
        is_full: seen.group_limit.is_some_and(|limit| group.in_work >= limit),
    });
    WorkPart {
        link: encoded(&seen.name),
        rows: seen.work.iter().take(ROWS).map(WorkCells::new).collect(),
        more: more(seen.in_work, seen.work.len().min(ROWS)),
        groups: groups.collect(),
        may_act,
        base,
    }
}

impl WorkCells {
    fn new(item: &InWork) -> Self {
        let worker = &item.worker;
        Self {
            id: item.id.0,
            attempt: item.attempt,
            group: item.group.as_ref().map_or_else(String::new, |group| shown(group)),
            worker: shown(&format!("{} {}@{}", worker.client, worker.pid, worker.host)),
            worked_for: age(item.worked_for),
            left: lease_left(item.valid_for),
        }
    }
}

fn dead<'a>(
    seen: &'a QueueSnapshot,
    letters: &[DeadLetter],
    shows_payloads: bool,
    may_act: bool,
    base: &'a str,
) -> DeadPart<'a> {
    DeadPart {
        link: encoded(&seen.name),
        rows: letters.iter().map(|letter| DeadCells::new(letter, shows_payloads)).collect(),
        total: grouped(seen.dead),
        more: more(seen.dead, letters.len()),
        shows_payloads,
        may_act,
        base,
    }
}

impl DeadCells {
    fn new(letter: &DeadLetter, shows_payloads: bool) -> Self {
        let died = SystemTime::now().duration_since(letter.died_at).unwrap_or_default();
        Self {
            id: letter.id.0,
            attempt: letter.attempt,
            group: letter.group.as_ref().map_or_else(String::new, |group| shown(group)),
            died: age(died),
            history: letter
                .history
                .ends()
                .iter()
                .map(|past| shown(delivery_end(&past.ending)))
                .collect(),
            payload: if shows_payloads { preview(letter) } else { String::new() },
            bytes: grouped(letter.bytes),
        }
    }
}

/// The beginning as text, or that it is none.
fn preview(letter: &DeadLetter) -> String {
    let valid = match std::str::from_utf8(&letter.payload) {
        Ok(text) => text,
        // The store keeps 256 bytes, which may end within a character.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&letter.payload[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return "binary".to_owned(),
    };
    let mut text: String = shown(valid).chars().take(PREVIEW).collect();
    if text.len() < letter.bytes as usize {
        text.push('\u{2026}');
    }
    text
}
