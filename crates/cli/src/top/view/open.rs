//! The view of one name: its holders, its waiters, and why they wait.

use seinpaal::{About, Holder, Snapshot, Waiter};

use super::{super::state::State, Line, window};
use crate::{
    command::show,
    output::{
        text::{age, fill, plain, wrap},
        ticket::ShortTickets,
        why,
    },
};

/// Of the rows for holders and waiters, at least so many for each, if there are that many.
const LEAST_ROWS: usize = 3;

pub(super) fn lines(state: &mut State, rows: usize, columns: usize) -> Vec<Line> {
    let Some(seen) = state.seen.clone() else { return Vec::new() };
    let mut lines = vec![Line::Plain(show::head(&seen).trim_end().to_owned())];
    // The cursor goes through holders and then through waiters.
    let (at, holding) = (state.row(), seen.holders.len());
    let told = told(&seen, at.checked_sub(holding), columns);
    let left = rows.saturating_sub(lines.len() + told.len() + 5);
    let for_holders = (left / 2).max(LEAST_ROWS).min(holding);
    let short = ShortTickets::of(&seen);
    lines.push(Line::Plain(String::new()));
    lines.extend(holders(&seen, at, for_holders, &short));
    state.page = left.saturating_sub(for_holders).max(LEAST_ROWS);
    lines.extend(waiters(&seen, at.checked_sub(holding), state.page, &short));
    lines.extend(told);
    lines
}

fn holders(seen: &Snapshot, at: usize, rows: usize, short: &ShortTickets) -> Vec<Line> {
    if seen.holders_total == 0 {
        return vec![Line::Plain(" nobody holds".to_owned())];
    }
    let mut lines = vec![Line::Head(" HOLDER        PERMITS   SINCE    LEFT  WHO".to_owned())];
    let from = if at < seen.holders.len() { window(at, seen.holders.len(), rows) } else { 0 };
    let shown = seen.holders.iter().enumerate().skip(from).take(rows);
    lines.extend(shown.map(|(here, row)| Line::row(here == at, &holder(row, short))));
    let others = (seen.holders_total as usize).saturating_sub(rows);
    if others > 0 {
        lines.push(Line::Plain(format!(" … {others} more")));
    }
    lines
}

fn holder(row: &Holder, short: &ShortTickets) -> String {
    let left = row.valid_for.map_or_else(|| "-".to_owned(), age);
    let permits = row.slots.count();
    let (ticket, since) = (short.short(row.ticket), age(row.held_for));
    let late = row.not_renewed_for().map(|since| format!("not renewed for {}  ", age(since)));
    let (late, who) = (late.unwrap_or_default(), who(&row.about));
    format!("{ticket:<12}  {permits:>7}  {since:>6}  {left:>6}  {late}{who}")
}

fn waiters(seen: &Snapshot, at: Option<usize>, page: usize, short: &ShortTickets) -> Vec<Line> {
    if seen.waiters.is_empty() {
        return vec![Line::Plain(" nobody waits".to_owned())];
    }
    let head = " WAITER        PERMITS   SINCE  PRIORITY  WHO";
    let mut lines = vec![Line::Plain(String::new()), Line::Head(head.to_owned())];
    let from = window(at.unwrap_or(0), seen.waiters.len(), page);
    let shown = seen.waiters.iter().enumerate().skip(from).take(page);
    lines.extend(shown.map(|(here, row)| Line::row(Some(here) == at, &waiter(row, short))));
    lines
}

fn waiter(row: &Waiter, short: &ShortTickets) -> String {
    let (ticket, since) = (short.short(row.ticket), age(row.waiting_for));
    let (permits, priority) = (row.permits, row.priority);
    format!("{ticket:<12}  {permits:>7}  {since:>6}  {priority:>8}  {}", who(&row.about))
}

fn who(about: &About) -> String {
    let labels = about.labels.iter().map(|(key, value)| format!(" {key}={value}"));
    format!("{}@{}{}", about.pid, about.host, labels.collect::<String>())
}

/// Why the waiter at the cursor waits.
fn told(seen: &Snapshot, at: Option<usize>, columns: usize) -> Vec<Line> {
    let Some(row) = seen.waiters.get(at.unwrap_or(usize::MAX)) else { return Vec::new() };
    let Some(told) = seen.why(&row.ticket) else { return Vec::new() };
    let mut lines = vec![Line::Plain(String::new())];
    for (at, text) in why::lines(seen, row.ticket, &told).iter().enumerate() {
        let indent = if at == 0 { 0 } else { 2 };
        for (part, text) in wrap(&plain(text), columns.saturating_sub(2)).iter().enumerate() {
            let before = if part == 0 { 0 } else { indent };
            lines.push(Line::Plain(format!("{}{text}", fill("", before))));
        }
    }
    lines
}
