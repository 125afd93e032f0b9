//! All keys.

use super::Line;

const WORDS: [&str; 16] = [
    "up down (k j), page up, page down, home end (g G)   move",
    "enter, right (l)    open a name or queue",
    "escape, left (h)    back to all of them, or forget what was looked for",
    "tab                 from names to queues, and back",
    "/                   only those with this in their name",
    "s                   sort names by the next column",
    "a                   actions on what the cursor is on; each is asked again",
    "q                   leave",
    "",
    "Actions are those of the commands: limit, limit --unset, pause, resume,",
    "evict; queue limit, pause, resume, cancel, purge, dead --replay and --drop.",
    "",
    "In an open name the cursor goes through the holders and then through",
    "the waiters. Of a waiter it is told why it waits, and about how long.",
    "",
    "A ticket as it stands here is one that every command takes.",
];

pub(super) fn lines() -> Vec<Line> {
    WORDS.iter().map(|words| Line::Plain(format!(" {words}"))).collect()
}
