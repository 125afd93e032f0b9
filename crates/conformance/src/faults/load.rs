//! The load of a field: what clients do, and what each of them tells of a permit.

use std::time::{Duration, Instant};

use seinpaal::Ticket;

/// How clients behave at present.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Pace {
    /// Clients come and go.
    #[default]
    Normal,
    /// Clients take no permits.
    Quiet,
    /// Clients hold on to the permits that they take.
    Rush,
}

/// Returns how long a client holds a permit, from a number that is drawn for it and the pace.
pub type HoldLength = fn(client: usize, pace: Pace, drawn: u64) -> Duration;

/// What the clients of a field do.
#[derive(Clone, Debug)]
pub struct ClientLoad {
    /// How many clients, each with a connection of its own. They are spread over the names in turn.
    pub clients: usize,
    /// The names, each with its limit.
    pub names: Vec<(String, u32)>,
    /// The ttl of each permit. `None` is the library's own.
    pub ttl: Option<Duration>,
    /// How long a client waits for a permit before it asks again. `None` waits as long as it takes.
    pub wait: Option<Duration>,
    /// How long a client holds a permit.
    pub hold: HoldLength,
    /// The longest rest of a client between two permits.
    pub rest: Duration,
    /// The seed of all that is drawn.
    pub seed: u64,
}

/// One permit as its holder believed in it.
#[derive(Clone, Debug)]
pub struct HeldPermit {
    /// The ticket.
    pub ticket: Ticket,
    /// The slot.
    pub slot: u32,
    /// The fence.
    pub fence: u64,
    /// When the client asked for it.
    pub asked: Instant,
    /// When the client had it in hand.
    pub from: Instant,
    /// When the client last looked and still held it.
    pub until: Instant,
    /// Whether it was lost.
    pub was_lost: bool,
}
