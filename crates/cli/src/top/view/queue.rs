//! The view of all queues, or of one with its items in work and its dead letters.

use std::time::SystemTime;

use seinpaal::{InWork, ListedItem, ListedState, QueueSnapshot};

use super::{
    super::state::TopState, Columns, GAP, ViewLine, matches_filter, name_width, nothing,
    open::head, row, window,
};
use crate::{
    command::queue::show,
    output::{
        json,
        text::{age, delivery_end},
    },
};

const COLUMNS: Columns<6> =
    [("READY", 7), ("DELAYED", 7), ("IN WORK", 7), ("DEAD", 6), ("OLDEST", 7), ("STATE", 10)];

/// All queues.
pub(super) fn all(state: &mut TopState, rows: usize, columns: usize) -> Vec<ViewLine> {
    state.page = rows.saturating_sub(1).max(1);
    let at = state.cursor();
    let listed = state.listed();
    let others: usize = COLUMNS.iter().map(|(_, width)| width + GAP).sum();
    let name_width = name_width(&listed, columns.saturating_sub(others + 1));
    let head = COLUMNS.map(|(head, _)| head.to_owned());
    let mut lines = vec![ViewLine::Head(format!(" {}", row("QUEUE", &head, COLUMNS, name_width)))];
    if listed.is_empty() {
        lines.push(nothing(state, "no queue is in use"));
        return lines;
    }
    let shown = state.queues.iter().filter(|seen| matches_filter(state, &seen.name)).enumerate();
    for (here, seen) in shown.skip(window(at, listed.len(), state.page)).take(state.page) {
        lines.push(ViewLine::row(here == at, &row(&seen.name, &cells(seen), COLUMNS, name_width)));
    }
    lines
}

fn cells(seen: &QueueSnapshot) -> [String; 6] {
    [
        seen.ready.to_string(),
        seen.delayed.to_string(),
        seen.in_work.to_string(),
        seen.dead.to_string(),
        seen.oldest.map_or_else(|| "-".to_owned(), age),
        json::queue::state(seen).to_owned(),
    ]
}

/// One queue.
pub(super) fn open(state: &mut TopState, rows: usize, columns: usize) -> Vec<ViewLine> {
    let Some(queue) = state.queue.clone() else {
        return vec![ViewLine::Plain(" looking".to_owned())];
    };
    let mut lines = head(&show::head(&queue.seen), columns);
    lines.push(ViewLine::Plain(String::new()));
    let (at, working) = (state.row(), queue.seen.work.len());
    let left = rows.saturating_sub(lines.len() + 4);
    let for_work = if queue.dead.is_empty() { left } else { (left / 2).max(1) }.min(working);
    state.page = for_work.max(1);
    match working {
        0 => lines.push(ViewLine::Plain(" nothing is in work".to_owned())),
        _ => lines.push(ViewLine::Head(" IN WORK           DELIVERY   SINCE  WHO".to_owned())),
    }
    let from = if at < working { window(at, working, for_work) } else { 0 };
    let items = queue.seen.work.iter().enumerate().skip(from).take(for_work);
    lines.extend(items.map(|(here, item)| ViewLine::row(here == at, &in_work(item))));
    lines.extend(letters(&queue.dead, at.checked_sub(working), left.saturating_sub(for_work)));
    lines
}

fn letters(dead: &[ListedItem], at: Option<usize>, rows: usize) -> Vec<ViewLine> {
    if dead.is_empty() {
        return Vec::new();
    }
    let head = " DEAD              DELIVERY    DIED  HOW IT ENDED";
    let mut lines = vec![ViewLine::Plain(String::new()), ViewLine::Head(head.to_owned())];
    let from = window(at.unwrap_or(0), dead.len(), rows.max(1));
    let shown = dead.iter().enumerate().skip(from).take(rows.max(1));
    lines.extend(shown.map(|(here, it)| ViewLine::row(Some(here) == at, &letter(it))));
    lines
}

fn in_work(item: &InWork) -> String {
    let (since, worker) = (age(item.worked_for), &item.worker);
    let (id, attempt) = (item.id, item.attempt);
    format!("{id:<16}  {attempt:>8}  {since:>6}  {}@{}", worker.pid, worker.host)
}

fn letter(letter: &ListedItem) -> String {
    let died_at = match letter.state {
        ListedState::Dead { died_at } => died_at,
        _ => letter.pushed_at,
    };
    let since = age(SystemTime::now().duration_since(died_at).unwrap_or_default());
    let last = letter.history.ends().last();
    let end = last.map_or("", |past| delivery_end(&past.ending));
    let (id, attempt) = (letter.id, letter.attempt);
    format!("{id:<16}  {attempt:>8}  {since:>6}  {end}")
}
