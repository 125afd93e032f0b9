//! The views of all queues, and of one queue with its first items of each state.

use std::time::SystemTime;

use seinpaal::{ListedItem, ListedState, QueueSnapshot};

use super::{
    super::{
        prompt::in_words,
        state::TopState,
        watch::{OpenQueue, OpenWorkRow},
    },
    Columns, GAP, ViewLine, name_width, nothing,
    open::head,
    row, window,
};
use crate::{
    command::queue::{items::glimpse, show},
    output::{
        json,
        text::{age, delivery_end, plain},
    },
};

const COLUMNS: Columns<6> =
    [("READY", 7), ("DELAYED", 7), ("IN WORK", 7), ("DEAD", 6), ("OLDEST", 7), ("STATE", 10)];

/// Draws all queues.
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
    let shown = state.queues.iter().filter(|seen| state.lets_through(&seen.name)).enumerate();
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

/// Draws one queue.
pub(super) fn open(state: &mut TopState, rows: usize, columns: usize) -> Vec<ViewLine> {
    let Some(queue) = state.queue.clone() else {
        let words = match state.look.matching.as_str() {
            "" => " looking".to_owned(),
            text => format!(" looking for \"{}\"", plain(text)),
        };
        return vec![ViewLine::Plain(words)];
    };
    let mut lines = head(&show::head(&queue.seen), columns);
    lines.push(ViewLine::Plain(String::new()));
    let blocks = blocks(&queue);
    let words = words(&queue);
    let has_words = !words.is_empty();
    lines.extend(has_words.then_some(ViewLine::Plain(words)));
    // Each block has a head, with an empty line above it.
    let left = rows.saturating_sub(lines.len() + 2 * blocks.len());
    let (at, mut first) = (state.row(), 0);
    for (place, room) in room_of(&blocks, at, left).into_iter().enumerate() {
        let block = &blocks[place];
        let here = at.checked_sub(first).filter(|at| *at < block.rows.len());
        if here.is_some() {
            state.page = room.max(1);
        }
        if place > 0 || has_words {
            lines.push(ViewLine::Plain(String::new()));
        }
        lines.extend(block.lines(here, room));
        first += block.rows.len();
    }
    lines
}

/// Says how many items the search has found. Without a search, says so if no item is in work, in
/// the place of the first block.
fn words(queue: &OpenQueue) -> String {
    if queue.matching.is_empty() {
        let is_idle = queue.in_work.is_empty();
        return if is_idle { " nothing is in work".to_owned() } else { String::new() };
    }
    let found = queue.found.iter().filter(|(_, counted)| counted.items() > 0);
    let found = found.map(|(state, counted)| format!("{} {}", counted.items(), in_words(*state)));
    match found.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => format!(" no item matches \"{}\"", queue.matching),
        found => format!(" \"{}\" matches {found}", queue.matching),
    }
}

/// The items of a state, one on each line.
struct Block {
    head: &'static str,
    rows: Vec<String>,
}

impl Block {
    /// Returns the head, and as many rows as there is room for. If the cursor is `here`, the rows
    /// around it are shown.
    fn lines(&self, here: Option<usize>, room: usize) -> Vec<ViewLine> {
        let from = here.map_or(0, |at| window(at, self.rows.len(), room.max(1)));
        let shown = self.rows.iter().enumerate().skip(from).take(room);
        let rows = shown.map(|(row, text)| ViewLine::row(Some(row) == here, text));
        [ViewLine::Head(self.head.to_owned())].into_iter().chain(rows).collect()
    }
}

fn blocks(queue: &OpenQueue) -> Vec<Block> {
    let lines = |items: &[ListedItem]| items.iter().map(listed).collect::<Vec<_>>();
    let work = queue.in_work.iter().map(in_work).collect();
    let all = [
        (" IN WORK           DELIVERY   SINCE  WHO", work),
        (" READY             DELIVERY  PUSHED  WHAT", lines(&queue.ready)),
        (" DELAYED           DELIVERY  DUE IN  WHAT", lines(&queue.delayed)),
        (" DEAD              DELIVERY    DIED  HOW IT ENDED", lines(&queue.dead)),
    ];
    let blocks = all.into_iter().map(|(head, rows)| Block { head, rows });
    blocks.filter(|block| !block.rows.is_empty()).collect()
}

/// Returns how many rows of each block are shown. The block with the cursor gets the room that a
/// few rows of the others leave.
fn room_of(blocks: &[Block], at: usize, rows: usize) -> Vec<usize> {
    let few = (rows / (2 * blocks.len().max(1))).max(1);
    let mut room: Vec<_> = blocks.iter().map(|block| block.rows.len().min(few)).collect();
    let mut left = rows.saturating_sub(room.iter().sum());
    let mut first = 0;
    let with_cursor = blocks.iter().position(|block| {
        first += block.rows.len();
        at < first
    });
    for place in with_cursor.into_iter().chain(0..blocks.len()) {
        let more = left.min(blocks[place].rows.len() - room[place]);
        room[place] += more;
        left -= more;
    }
    room
}

fn in_work(item: &OpenWorkRow) -> String {
    let OpenWorkRow { id, attempt, worked_for, worker } = item;
    let since = age(*worked_for);
    format!("{id:<16}  {attempt:>8}  {since:>6}  {worker}")
}

fn listed(item: &ListedItem) -> String {
    let since = |at: SystemTime| age(SystemTime::now().duration_since(at).unwrap_or_default());
    let (when, what) = match &item.state {
        ListedState::Dead { died_at } => {
            let last = item.history.ends().last();
            (
                since(*died_at),
                last.map_or(String::new(), |past| plain(delivery_end(&past.ending)).into_owned()),
            )
        }
        ListedState::Delayed { due_at } => {
            (age(due_at.duration_since(SystemTime::now()).unwrap_or_default()), told(item))
        }
        _ => (since(item.pushed_at), told(item)),
    };
    let (id, attempt) = (item.id, item.attempt);
    format!("{id:<16}  {attempt:>8}  {when:>6}  {what}")
}

/// Describes an item by its group, its labels and the beginning of its payload.
fn told(item: &ListedItem) -> String {
    let labels = item.pushed_by.labels.iter().map(|(key, value)| format!("{key}={value}"));
    let words = item.group.iter().map(ToString::to_string).chain(labels);
    let words = words.chain([glimpse(item)]).collect::<Vec<_>>();
    plain(&words.join("  ")).into_owned()
}

#[cfg(test)]
mod tests;
