//! The figures that all runs report.

use std::{fmt, time::Duration};

/// The figures of all clients of a field.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct FieldTally {
    /// Permits acquired.
    pub grants: u64,
    /// Acquisitions that raised the number of permits above the limit of their name at that moment.
    pub over_admissions: u64,
    /// The most permits of one name that were believed in at one moment.
    pub most_held: usize,
    /// Permits that their holders lost.
    pub lost: u64,
    /// Requests that ended in an error.
    pub errors: u64,
}

impl fmt::Display for FieldTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { grants, over_admissions, most_held, lost, errors } = self;
        write!(
            f,
            "{grants} grants | over-admissions {over_admissions} | most held {most_held} | \
             lost {lost} | errors {errors}"
        )
    }
}

/// Durations, in order of length.
#[derive(Clone, Debug, Default)]
pub struct SortedTimes(Vec<Duration>);

impl SortedTimes {
    /// The number of durations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The duration at this share of the way from the shortest, at 0, to the longest, at 1. Zero if
    /// the list is empty.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Duration {
        let at = (self.0.len().saturating_sub(1) as f64 * share).round() as usize;
        self.0.get(at).copied().unwrap_or_default()
    }

    pub(crate) fn add(&mut self, times: impl IntoIterator<Item = Duration>) {
        self.0.extend(times);
        self.0.sort_unstable();
    }

    /// The quantiles in seconds, each after its name: `p50 0.10 s, worst 2.00 s`.
    pub(crate) fn seconds(&self, named: &[(&str, f64)]) -> String {
        let part = |(name, share): &(&str, f64)| {
            format!("{name} {:.2} s", self.quantile(*share).as_secs_f64())
        };
        named.iter().map(part).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_the_sorted_times() {
        let mut times = SortedTimes::default();
        assert_eq!(times.quantile(1.0), Duration::ZERO);
        times.add([3, 1, 2].map(Duration::from_secs));
        assert_eq!(times.quantile(0.5), Duration::from_secs(2));
        assert_eq!(times.seconds(&[("p50", 0.5), ("worst", 1.0)]), "p50 2.00 s, worst 3.00 s");
    }
}
