//! Facts about a store, and advice on changes to it, for people.

use std::{fmt, time::Duration};

/// What a store says about itself when it is asked.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Diagnosis {
    /// The store's version, what it keeps on disk, how far its clock is from this machine's. A fact
    /// that a server hides is missing.
    pub facts: Vec<Fact>,
    /// The changes by which the store's promises hold.
    pub advice: Vec<Advice>,
    /// How long the store waits for a silent server until it makes another one the master.
    pub fails_over_after: Option<Duration>,
}

/// Something that should be changed about a store, or about how it is used.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Advice {
    /// Whether a promise may be broken: a permit could be given twice, or taken from a holder that
    /// renews it. If not, something is only slower, or could go unnoticed.
    pub is_risk: bool,
    /// The fault and its remedy, in one line.
    pub text: String,
}

impl Advice {
    /// Makes advice for a store that may break a promise.
    #[must_use]
    pub fn risk(text: impl Into<String>) -> Self {
        Self { is_risk: true, text: text.into() }
    }

    /// Makes advice for a store that keeps its promises.
    #[must_use]
    pub fn hint(text: impl Into<String>) -> Self {
        Self { is_risk: false, text: text.into() }
    }

    /// Returns this advice with the place in front of its text.
    #[must_use]
    pub fn at(self, place: &str) -> Self {
        Self { text: format!("{place}: {}", self.text), ..self }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A fact about a store.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Fact {
    /// The name of the fact, in a word or two: `version`, `memory limit`.
    pub what: &'static str,
    /// The value of the fact.
    pub value: String,
}

impl Fact {
    /// Makes a fact from its name and its value.
    #[must_use]
    pub fn new(what: &'static str, value: impl Into<String>) -> Self {
        Self { what, value: value.into() }
    }
}
