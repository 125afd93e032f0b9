//! The one line on a terminal while we wait: drawn over itself, gone when we are in.

use std::{
    io::{self, Write},
    time::Duration,
};

use rustix::{
    process::getpgrp,
    termios::{tcgetpgrp, tcgetwinsize},
};
use seinpaal::{Holder, Snapshot};

use crate::output::{
    Voice,
    text::{age, held, ordinal, plain},
};

const CLEAR: &str = "\r\x1b[K";
const MOST_HOLDERS: usize = 3;
/// Of a terminal that does not know its own.
const UNKNOWN_WIDTH: usize = 80;
const LEAST_WIDTH: usize = 20;

/// The line, drawn or not.
#[derive(Debug)]
pub(super) struct Line {
    is_wanted: bool,
    is_drawn: bool,
    /// The place that was shown last; 0: none yet.
    pub(super) place: u32,
}

impl Line {
    pub(super) fn new(voice: Voice) -> Self {
        Self { is_wanted: voice.is_live(), is_drawn: false, place: 0 }
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    pub(super) fn draw(&mut self, snapshot: &Snapshot, place: u32) {
        self.place = place;
        if self.is_wanted && is_in_foreground() {
            self.is_drawn = true;
            write(&format!("{CLEAR}{}", cut(&words(snapshot, place), width())));
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.is_drawn {
            write(CLEAR);
        }
    }
}

/// A job in the background leaves the shell's line alone.
fn is_in_foreground() -> bool {
    tcgetpgrp(io::stderr()).map_or(true, |group| group == getpgrp())
}

fn words(snapshot: &Snapshot, place: u32) -> String {
    let mut words = format!(
        "waiting for {}: {} of {} \u{b7} {}",
        snapshot.name,
        ordinal(place),
        snapshot.waiting_total,
        held(snapshot),
    );
    if snapshot.paused.is_some() {
        words.push_str(", paused");
    }
    let holders = snapshot.holders.iter().take(MOST_HOLDERS).map(holder).collect::<Vec<_>>();
    if !holders.is_empty() {
        words.push_str(&format!(" by {}", holders.join(", ")));
    }
    if snapshot.holders_total as usize > MOST_HOLDERS {
        words.push_str(", \u{2026}");
    }
    plain(&words).into_owned()
}

fn holder(holder: &Holder) -> String {
    let about = &holder.about;
    let since = age(Duration::from_secs(holder.held_for.as_secs()));
    format!("{}@{} for {since}", about.pid, about.host)
}

fn width() -> usize {
    let columns = tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
    if columns == 0 { UNKNOWN_WIDTH } else { columns.max(LEAST_WIDTH) }
}

fn cut(words: &str, width: usize) -> String {
    if words.chars().count() < width {
        return words.to_owned();
    }
    words.chars().take(width - 2).chain(['\u{2026}']).collect()
}

fn write(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_never_wraps() {
        assert_eq!(cut("1234567890", 20), "1234567890");
        assert_eq!(cut("1234567890", 8).chars().count(), 7);
    }
}
