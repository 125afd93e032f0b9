//! Text for people.

use std::{borrow::Cow, time::Duration};

use seinpaal::{Ending, Kind, MOST_READERS, Snapshot};
use unicode_width::UnicodeWidthChar;

/// Returns the text without characters that could move the cursor or hide something. Names and
/// labels come from other people.
#[must_use]
pub fn plain(text: &str) -> Cow<'_, str> {
    let odd =
        |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if text.contains(odd) { Cow::Owned(text.replace(odd, "\u{fffd}")) } else { Cow::Borrowed(text) }
}

/// Returns how many columns of a terminal the text takes. A Chinese character takes two, and a
/// combining accent none.
#[must_use]
pub fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

fn columns(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// Cuts the text to at most `most` columns. An ellipsis replaces the end that is cut off.
#[must_use]
pub fn cut(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut left = most.saturating_sub(1);
    let fits = |c: &char| match left.checked_sub(columns(*c)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    let kept: String = text.chars().take_while(fits).collect();
    if most == 0 { kept } else { format!("{kept}\u{2026}") }
}

/// Cuts the text as [`cut`] does, but keeps the end and cuts off the beginning.
#[must_use]
pub fn cut_start(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let reversed: String = text.chars().rev().collect();
    cut(&reversed, most).chars().rev().collect()
}

/// Pads the text with spaces to at least `least` columns.
#[must_use]
pub fn fill(text: &str, least: usize) -> String {
    format!("{text}{:1$}", "", least.saturating_sub(width(text)))
}

/// Breaks the text at spaces into lines of at most `most` columns. A word longer than a line is
/// cut.
#[must_use]
pub fn wrap(text: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last().map_or(0, |line| width(line));
        match lines.last_mut() {
            Some(last) if line == 0 => last.push_str(word),
            Some(last) if line + 1 + width(word) <= most => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| cut(line, most)).collect()
}

/// Writes a duration in two units at most: `850ms`, `12s`, `4m12s`, `3h05m`, `2d07h`.
#[must_use]
pub fn age(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        0 => format!("{}ms", duration.as_millis()),
        1..60 => format!("{seconds}s"),
        60..3600 => format!("{minutes}m{:02}s", seconds % 60),
        3600..86_400 => format!("{hours}h{:02}m", minutes % 60),
        _ => format!("{days}d{:02}h", hours % 24),
    }
}

/// Says how much is held: `2 of 4 held`, or for a readers-writer lock `3 readers` or `1 writer`.
#[must_use]
pub fn held(snapshot: &Snapshot) -> String {
    let (held, limit) = (snapshot.permits_held, snapshot.limit);
    match snapshot.kind {
        Some(Kind::RwLock) if held == MOST_READERS => "1 writer".to_owned(),
        Some(Kind::RwLock) if held == 1 => "1 reader".to_owned(),
        Some(Kind::RwLock) => format!("{held} readers"),
        // The limit was lowered after the permits were granted.
        _ if held > limit => format!("{held} held, the limit is {limit} now"),
        _ => format!("{held} of {limit} held"),
    }
}

/// How many permits a writer has.
pub const ALL: &str = "all";

/// Writes a number of permits. A writer of a readers-writer lock has all of them.
#[must_use]
pub fn permits(snapshot: &Snapshot, permits: u32) -> String {
    match (snapshot.kind, permits) {
        (Some(Kind::RwLock), MOST_READERS) => ALL.to_owned(),
        _ => permits.to_string(),
    }
}

/// Returns whether nobody holds or waits and no limit is stored. The limit of a snapshot is then
/// the one that a first request would state.
#[must_use]
pub fn has_no_limit(snapshot: &Snapshot) -> bool {
    snapshot.holders_total == 0 && snapshot.waiting_total == 0 && !snapshot.is_pinned
}

/// Returns whether nobody uses the name, and no operator has set anything for it. It may be
/// mistyped.
#[must_use]
pub fn is_unknown(snapshot: &Snapshot) -> bool {
    has_no_limit(snapshot) && snapshot.paused.is_none() && snapshot.slot_names.is_empty()
}

/// Says why the name admits nobody at all. `None`: waiters wait only for permits that are held.
#[must_use]
pub fn reason(snapshot: &Snapshot) -> Option<String> {
    if let Some(reason) = &snapshot.paused {
        return Some(match reason.as_str() {
            "" => "paused".to_owned(),
            reason => format!("paused: {reason}"),
        });
    }
    if let Some(left) = snapshot.guarded_for {
        // Rounded up: with 0 s the guard would seem to be over.
        let left = left.as_secs() + 1;
        return Some(format!(
            "guarded for {left} s more, because the server may have forgotten leases"
        ));
    }
    (snapshot.limit == 0).then(|| "the limit is 0, which admits nobody".to_owned())
}

/// Says why the delivery of an item ended.
#[must_use]
pub fn delivery_end(ending: &Ending) -> &str {
    match ending {
        Ending::Failed(reason) => reason.as_str(),
        _ => "the lease ran out",
    }
}

/// Writes an ordinal number: `1st`, `2nd`, `3rd`, `4th`, `11th`.
#[must_use]
pub fn ordinal(n: u32) -> String {
    let ending = match (n % 10, n % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_two_units_at_most() {
        let text = |millis| age(Duration::from_millis(millis));
        let read = [850, 12_900, 252_000, 11_100_000, 198_000_000].map(text);
        assert_eq!(read, ["850ms", "12s", "4m12s", "3h05m", "2d07h"]);
    }

    #[test]
    fn text_is_cut_filled_and_wrapped_by_columns_and_not_by_characters() {
        assert_eq!((width("構築"), width("e\u{301}"), width("ab")), (4, 1, 2));
        assert_eq!(
            (cut("構築中", 6), cut("構築中", 5), cut("構築中", 4)),
            ("構築中".to_owned(), "構築\u{2026}".to_owned(), "構\u{2026}".to_owned())
        );
        assert_eq!((cut("ab", 1), cut("ab", 0)), ("\u{2026}".to_owned(), String::new()));
        assert_eq!(
            (cut_start("構築中", 5), cut_start("ab", 2)),
            ("…築中".to_owned(), "ab".to_owned())
        );
        assert_eq!(fill("構", 4), "構  ");
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a 構築中構築中", 6), ["a", "構築\u{2026}"]);
    }

    #[test]
    fn ordinals_end_as_people_say_them() {
        let read = [1, 2, 3, 4, 11, 12, 13, 21, 111].map(ordinal);
        assert_eq!(read, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "111th"]);
    }

    #[test]
    fn control_and_direction_characters_are_not_printed() {
        assert_eq!(plain("a\u{1b}[2Jb\u{202e}c"), "a\u{fffd}[2Jb\u{fffd}c");
    }
}
