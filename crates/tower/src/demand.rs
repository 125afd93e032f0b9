//! The demand of a request: the permits that it needs.

use seinpaal::OnMismatch;

/// A name, and a number of its permits. The name is the key: requests for different names do not
/// wait for each other.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
pub struct Demand {
    pub(crate) name: String,
    pub(crate) limit: Option<u32>,
    pub(crate) on_mismatch: OnMismatch,
    pub(crate) permits: u32,
    pub(crate) priority: i32,
}

impl Demand {
    /// Makes a demand for one permit of this name: 1 to 512 bytes without control characters. A
    /// request with a bad name is refused.
    pub fn of(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            limit: None,
            on_mismatch: OnMismatch::Adopt,
            permits: 1,
            priority: 0,
        }
    }

    /// States how many permits of the name exist, 0 to 1 000 000 000, in all processes together. While
    /// holders and waiters have stated another limit, that one is in force, unless
    /// [`on_mismatch`](Self::on_mismatch) says otherwise. If an operator has set a limit, that limit
    /// is in force and this one is ignored without an error. A request that states no limit uses the
    /// limit that others state, or else 1.
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Sets the rule for the case that holders or waiters have stated another limit: adopt theirs
    /// (the default), set this one for all, or refuse the request. A service that never runs out of
    /// requests changes its limit with [`OnMismatch::Set`], because requests that adopt a limit
    /// keep it in force.
    pub fn on_mismatch(mut self, on_mismatch: OnMismatch) -> Self {
        self.on_mismatch = on_mismatch;
        self
    }

    /// Sets how many permits the request takes at once, 1 to 1 000 000 000. Default 1. A request
    /// for more than the limit is refused.
    pub fn permits(mut self, permits: u32) -> Self {
        self.permits = permits;
        self
    }

    /// Sets the priority among waiters, -100 to 100, higher first. Default 0. Ten seconds of
    /// waiting outweigh one step.
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }
}
