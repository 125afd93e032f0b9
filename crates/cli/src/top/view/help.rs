//! All keys.

use super::ViewLine;

const WORDS: [&str; 18] = [
    "up down (k j), page up, page down, home end (g G)   move",
    "enter, right (l)    open a name or queue",
    "escape, left (h)    back to the list, or end the search",
    "tab                 from names to queues, and back",
    "/                   show only names that contain a text",
    "s                   sort names by the next column",
    "a                   actions on the row at the cursor; each asks for confirmation",
    "q                   leave",
    "",
    "The actions are those of the commands limit, limit --unset, pause, resume,",
    "evict, ask; queue limit, pause, resume, cancel, purge, dead --replay and",
    "--drop.",
    "",
    "In an open name the cursor moves through the holders and then through",
    "the waiters. For a waiter, a line says why it waits and about how long; for a",
    "holder, who asked it to hand over.",
    "",
    "Every command accepts a ticket as it is written here.",
];

pub(super) fn lines() -> Vec<ViewLine> {
    WORDS.iter().map(|words| ViewLine::Plain(format!(" {words}"))).collect()
}
