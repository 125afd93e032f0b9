//! Text for people.

use std::{borrow::Cow, time::Duration};

use seinpaal::{Kind, Snapshot, proto::MOST_READERS};

/// The text without what could move the cursor or hide something: names and labels are other people's.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let odd =
        |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if text.contains(odd) { Cow::Owned(text.replace(odd, "\u{fffd}")) } else { Cow::Borrowed(text) }
}

/// An age or a remainder, in two units at most: `850ms`, `12s`, `4m12s`, `3h05m`, `2d07h`.
pub(crate) fn age(duration: Duration) -> String {
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

/// What is held: `2 of 4 held`, or of a readers-writer lock `3 readers`, `1 writer`.
pub(crate) fn held(snapshot: &Snapshot) -> String {
    let (held, limit) = (snapshot.permits_held, snapshot.limit);
    match snapshot.kind {
        Some(Kind::RwLock) if held == MOST_READERS => "1 writer".to_owned(),
        Some(Kind::RwLock) if held == 1 => "1 reader".to_owned(),
        Some(Kind::RwLock) => format!("{held} readers"),
        // The reason says the rest.
        _ if limit == 0 => format!("{held} held"),
        // The limit was lowered since they got in.
        _ if held > limit => format!("{held} held, the limit is {limit} now"),
        _ => format!("{held} of {limit} held"),
    }
}

/// Why nobody gets in, whoever holds: `None` if it is only a matter of who holds.
pub(crate) fn reason(snapshot: &Snapshot) -> Option<String> {
    if let Some(reason) = &snapshot.paused {
        return Some(match reason.as_str() {
            "" => "paused".to_owned(),
            reason => format!("paused: {reason}"),
        });
    }
    if let Some(left) = snapshot.guarded_for {
        let left = left.as_secs() + 1;
        return Some(format!(
            "guarded for {left} s more, because the server may have forgotten leases"
        ));
    }
    (snapshot.limit == 0).then(|| "the limit is 0, which admits nobody".to_owned())
}

/// `1st`, `2nd`, `3rd`, `4th`, `11th`.
pub(crate) fn ordinal(n: u32) -> String {
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
    fn ordinals_end_as_people_say_them() {
        let read = [1, 2, 3, 4, 11, 12, 13, 21, 111].map(ordinal);
        assert_eq!(read, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "111th"]);
    }

    #[test]
    fn control_and_direction_characters_are_not_printed() {
        assert_eq!(plain("a\u{1b}[2Jb\u{202e}c"), "a\u{fffd}[2Jb\u{fffd}c");
    }
}
