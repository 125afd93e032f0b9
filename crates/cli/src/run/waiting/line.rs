//! The line on a terminal during the wait. It is drawn over itself, and removed when the wait is
//! over.

use std::{io, time::Duration};

use rustix::{
    process::getpgrp,
    termios::{tcgetpgrp, tcgetwinsize},
};
use seinpaal::{
    Holder, Snapshot,
    why::{Reason, Waits},
};

use crate::output::{
    Voice,
    text::{age, cut, held, ordinal, plain, reason},
    voice::{draw, stderr},
    why::{figure, not_renewed, origin, reason_words},
};

const CLEAR: &str = "\r\x1b[K";
const MOST_HOLDERS: usize = 3;
/// The width of a terminal that does not know its own.
const UNKNOWN_WIDTH: usize = 80;
const LEAST_WIDTH: usize = 20;

/// The line, which is drawn only on a terminal.
#[derive(Debug)]
pub(super) struct WaitingLine {
    is_wanted: bool,
    is_drawn: bool,
}

impl WaitingLine {
    /// Makes the line. With `-v` there is none, because the place is printed line by line.
    pub(super) fn new(voice: Voice) -> Self {
        let is_wanted = voice.is_live() && !voice.is_explaining();
        Self { is_wanted, is_drawn: false }
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    /// Replaces the shown line. Does nothing if the terminal accepts nothing.
    pub(super) fn draw(&mut self, words: &str) {
        if self.is_wanted && is_in_foreground() && stderr().is_idle() {
            self.is_drawn = true;
            draw(&format!("{CLEAR}{}", fitted(&plain(words), columns())));
        }
    }
}

impl Drop for WaitingLine {
    fn drop(&mut self) {
        if self.is_drawn {
            draw(CLEAR);
        }
    }
}

/// Returns whether this job is in the foreground. A job in the background must not draw over the
/// shell's line.
fn is_in_foreground() -> bool {
    tcgetpgrp(io::stderr()).map_or(true, |group| group == getpgrp())
}

/// Returns the text of the line: the place, the estimate, and the obstacle.
pub(super) fn words(snapshot: &Snapshot, place: u32, waits: &Waits) -> String {
    let wait = figure(&waits.estimate).map(|wait| format!(", {wait}")).unwrap_or_default();
    let place = format!("{} of {}{wait}", ordinal(place), snapshot.waiting_total);
    format!("waiting for {}: {place} \u{b7} {}", snapshot.name, obstacle(snapshot, waits))
}

/// Returns the text of the line for a name at which too many hold or wait to read them all.
pub(super) fn words_of_crowd(snapshot: &Snapshot, place: u32) -> String {
    let by = snapshot.holders.first().map(|it| format!(" by {}, \u{2026}", holder(it)));
    let held = || format!("{}{}", held(snapshot), by.unwrap_or_default());
    let obstacle = reason(snapshot).unwrap_or_else(held);
    let place = format!("{} of {}", ordinal(place), snapshot.waiting_total);
    format!("waiting for {}: {place} \u{b7} {obstacle}", snapshot.name)
}

/// Returns the barrier of this waiter: a reason other than the holders and waiters ahead of it. It
/// keeps out all waiters, or this one alone.
pub(super) fn barrier(snapshot: &Snapshot, waits: &Waits) -> Option<String> {
    let is_barrier = |told: &&Reason| {
        !matches!(
            told,
            Reason::Ahead { .. }
                | Reason::Overtaken { .. }
                | Reason::Held { .. }
                | Reason::ReadersHold { .. }
                | Reason::WriterHolds { .. }
                | Reason::NotRenewed { .. }
                | Reason::AboutToBeServed
        )
    };
    let own = || waits.reasons.iter().find(is_barrier).map(|told| reason_words(snapshot, told));
    reason(snapshot).or_else(own)
}

/// Returns the barrier, or else the holders.
fn obstacle(snapshot: &Snapshot, waits: &Waits) -> String {
    if let Some(barrier) = barrier(snapshot, waits) {
        return barrier;
    }
    let mut words = held(snapshot);
    let holders = snapshot.holders.iter().take(MOST_HOLDERS).map(holder).collect::<Vec<_>>();
    if !holders.is_empty() {
        words.push_str(&format!(" by {}", holders.join(", ")));
    }
    if snapshot.holders_total as usize > MOST_HOLDERS {
        words.push_str(", \u{2026}");
    }
    words
}

/// Names a holder, and says since when it holds.
pub(super) fn held_by(holder: &Holder) -> String {
    let since = age(Duration::from_secs(holder.held_for.as_secs()));
    format!("{} for {since}", origin(&holder.about))
}

fn holder(holder: &Holder) -> String {
    let late = not_renewed(holder).map(|late| format!(", {late}")).unwrap_or_default();
    format!("{}{late}", held_by(holder))
}

fn columns() -> usize {
    let columns = tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
    if columns == 0 { UNKNOWN_WIDTH } else { columns.max(LEAST_WIDTH) }
}

/// Cuts the line so that one column stays empty. Some terminals go on in the next row after a
/// character in the last column, and then the line cannot be drawn over.
fn fitted(words: &str, width: usize) -> String {
    cut(words, width - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::text::width;

    #[test]
    fn a_line_never_wraps() {
        assert_eq!(fitted("1234567890", 20), "1234567890");
        assert_eq!(width(&fitted("1234567890", 8)), 7);
        assert_eq!(width(&fitted("構築中構築中", 8)), 7, "a wide character takes two columns");
    }
}
