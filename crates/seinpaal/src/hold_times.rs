//! What a program learns of holds that it sees begin and end.

use std::time::Duration;

use seinpaal_proto::{self as proto, HoldSeen, time::micros};

use crate::inspect::{Holder, Snapshot};

/// Learns how long holds of one name take, from snapshots that a program reads anyway.
///
/// A snapshot tells how long the last seven holds took, and its estimates go by them. Whoever reads
/// a name again and again sees who held before and does not any more. Once these are more holds
/// than the snapshot tells of, estimates go by all of them. Looks that are more than 5 s apart say
/// nothing, because holds that begin and end between them are missed.
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
    /// How long it took; exact to half of the time between the two looks.
    pub held_for: Duration,
    /// Its lease ended because nobody renewed it: the holder was dead, stopped, or cut off from the
    /// store.
    pub is_lost: bool,
}

impl HoldTimes {
    /// Takes in a snapshot that was read at `now`, on any clock that goes steadily, and returns the
    /// holds that have ended since the one before. What this snapshot [says](Snapshot::why) of
    /// waiters goes by these as well.
    pub fn look(&mut self, seen: &mut Snapshot, now: Duration) -> Vec<EndedHold> {
        if seen.guarded_for.is_some() {
            // The store may have forgotten holders; their holds have not ended.
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
