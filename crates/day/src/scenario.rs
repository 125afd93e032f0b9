//! What users do, a file each. Each is a small play on one store; many play at once.

mod also;
mod kills;
mod line;
mod long_wait;
mod mix;
pub(crate) mod outage;
mod pages;
mod queue;
mod script;
mod stops;
mod terminal;
mod ticks;
mod watch;

use crate::{stage::Stage, store::Store};

/// Something that users do.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// What it is called in the history and in the names that it uses.
    pub title: &'static str,
    /// Whether this store has what it takes.
    pub is_for: fn(Store) -> bool,
    /// Whether it gives up soon, and so waits until a fresh quorum lets anybody in.
    pub is_hurried: bool,
    /// Plays it.
    pub play: fn(&Stage<'_>),
}

const fn all(_: Store) -> bool {
    true
}

/// What goes on while all is well, or the store is silent for a moment that nobody notices.
pub const CALM: &[Scenario] = &[
    Scenario { title: "mix", is_for: all, is_hurried: true, play: mix::play },
    Scenario { title: "line", is_for: all, is_hurried: false, play: line::play },
    Scenario { title: "long", is_for: all, is_hurried: false, play: long_wait::play },
    Scenario { title: "ticks", is_for: all, is_hurried: true, play: ticks::play },
    Scenario { title: "pages", is_for: all, is_hurried: false, play: pages::play },
    Scenario { title: "also", is_for: all, is_hurried: false, play: also::play },
    Scenario { title: "script", is_for: all, is_hurried: true, play: script::play },
    Scenario { title: "queue", is_for: all, is_hurried: false, play: queue::play },
    Scenario { title: "stops", is_for: all, is_hurried: true, play: stops::play },
    Scenario { title: "kills", is_for: all, is_hurried: false, play: kills::play },
    Scenario { title: "terminal", is_for: all, is_hurried: true, play: terminal::play },
    Scenario { title: "watch", is_for: all, is_hurried: true, play: watch::play },
];

/// What goes on around an outage that is longer than the ttl. Nothing else does then.
pub const OUTAGE: Scenario =
    Scenario { title: "outage", is_for: Store::has_servers, is_hurried: false, play: outage::play };
