//! The scenarios: imitations of users, one in each file. Each scenario plays on one store, and many
//! scenarios play at once.

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

use crate::{stage::ScenarioStage, store::StoreSetting};

/// An imitation of users.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// The scenario's name, in the history and in the names that it uses.
    pub title: &'static str,
    /// Returns whether the scenario can play on this store.
    pub is_for: fn(StoreSetting) -> bool,
    /// Whether the scenario's jobs give up soon. Such a scenario waits until a fresh quorum admits
    /// clients.
    pub is_hurried: bool,
    /// Plays the scenario.
    pub play: fn(&ScenarioStage<'_>),
}

const fn all(_: StoreSetting) -> bool {
    true
}

/// The scenarios that play while all is well, or while the store is silent for so short a time that
/// no job notices.
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

/// The scenarios around an outage that is longer than the ttl. No other scenario plays then.
pub const OUTAGE: Scenario = Scenario {
    title: "outage",
    is_for: StoreSetting::has_servers,
    is_hurried: false,
    play: outage::play,
};
