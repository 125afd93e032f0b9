//! The kinds of lock. One ledger serves all three; a name is one of them at a time.

use core::fmt;

use crate::count::{Limit, Permits};

/// The kind of lock that a name is.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Kind {
    /// As many holders as its limit.
    #[default]
    Semaphore,
    /// One holder: a semaphore whose limit is 1 and stays 1.
    Mutex,
    /// Many readers or one writer. It is a semaphore with the limit
    /// [`MOST_READERS`](crate::MOST_READERS), of which a reader takes one permit and a writer takes
    /// all. Both stand in one line, so neither starves.
    RwLock,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Semaphore, Self::Mutex, Self::RwLock];

    /// Returns the limit that the kind implies; `None` for a semaphore, which has a limit of its
    /// own.
    #[must_use]
    pub const fn limit(self) -> Option<Limit> {
        match self {
            Self::Semaphore => None,
            Self::Mutex => Some(Limit::ONE),
            Self::RwLock => Some(Limit::READERS),
        }
    }

    /// Returns the number of permits that a writer asks for.
    #[must_use]
    pub const fn writer() -> Permits {
        Permits::READERS
    }

    /// Returns the letter by which stores keep the kind.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Semaphore => 's',
            Self::Mutex => 'm',
            Self::RwLock => 'r',
        }
    }

    /// Returns the kind with this letter.
    #[must_use]
    pub fn of_letter(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.letter() == letter)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Semaphore => "semaphore",
            Self::Mutex => "mutex",
            Self::RwLock => "readers-writer lock",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_known_by_its_letter() {
        for kind in Kind::ALL {
            assert_eq!(Kind::of_letter(kind.letter()), Some(kind));
        }
        assert_eq!(Kind::of_letter('x'), None);
    }
}
