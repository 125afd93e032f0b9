//! When a permit is renewed, in danger and lost, as durations.

use std::time::Duration;

use seinpaal_proto::session::LeaseSchedule as Micros;

/// When a permit is renewed, in danger and lost if its store falls silent.
///
/// Each time counts from just before the last request was sent that the store answered with a
/// renewal. While the store answers, only the renewals happen. See
/// [`Seinpaal::schedule`](crate::Seinpaal::schedule).
///
/// | ttl | [renewal](Self::renewal) | [repetition](Self::repetition) | [danger](Self::danger) | [lost](Self::lost) |
/// |---|---|---|---|---|
/// | 30 s | 3.75 s | after 1.5 s each | 21.2 s | 28.7 s |
///
/// ```
/// # futures_executor::block_on(async {
/// use std::time::Duration;
///
/// let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
/// let schedule = seinpaal.schedule(Duration::from_secs(60));
/// assert!(schedule.renewal() + 3 * schedule.repetition() <= schedule.danger());
/// assert!(schedule.shortest_outage() > Duration::from_secs(32));
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Schedule(Micros);

impl Schedule {
    pub(crate) fn new(schedule: Micros) -> Self {
        Self(schedule)
    }

    /// Returns the ttl of this schedule: the requested ttl, or less if the store has cut it.
    #[must_use]
    pub fn ttl(&self) -> Duration {
        Duration::from_micros(self.0.ttl())
    }

    /// Returns when the lease is renewed at the latest. A renewal comes at most a tenth earlier.
    #[must_use]
    pub fn renewal(&self) -> Duration {
        Duration::from_micros(self.0.renew())
    }

    /// Returns after how long a renewal without an answer is repeated, each time. At least two
    /// repetitions, and the time for an answer to the second, fit before danger.
    #[must_use]
    pub fn repetition(&self) -> Duration {
        Duration::from_micros(self.0.repeat())
    }

    /// Returns when the permit is in [danger](crate::PermitState::Danger).
    #[must_use]
    pub fn danger(&self) -> Duration {
        Duration::from_micros(self.0.danger())
    }

    /// Returns when the permit is lost as far as its holder knows. The store admits no other holder
    /// before that.
    #[must_use]
    pub fn lost(&self) -> Duration {
        Duration::from_micros(self.0.lost())
    }

    /// Returns the longest silence of the store that a permit survives without danger, whenever the
    /// silence begins.
    #[must_use]
    pub fn shortest_outage(&self) -> Duration {
        Duration::from_micros(self.0.outage())
    }

    /// Returns how long before the loss a guard should kill a process that does not stop by itself.
    #[must_use]
    pub fn slack(&self) -> Duration {
        Duration::from_micros(self.0.slack())
    }

    /// Returns the longest time between TERM and KILL for a process that is stopped because its
    /// permit is no longer renewed. TERM then lies between danger and the end.
    #[must_use]
    pub fn most_grace(&self) -> Duration {
        Duration::from_micros(self.0.most_grace())
    }
}
