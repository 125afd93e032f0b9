//! Hold times that a program learns by reading a name again and again.

use std::time::Duration;

use seinpaal_proto::{self as proto, HoldSeen, time::micros};

use crate::inspect::{Holder, Snapshot};

/// Learns how long holds of one name take, from snapshots that a program reads anyway.
///
/// A snapshot has the lengths of the last seven holds, and its estimates use them. A program that
/// reads a name again and again sees which holders have left since its last look. Once the program
/// has seen more holds end than the snapshot has, the estimates use all of those. Looks that are
/// more than 5 s apart teach nothing, because holds that begin and end between them are missed.
///
/// # Examples
/// ```
/// use std::time::{Duration, Instant};
///
/// use seinpaal::{AdminError, HoldTimes, Semaphore};
///
/// async fn watch(gpus: Semaphore) -> Result<(), AdminError> {
///     let (mut holds, began) = (HoldTimes::default(), Instant::now());
///     loop {
///         let mut seen = gpus.snapshot().await?;
///         holds.look(&mut seen, began.elapsed());
///         for (waiter, estimate) in seen.waiters.iter().zip(seen.estimates()) {
///             println!("{}: {:?}", waiter.about.host, estimate.wait());
///         }
///         tokio::time::sleep(Duration::from_secs(1)).await;
///     }
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct HoldTimes(proto::HoldTimes);

/// A hold that has ended between two looks at a name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct EndedHold {
    /// How long the hold took, exact to half of the time between the two looks.
    pub held_for: Duration,
    /// Whether its lease ended for lack of renewal, because the holder was dead, stopped, or cut
    /// off from the store.
    pub is_lost: bool,
}

impl HoldTimes {
    /// Takes in a snapshot that was read at `now`, on any clock that goes steadily. Returns the
    /// holds that have ended since the snapshot before. From then on [`why`](Snapshot::why) and
    /// [`estimates`](Snapshot::estimates) of this snapshot also use these holds.
    pub fn look(&mut self, seen: &mut Snapshot, now: Duration) -> Vec<EndedHold> {
        if seen.guarded_for.is_some() {
            // The store may have forgotten holders, but their holds have not ended.
            self.0.look_away();
        }
        let are_all = seen.holders.len() == seen.holders_total as usize;
        let ended = self.0.look(seen.holders.iter().map(hold_seen), are_all, micros(now));
        seen.past = self.0.lengths(seen.recent);
        ended.into_iter().map(EndedHold::from).collect()
    }
}

fn hold_seen(holder: &Holder) -> HoldSeen {
    HoldSeen {
        fence: holder.fence,
        held_for: micros(holder.held_for),
        valid_for: holder.valid_for.map(micros),
        is_late: holder.not_renewed_for().is_some(),
    }
}

impl From<proto::EndedHold> for EndedHold {
    fn from(ended: proto::EndedHold) -> Self {
        Self { held_for: Duration::from_micros(ended.held_for), is_lost: ended.is_lost }
    }
}
