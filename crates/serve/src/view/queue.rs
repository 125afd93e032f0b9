//! The page of a queue: its headline, its counts, what is in work, groups, dead letters.

use std::{sync::Arc, time::SystemTime};

use askama::Template;
use seinpaal::{DeadLetter, InWork, Queue, QueueError, QueueSnapshot};
use seinpaal_words::{
    matching::Matching,
    text::{age, delivery_end},
};

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
    found: Found,
    groups: Vec<GroupCells>,
    may_act: bool,
    base: &'a str,
}

/// How many rows of a kind there are, and how many match what was looked for.
struct Found {
    /// As in a heading.
    total: String,
    /// How many can be acted on at once.
    all: u64,
    /// The text in a link; empty if all were looked for.
    by: String,
    /// For a button: `all 37 that match`.
    words: String,
}

impl Found {
    fn new(total: u32, all: u64, matching: &Matching) -> Self {
        let is_all = matching.text.is_empty();
        Self {
            total: if is_all {
                grouped(total)
            } else {
                format!("{} of {} match", grouped(all), grouped(total))
            },
            all,
            by: if is_all { String::new() } else { format!("&match={}", encoded(&matching.text)) },
            words: match (is_all, all) {
                (true, _) => "all".to_owned(),
                (_, 1) => "the one that matches".to_owned(),
                _ => format!("all {} that match", grouped(all)),
            },
        }
    }
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
    more: String,
    found: Found,
    has_dead: bool,
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

/// The dead letters that are shown, and how many match.
struct Letters {
    shown: Vec<DeadLetter>,
    all: u64,
}

impl Letters {
    /// All are looked through if some are looked for.
    async fn read(queue: &Queue, dead: u32, matching: &Matching) -> Result<Self, QueueError> {
        if dead == 0 {
            return Ok(Self { shown: Vec::new(), all: 0 });
        }
        if matching.text.is_empty() {
            let shown = queue.dead(None, DEAD_ROWS).await?;
            return Ok(Self { shown, all: u64::from(dead) });
        }
        let mut letters = Self { shown: Vec::new(), all: 0 };
        queue.each_dead(|letter| letters.take(letter, matching)).await?;
        Ok(letters)
    }

    fn take(&mut self, letter: &DeadLetter, matching: &Matching) {
        if !matching.has_dead(letter) {
            return;
        }
        self.all += 1;
        if self.shown.len() < DEAD_ROWS as usize {
            self.shown.push(letter.clone());
        }
    }
}

/// Reads the queue and those of its first dead letters that match, and renders them for both roles.
pub(super) async fn read(
    inner: &Arc<StoreSource>,
    name: &str,
    text: &str,
) -> Result<Pieces, String> {
    let queue = inner.seinpaal.queue(name);
    let (base, shows_payloads) = (&inner.options.base_path, inner.options.payloads);
    let matching = Matching { text: text.to_owned(), with_payloads: shows_payloads, until: None };
    let seen = queue.snapshot().await.map_err(|error| error.to_string())?;
    let letters = Letters::read(&queue, seen.dead, &matching).await;
    let letters = letters.map_err(|error| error.to_string())?;
    let (past, now) = inner.history.look_into(&seen);
    let past = html(&Pictures::of(&past, now, &ITEMS));
    Ok([false, true].map(|may_act| {
        vec![
            ("head", html(&head(&seen, may_act, base))),
            ("work", html(&work(&seen, &matching, may_act, base))),
            ("past", past.clone()),
            ("dead", html(&dead(&seen, &letters, &matching, may_act, base))),
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

fn work<'a>(
    seen: &'a QueueSnapshot,
    matching: &Matching,
    may_act: bool,
    base: &'a str,
) -> WorkPart<'a> {
    let meant: Vec<_> = seen.work.iter().filter(|item| matching.has_in_work(item)).collect();
    let all = if matching.text.is_empty() { u64::from(seen.in_work) } else { meant.len() as u64 };
    let groups = seen.groups.iter().take(ROWS).map(|group| GroupCells {
        group: shown(&group.group),
        in_work: grouped(group.in_work),
        ready: grouped(group.ready),
        is_full: seen.group_limit.is_some_and(|limit| group.in_work >= limit),
    });
    WorkPart {
        link: encoded(&seen.name),
        rows: meant.iter().take(ROWS).map(|item| WorkCells::new(item)).collect(),
        more: more(all as u32, meant.len().min(ROWS)),
        found: Found::new(seen.in_work, all, matching),
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
    letters: &Letters,
    matching: &Matching,
    may_act: bool,
    base: &'a str,
) -> DeadPart<'a> {
    let shows_payloads = matching.with_payloads;
    let rows = letters.shown.iter().map(|letter| DeadCells::new(letter, shows_payloads));
    DeadPart {
        link: encoded(&seen.name),
        rows: rows.collect(),
        more: more(letters.all as u32, letters.shown.len()),
        found: Found::new(seen.dead, letters.all, matching),
        has_dead: seen.dead > 0,
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
