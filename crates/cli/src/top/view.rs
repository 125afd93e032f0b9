//! Draws: turns the state and the size of the screen into lines that are not wider than the screen.

mod help;
mod open;
mod queue;

use seinpaal::{Name, Snapshot};

use super::{state::TopState, watch::ListTab};
use crate::{
    command::list::held_in_short,
    output::{
        json,
        text::{age, cut, fill, plain, width, wrap},
    },
};

/// The size of the screen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

/// A line of the screen.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum ViewLine {
    Plain(String),
    /// A heading.
    Head(String),
    /// The line of the cursor.
    Chosen(String),
}

impl ViewLine {
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

/// Returns all lines of the screen, at most as many as it has rows.
pub(super) fn lines(state: &mut TopState, size: Size) -> Vec<ViewLine> {
    let mut lines = vec![ViewLine::Head(head(state)), ViewLine::Plain(trouble(state))];
    let foot = foot(state, size);
    let above = size.rows.saturating_sub(foot.len());
    let rows = above.saturating_sub(lines.len());
    let body = match (state.shows_help, state.look.open.is_some(), state.look.tab) {
        (true, ..) => help::lines(),
        (_, true, ListTab::Names) => open::lines(state, rows, size.columns),
        (_, true, ListTab::Queues) => queue::open(state, rows, size.columns),
        (_, false, ListTab::Names) => names(state, rows, size.columns),
        (_, false, ListTab::Queues) => queue::all(state, rows, size.columns),
    };
    lines.extend(body);
    lines.truncate(above);
    lines.resize(above, ViewLine::Plain(String::new()));
    lines.extend(foot);
    lines.into_iter().map(|line| line.cut(size.columns)).collect()
}

/// Returns the foot: the question, in as many lines as it needs, or the keys.
fn foot(state: &TopState, size: Size) -> Vec<ViewLine> {
    let asked = state.prompt.as_ref().map(|prompt| wrap(&plain(&prompt.line()), size.columns));
    let mut foot = asked.unwrap_or_else(|| vec![keys(state)]);
    // If there is little room, the end of the question stays, because it names the keys.
    let most = (size.rows / 2).max(1);
    foot.drain(..foot.len().saturating_sub(most));
    let line =
        |text| if state.prompt.is_some() { ViewLine::Head(text) } else { ViewLine::Plain(text) };
    foot.into_iter().map(line).collect()
}

fn head(state: &TopState) -> String {
    let count = |number: usize, one: &str| match number {
        1 => format!("1 {one}"),
        number => format!("{number} {one}s"),
    };
    let what = match state.look.tab {
        ListTab::Names => {
            let waiting: u64 = state.names.iter().map(|name| u64::from(name.waiting_total)).sum();
            let names = count(state.names.len(), "name");
            format!("{names}, {waiting} waiting, by {}", state.sort.word())
        }
        ListTab::Queues => {
            let ready: u64 = state.queues.iter().map(|queue| u64::from(queue.ready)).sum();
            let (queues, order) = (count(state.queues.len(), "queue"), state.queue_order.word());
            format!("{queues}, {ready} ready, by {order}")
        }
    };
    let filter = state.filter.as_deref().filter(|text| !text.is_empty() && !state.is_filtering);
    let filter = filter.map_or_else(String::new, |text| format!(", with \"{text}\""));
    format!("seinpaal top: {what}{filter} · {}", state.store)
}

/// Returns the second line: the result of an action, or the news that the store is silent. The head
/// already names the store.
fn trouble(state: &TopState) -> String {
    let told = state.told().unwrap_or_default().to_owned();
    let Some((silent, error)) = state.silence() else { return told };
    let error = error.unwrap_or("it does not answer");
    let error = error.strip_prefix(&format!("{}: ", state.store)).unwrap_or(error);
    format!("store unreachable for {}, still trying: {error}", age(silent))
}

fn keys(state: &TopState) -> String {
    if state.is_filtering {
        let text = state.filter.as_deref().unwrap_or_default();
        return format!("/{text}_   enter: keep · esc: all");
    }
    if let Some(text) = &state.searching {
        return format!("/{text}_   enter: find in this queue · esc: leave");
    }
    let words = match (state.shows_help, state.look.open.is_some(), state.look.tab) {
        (true, ..) => "any key: back",
        (_, true, ListTab::Names) => {
            "up/down: choose · a: actions · esc: back · ?: help · q: leave"
        }
        (_, true, ListTab::Queues) if state.look.matching.is_empty() => {
            "up/down: choose · /: find · a: actions · esc: back · ?: help · q: leave"
        }
        (_, true, ListTab::Queues) => {
            "up/down: choose · a: actions on all found, too · esc: all items · q: leave"
        }
        (_, _, ListTab::Names) => {
            "enter: open · s: sort · /: find · a: actions · tab: queues · ?: help · q: leave"
        }
        (_, _, ListTab::Queues) => {
            "enter: open · s: sort · /: find · a: actions · tab: names · ?: help · q: leave"
        }
    };
    words.to_owned()
}

/// The columns of a table besides the name: headings and widths.
type Columns<const N: usize> = [(&'static str, usize); N];

const COLUMNS: Columns<4> = [("HELD", 11), ("WAITING", 7), ("OLDEST", 7), ("STATE", 7)];
const LEAST_NAME: usize = 4;
const GAP: usize = 2;

fn names(state: &mut TopState, rows: usize, columns: usize) -> Vec<ViewLine> {
    state.page = rows.saturating_sub(1).max(1);
    let at = state.cursor();
    let listed = state.listed();
    let others: usize = COLUMNS.iter().map(|(_, width)| width + GAP).sum();
    let name_width = name_width(&listed, columns.saturating_sub(others + 1));
    let head = COLUMNS.map(|(head, _)| head.to_owned());
    let mut lines = vec![ViewLine::Head(format!(" {}", row("NAME", &head, COLUMNS, name_width)))];
    if listed.is_empty() {
        lines.push(nothing(state, "nothing is held or waited for"));
        return lines;
    }
    let is_listed = |seen: &&Snapshot| state.lets_through(&seen.name);
    let shown = state.names.iter().filter(is_listed).enumerate();
    for (here, seen) in shown.skip(window(at, listed.len(), state.page)).take(state.page) {
        lines.push(ViewLine::row(here == at, &row(&seen.name, &cells(seen), COLUMNS, name_width)));
    }
    lines
}

/// Returns the width of the names' column: that of the widest name, if there is room.
fn name_width(listed: &[&Name], most: usize) -> usize {
    let longest = listed.iter().map(|name| width(&plain(name))).max().unwrap_or(0);
    longest.clamp(LEAST_NAME, most.max(LEAST_NAME))
}

/// Says why a list is empty.
fn nothing(state: &TopState, usual: &str) -> ViewLine {
    let is_filtered = state.filter.as_deref().is_some_and(|text| !text.is_empty());
    let words = match (state.has_heard(), is_filtered) {
        (false, _) => "looking",
        (true, true) => "no name contains that text",
        (true, false) => usual,
    };
    ViewLine::Plain(format!(" {words}"))
}

fn cells(name: &Snapshot) -> [String; 4] {
    let oldest = name.oldest_wait().map_or_else(|| "-".to_owned(), age);
    let state = json::state(name).to_owned();
    [held_in_short(name), name.waiting_total.to_string(), oldest, state]
}

fn row<const N: usize>(
    name: &str,
    cells: &[String; N],
    columns: Columns<N>,
    name_width: usize,
) -> String {
    let mut text = fill(&cut(&plain(name), name_width), name_width);
    for (at, (cell, (_, width))) in cells.iter().zip(columns).enumerate() {
        let is_last = at + 1 == N;
        let cell = if is_last { cell.clone() } else { format!("{cell:>width$}") };
        text.push_str(&format!("{:GAP$}{cell}", ""));
    }
    text
}

/// Returns the first row to show, so that the row `at` the cursor is among the `page` rows shown.
fn window(at: usize, rows: usize, page: usize) -> usize {
    (at / page.max(1) * page.max(1)).min(rows.saturating_sub(page))
}

#[cfg(test)]
mod tests;
