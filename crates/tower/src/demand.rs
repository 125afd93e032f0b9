//! What a request asks for.

/// A name, and how many permits of it. The name is the key: requests of other names do not know of
/// each other.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
pub struct Demand {
    pub(crate) name: String,
    pub(crate) limit: Option<u32>,
    pub(crate) permits: u32,
    pub(crate) priority: i32,
}

impl Demand {
    /// One permit of this name: 1 to 512 bytes without control characters. A request with a bad
    /// name is refused.
    pub fn of(name: impl Into<String>) -> Self {
        Self { name: name.into(), limit: None, permits: 1, priority: 0 }
    }

    /// At most so many permits of the name exist, 1 to 1 000 000, in all processes together.
    /// Without it the limit that an operator has set counts, or else 1. Callers that disagree are
    /// refused.
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Takes so many permits at once; 1 unless this says otherwise. More than the limit is refused.
    pub fn permits(mut self, permits: u32) -> Self {
        self.permits = permits;
        self
    }

    /// The rank among those who wait, -100 to 100; higher first, and waiting raises it.
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }
}
