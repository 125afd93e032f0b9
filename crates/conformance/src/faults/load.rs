//! What the clients of a field do, and what each of them tells of a permit.

use std::time::{Duration, Instant};

use seinpaal::Ticket;

/// How clients behave for the time being.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Pace {
    /// They come and go.
    #[default]
    Normal,
    /// They take no permits.
    Quiet,
    /// They hold on to what they take.
    Rush,
}

/// How long a client holds a permit: by a number that is drawn for it, and the pace.
pub type Hold = fn(client: usize, pace: Pace, drawn: u64) -> Duration;

/// What clients do.
#[derive(Clone, Debug)]
pub struct Load {
    /// How many clients, each with a connection of its own. They are spread over the names in turn.
    pub clients: usize,
    /// The names, each with its limit.
    pub names: Vec<(String, u32)>,
    /// The ttl of each permit; `None`: the library's own.
    pub ttl: Option<Duration>,
    /// How long a client waits for a permit before it asks again; `None`: for as long as it takes.
    pub wait: Option<Duration>,
    /// How long a client holds what it has.
    pub hold: Hold,
    /// How long a client rests between two permits, at most.
    pub rest: Duration,
    /// From which what is left to chance is drawn.
    pub seed: u64,
}

/// One permit as its holder believed in it.
#[derive(Clone, Debug)]
pub struct HeldPermit {
    /// The ticket.
    pub ticket: Ticket,
    /// Its slot.
    pub slot: u32,
    /// Its fence.
    pub fence: u64,
    /// When it was asked for.
    pub asked: Instant,
    /// When its holder had it.
    pub from: Instant,
    /// When its holder gave it back or found it lost.
    pub until: Instant,
    /// Whether it was lost.
    pub was_lost: bool,
}
