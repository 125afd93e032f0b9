//! The view of one name: its holders, its waiters, and why they wait.

use seinpaal::{About, Holder, Slots, Snapshot, Waiter, why::Estimate};
use seinpaal_words::reservation;

use super::{super::state::TopState, ViewLine, window};
use crate::{
    command::show,
    output::{
        text::{age, cut, fill, permits, plain, width, wrap},
        ticket::ShortTickets,
        why,
    },
};

/// The fewest rows for holders, and for waiters, if there are that many.
const LEAST_ROWS: usize = 3;
/// The widest column for the names of slots.
const MOST_NAMES: usize = 16;

pub(super) fn lines(state: &mut TopState, rows: usize, columns: usize) -> Vec<ViewLine> {
    let Some(seen) = state.seen.clone() else { return Vec::new() };
    let mut lines = head(&show::head(&seen), columns);
    // The cursor goes through holders and then through waiters.
    let (at, holding) = (state.row(), seen.holders.len());
    let told = match at.checked_sub(holding) {
        Some(waiter) => told(&seen, waiter, columns),
        None => of_holder(&seen, at, columns),
    };
    // Five lines of the tables are no rows: two empty lines, two heads, and the line about further
    // waiters.
    let left = rows.saturating_sub(lines.len() + told.len() + 5);
    let for_holders = (left / 2).max(LEAST_ROWS).min(holding);
    let short = ShortTickets::of(&seen);
    lines.push(ViewLine::Plain(String::new()));
    lines.extend(holders(&seen, at, for_holders, &short));
    state.page = left.saturating_sub(for_holders).max(LEAST_ROWS);
    lines.extend(waiters(&seen, at.checked_sub(holding), state.page, &short));
    lines.extend(told);
    lines
}

/// Wraps the state of the open name or queue, with the whole reason of a pause, into lines.
pub(super) fn head(text: &str, columns: usize) -> Vec<ViewLine> {
    wrap(text.trim_end(), columns).into_iter().map(ViewLine::Plain).collect()
}

fn holders(seen: &Snapshot, at: usize, rows: usize, short: &ShortTickets) -> Vec<ViewLine> {
    if seen.holders_total == 0 {
        return vec![ViewLine::Plain(" nobody holds".to_owned())];
    }
    let named = SlotNameColumn::of(seen, seen.holders.iter().map(|row| &row.slots));
    let head = format!(" HOLDER        PERMITS   SINCE    LEFT  {}WHO", named.head());
    let mut lines = vec![ViewLine::Head(head)];
    let from = if at < seen.holders.len() { window(at, seen.holders.len(), rows) } else { 0 };
    let shown = seen.holders.iter().enumerate().skip(from).take(rows);
    lines.extend(
        shown.map(|(here, row)| ViewLine::row(here == at, &holder(seen, row, &named, short))),
    );
    let others = (seen.holders_total as usize).saturating_sub(rows);
    if others > 0 {
        lines.push(ViewLine::Plain(format!(" … {others} more")));
    }
    lines
}

fn holder(
    seen: &Snapshot,
    row: &Holder,
    named: &SlotNameColumn<'_>,
    short: &ShortTickets,
) -> String {
    let left = row.valid_for.map_or_else(|| "-".to_owned(), age);
    let permits = permits(seen, row.slots.count());
    let (ticket, since) = (short.short(row.ticket), age(row.held_for));
    let late = row.not_renewed_for().map(|since| format!("not renewed for {}  ", age(since)));
    let (late, who) = (late.unwrap_or_default(), who(&row.about));
    let slots = named.cell(&row.slots);
    format!("{ticket:<12}  {permits:>7}  {since:>6}  {left:>6}  {slots}{late}{who}")
}

fn waiters(seen: &Snapshot, at: Option<usize>, page: usize, short: &ShortTickets) -> Vec<ViewLine> {
    if seen.waiters.is_empty() {
        return vec![ViewLine::Plain(" nobody waits".to_owned())];
    }
    let named = SlotNameColumn::of(seen, seen.waiters.iter().map(|row| &row.wishes));
    let head =
        format!(" WAITER        PERMITS   SINCE     EXPECTED  PRIORITY  {}WHO", named.head());
    let mut lines = vec![ViewLine::Plain(String::new()), ViewLine::Head(head)];
    let from = window(at.unwrap_or(0), seen.waiters.len(), page);
    let estimates = seen.estimates();
    let shown = seen.waiters.iter().zip(&estimates).enumerate().skip(from).take(page);
    let line = |(here, (row, estimate))| {
        ViewLine::row(Some(here) == at, &waiter(seen, row, estimate, &named, short))
    };
    lines.extend(shown.map(line));
    lines
}

fn waiter(
    seen: &Snapshot,
    row: &Waiter,
    estimate: &Estimate,
    named: &SlotNameColumn<'_>,
    short: &ShortTickets,
) -> String {
    let (ticket, since) = (short.short(row.ticket), age(row.waiting_for));
    let (permits, priority) = (permits(seen, row.permits), row.priority);
    let slots = named.cell(&row.wishes);
    let (wait, who) = (why::figure(estimate).unwrap_or_else(|| "-".to_owned()), who(&row.about));
    format!("{ticket:<12}  {permits:>7}  {since:>6}  {wait:>11}  {priority:>8}  {slots}{who}")
}

/// The column for the names of slots. It is left out if none of these slots has a name.
struct SlotNameColumn<'a> {
    seen: &'a Snapshot,
    width: usize,
}

impl<'a> SlotNameColumn<'a> {
    fn of<'s>(seen: &'a Snapshot, slots: impl Iterator<Item = &'s Slots>) -> Self {
        let widths = slots.map(|slots| width(&plain(&seen.slot_names.of(slots).to_string())));
        let widest = widths.max().unwrap_or(0);
        Self { seen, width: if widest == 0 { 0 } else { widest.clamp("SLOTS".len(), MOST_NAMES) } }
    }

    fn head(&self) -> String {
        if self.width == 0 { String::new() } else { fill("SLOTS", self.width + 2) }
    }

    fn cell(&self, slots: &Slots) -> String {
        if self.width == 0 {
            return String::new();
        }
        let names = self.seen.slot_names.of(slots).to_string();
        fill(&cut(&plain(&names), self.width), self.width + 2)
    }
}

fn who(about: &About) -> String {
    let labels = about.labels.iter().map(|(key, value)| format!(" {key}={value}"));
    format!("{}@{}{}", about.pid, about.host, labels.collect::<String>())
}

/// Returns the lines that say why the waiter at the cursor waits.
fn told(seen: &Snapshot, at: usize, columns: usize) -> Vec<ViewLine> {
    let Some(row) = seen.waiters.get(at) else { return Vec::new() };
    let Some(told) = seen.why(&row.ticket) else { return Vec::new() };
    below(&why::lines(seen, row.ticket, &told), columns)
}

/// Returns the line about the reservation that the holder at the cursor is.
fn of_holder(seen: &Snapshot, at: usize, columns: usize) -> Vec<ViewLine> {
    let reserved = seen.holders.get(at).and_then(|row| reservation::of(&row.about));
    let Some((by, until, reason)) = reserved else { return Vec::new() };
    below(&[format!("reserved by {by} until {until}: {reason}")], columns)
}

/// Returns a head and sentences for the place below the table.
fn below(texts: &[String], columns: usize) -> Vec<ViewLine> {
    let mut lines = vec![ViewLine::Plain(String::new())];
    for (at, text) in texts.iter().enumerate() {
        let indent = if at == 0 { 0 } else { 2 };
        for (part, text) in wrap(&plain(text), columns.saturating_sub(2)).iter().enumerate() {
            let before = if part == 0 { 0 } else { indent };
            lines.push(ViewLine::Plain(format!("{}{text}", fill("", before))));
        }
    }
    lines
}
