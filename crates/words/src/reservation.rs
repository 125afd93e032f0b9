//! Reservations: permits that a person holds for a while. A reservation is a grant without renewal,
//! whose labels name the person and the reason.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use seinpaal::{About, Semaphore};

use crate::calendar::instant;

/// The labels that mark a reservation, on every page and in `show`.
const BY: &str = "reserved-by";
const UNTIL: &str = "until";
const REASON: &str = "reason";

/// A reservation to make.
pub struct Reservation<'a> {
    /// The number of permits.
    pub permits: u32,
    /// The length of the reservation.
    pub length: Duration,
    /// The person who gets the permits.
    pub who: &'a str,
    /// The reason, which everybody can read.
    pub reason: &'a str,
}

impl Reservation<'_> {
    /// Takes the permits if they are free. The lease is as long as the reservation and is not
    /// renewed, so it ends by itself, whether or not this program still runs. To end it sooner,
    /// evict its ticket.
    ///
    /// # Errors
    /// The reason in words, if the permits cannot be had.
    pub async fn make(self, semaphore: &Semaphore) -> Result<(), String> {
        let end = SystemTime::now() + self.length;
        let until = instant(end.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs());
        let request = semaphore.try_acquire().permits(self.permits).ttl(self.length).to_detach();
        let labelled = request.label(BY, self.who).label(UNTIL, &until).label(REASON, self.reason);
        match labelled.await {
            Ok(Some(permit)) => permit.detach().await.map(drop).map_err(|error| error.to_string()),
            Ok(None) => Err(self.not_free(semaphore).await),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Says why the permits cannot be had now. A reservation does not wait in line, because no
    /// client would hear of its grant.
    async fn not_free(&self, semaphore: &Semaphore) -> String {
        let free = match semaphore.snapshot().await {
            Ok(seen) if seen.waiting_total > 0 => {
                format!("{} wait already, and nobody passes them", seen.waiting_total)
            }
            Ok(seen) if seen.paused.is_some() => "it is paused".to_owned(),
            Ok(seen) => format!("{} are free", seen.limit.saturating_sub(seen.permits_held)),
            Err(error) => error.to_string(),
        };
        format!("{} cannot be reserved now: {free}", self.permits)
    }
}

/// Returns the person, the end and the reason of a holder that is a reservation.
#[must_use]
pub fn of(about: &About) -> Option<(&str, &str, &str)> {
    let label = |wanted: &str| {
        let found = about.labels.iter().find(|(key, _)| key == wanted);
        found.map(|(_, value)| value.as_str())
    };
    Some((label(BY)?, label(UNTIL)?, label(REASON).unwrap_or_default()))
}
