//! The load of a field: how clients behave, and a client's record of a permit.

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

/// The load of a field: its clients, their names, and how long they hold, wait and rest.
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
    /// The seed of all random numbers.
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
    /// When the client asked for the permit.
    pub asked: Instant,
    /// When the client had the permit in hand.
    pub from: Instant,
    /// When the client last looked and still held the permit.
    pub until: Instant,
    /// Whether the permit was lost.
    pub was_lost: bool,
}
