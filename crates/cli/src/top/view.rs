//! What is drawn: a function from what is known and the size of the screen to lines, none wider than it.

mod open;

use seinpaal::Snapshot;

use super::state::State;
use crate::{
    command::list::held_in_short,
    output::{
        json,
        text::{age, cut, fill, plain, width},
    },
};

/// The screen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

/// A line of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Line {
    Plain(String),
    /// A heading.
    Head(String),
    /// Where the cursor is.
    Chosen(String),
}

impl Line {
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Plain(text) | Self::Head(text) | Self::Chosen(text) => text,
        }
    }

    fn row(is_chosen: bool, text: &str) -> Self {
        match is_chosen {
            true => Self::Chosen(format!(">{text}")),
            false => Self::Plain(format!(" {text}")),
        }
    }

    fn cut(self, columns: usize) -> Self {
        let cut = |text: String| cut(&plain(&text), columns);
        match self {
            Self::Plain(text) => Self::Plain(cut(text)),
            Self::Head(text) => Self::Head(cut(text)),
            Self::Chosen(text) => Self::Chosen(cut(text)),
        }
    }
}

/// All lines of the screen: at most as many as it has rows.
pub(super) fn lines(state: &mut State, size: Size) -> Vec<Line> {
    let mut lines = vec![Line::Head(head(state)), Line::Plain(trouble(state))];
    let rows = size.rows.saturating_sub(lines.len() + 1);
    let body = match state.open.is_some() {
        true => open::lines(state, rows, size.columns),
        false => names(state, rows, size.columns),
    };
    lines.extend(body);
    lines.truncate(size.rows.saturating_sub(1));
    lines.resize(size.rows.saturating_sub(1), Line::Plain(String::new()));
    lines.push(Line::Plain(keys(state).to_owned()));
    lines.into_iter().map(|line| line.cut(size.columns)).collect()
}

fn head(state: &State) -> String {
    let waiting: u64 = state.names.iter().map(|name| u64::from(name.waiting_total)).sum();
    let names = match state.names.len() {
        1 => "1 name".to_owned(),
        names => format!("{names} names"),
    };
    format!("seinpaal top: {names}, {waiting} waiting, by {} · {}", state.sort.word(), state.store)
}

/// What the error says of the store stands in the head already.
fn trouble(state: &State) -> String {
    let Some((silent, error)) = state.silence() else { return String::new() };
    let error = error.unwrap_or("it does not answer");
    let error = error.strip_prefix(&format!("{}: ", state.store)).unwrap_or(error);
    format!("store unreachable since {}, trying on: {error}", age(silent))
}

fn keys(state: &State) -> &'static str {
    match state.open {
        Some(_) => "up/down choose a waiter · left: back · q: leave",
        None => "up/down · enter: open · s: sort · q: leave",
    }
}

const COLUMNS: [(&str, usize); 4] = [("HELD", 11), ("WAITING", 7), ("OLDEST", 7), ("STATE", 7)];
const LEAST_NAME: usize = 4;
const GAP: usize = 2;

fn names(state: &mut State, rows: usize, columns: usize) -> Vec<Line> {
    let others: usize = COLUMNS.iter().map(|(_, width)| width + GAP).sum();
    let longest = state.names.iter().map(|name| width(&plain(&name.name))).max().unwrap_or(0);
    let most = columns.saturating_sub(others + 1).max(LEAST_NAME);
    let name_width = longest.clamp(LEAST_NAME, most);
    let head = [COLUMNS[0].0, COLUMNS[1].0, COLUMNS[2].0, COLUMNS[3].0].map(str::to_owned);
    let mut lines = vec![Line::Head(format!(" {}", row("NAME", &head, name_width)))];
    if state.names.is_empty() {
        let words = if state.has_heard() { "nothing is held or waited for" } else { "looking" };
        lines.push(Line::Plain(format!(" {words}")));
        return lines;
    }
    state.page = rows.saturating_sub(1).max(1);
    let (at, from) = (state.cursor(), window(state.cursor(), state.names.len(), state.page));
    for (here, name) in state.names.iter().enumerate().skip(from).take(state.page) {
        lines.push(Line::row(here == at, &row(&name.name, &cells(name), name_width)));
    }
    lines
}

fn cells(name: &Snapshot) -> [String; 4] {
    let oldest = name.oldest_wait().map_or_else(|| "-".to_owned(), age);
    let state = json::state(name).to_owned();
    [held_in_short(name), name.waiting_total.to_string(), oldest, state]
}

fn row(name: &str, cells: &[String; 4], name_width: usize) -> String {
    let mut text = fill(&cut(&plain(name), name_width), name_width);
    for (at, (cell, (_, width))) in cells.iter().zip(COLUMNS).enumerate() {
        let is_last = at + 1 == COLUMNS.len();
        let cell = if is_last { cell.clone() } else { format!("{cell:>width$}") };
        text.push_str(&format!("{:GAP$}{cell}", ""));
    }
    text
}

/// The first row to show, so that the one `at` which the cursor is is among `page` rows.
fn window(at: usize, rows: usize, page: usize) -> usize {
    (at / page.max(1) * page.max(1)).min(rows.saturating_sub(page))
}

#[cfg(test)]
mod tests;
