//! The help of `top`: all keys.

use super::ViewLine;

const WORDS: [&str; 18] = [
    "up down (k j), page up, page down, home end (g G)   move",
    "enter, right (l)    open a name or queue",
    "escape, left (h)    back to the list, or end the search",
    "tab                 from names to queues, and back",
    "/                   show only names that contain a text; in a queue, find items",
    "s                   sort by the next column",
    "a                   actions on the row at the cursor; each asks first",
    "q                   leave",
    "",
    "The actions are those of the pages: limit, unset the limit, pause, resume,",
    "reserve, evict; of a queue limit, pause, resume, purge, cancel one item or all",
    "of its state, replay or drop one dead letter or all. After a search in an open",
    "queue, \"all\" means all items that match, also those not on the screen.",
    "",
    "In an open name the cursor moves through the holders and then through",
    "the waiters. For a waiter, a line says why it waits and about how long.",
    "",
    "Every command accepts a ticket as it is written here.",
];

pub(super) fn lines() -> Vec<ViewLine> {
    WORDS.iter().map(|words| ViewLine::Plain(format!(" {words}"))).collect()
}
