//! The restart guard: for how long a server that may have lost its memory admits nobody.

use std::time::Duration;

use super::parse_duration;

/// The length of a restart guard, from 125 ms to 30 h. See docs/decisions/restart-guard.md.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RestartGuard(Duration);

impl RestartGuard {
    /// The guard of `restart-guard=on`, for ttls up to the default of 30 s.
    pub const ON: Self = Self(Duration::from_millis(37_500));

    const SHORTEST: Duration = Duration::from_millis(125);
    const LONGEST: Duration = Duration::from_secs(30 * 3600);

    /// Makes a guard of this length; `None` if the length is out of range.
    #[must_use]
    pub fn new(length: Duration) -> Option<Self> {
        (Self::SHORTEST..=Self::LONGEST).contains(&length).then_some(Self(length))
    }

    /// Returns the shortest guard for this ttl. It is a quarter longer than the ttl, for a step of
    /// the server's clock.
    #[must_use]
    pub fn for_ttl(ttl: Duration) -> Duration {
        ttl + ttl / 4
    }

    /// Returns the longest ttl for which the guard is long enough.
    #[must_use]
    pub fn longest_ttl(self) -> Duration {
        self.0 * 4 / 5
    }

    /// Returns the length of the guard.
    #[must_use]
    pub fn length(self) -> Duration {
        self.0
    }

    /// Parses `on`, `off` or a duration.
    pub(super) fn parse(text: &str) -> Option<Option<Self>> {
        match text {
            "off" => Some(None),
            "on" => Some(Some(Self::ON)),
            text => parse_duration(text).ok().and_then(Self::new).map(Some),
        }
    }
}
