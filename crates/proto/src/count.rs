//! Counts that cannot leave their range.

use core::fmt;

/// The most permits a name can have.
pub const MAX_LIMIT: u32 = 1_000_000_000;

/// The number of readers that a readers-writer lock admits at once. A writer takes as many permits.
pub const MOST_READERS: u32 = 1_000_000;

/// The number of permits that exist at a name: 0 (nobody is admitted) to [`MAX_LIMIT`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Limit(u32);

/// The number of permits that one request asks for: 1 to [`MAX_LIMIT`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Permits(u32);

/// The rank of a request among waiters, or of an item in its queue: −100 to 100, higher first. One
/// step of priority is worth ten seconds of waiting for a request, and a minute for an item. So
/// nothing waits for ever.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Priority(i8);

impl Limit {
    /// The limit of a name to which nobody has given a limit.
    pub const ONE: Self = Self(1);
    /// The limit of a readers-writer lock.
    pub const READERS: Self = Self(MOST_READERS);

    /// Makes a limit of `count` permits.
    ///
    /// # Errors
    /// [`BadCount`] if `count` is above [`MAX_LIMIT`].
    pub fn new(count: u32) -> Result<Self, BadCount> {
        if count > MAX_LIMIT { Err(BadCount::Limit(u64::from(count))) } else { Ok(Self(count)) }
    }

    /// Returns the limit as a number.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

impl Permits {
    /// One permit.
    pub const ONE: Self = Self(1);
    /// All permits of a readers-writer lock.
    pub const READERS: Self = Self(MOST_READERS);

    /// Makes a count of `count` permits for a request.
    ///
    /// # Errors
    /// [`BadCount`] if `count` is 0 or above [`MAX_LIMIT`].
    pub fn new(count: u32) -> Result<Self, BadCount> {
        if count == 0 || count > MAX_LIMIT {
            return Err(BadCount::Permits(u64::from(count)));
        }
        Ok(Self(count))
    }

    /// Returns the count as a number.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

impl Priority {
    /// Makes a priority.
    ///
    /// # Errors
    /// [`BadCount`] outside −100…100.
    pub fn new(priority: i32) -> Result<Self, BadCount> {
        match i8::try_from(priority) {
            Ok(p) if (-100..=100).contains(&p) => Ok(Self(p)),
            _ => Err(BadCount::Priority(i64::from(priority))),
        }
    }

    /// Returns the priority as a number.
    #[must_use]
    pub fn get(self) -> i8 {
        self.0
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Permits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A number outside its range.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BadCount {
    /// Not a limit.
    Limit(u64),
    /// Not a number of permits.
    Permits(u64),
    /// Not a priority.
    Priority(i64),
}

impl fmt::Display for BadCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(n) => write!(f, "a limit is 0 to {MAX_LIMIT}, not {n}"),
            Self::Permits(n) => write!(f, "a request is for 1 to {MAX_LIMIT} permits, not {n}"),
            Self::Priority(n) => write!(f, "a priority is -100 to 100, not {n}"),
        }
    }
}

impl core::error::Error for BadCount {}
