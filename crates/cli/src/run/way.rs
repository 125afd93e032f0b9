//! Sends holders and waiters away, if `--on-conflict` says that the newest run wins.

use seinpaal::{AdminError, Semaphore, Ticket};

use super::{Entrance, Signals, unless_ended};
use crate::{args::OnConflict, exit::Failure};

/// How many looks at the line there are at most. A look shows only one page of it, and other
/// requests come meanwhile.
const LOOKS: u32 = 64;

impl Entrance<'_> {
    /// Sends away the waiters or holders that `--on-conflict` names. A run that starts at the same
    /// moment may stay, because both are then the newest. No request is sent away from a name that
    /// this run does not ask for.
    pub(super) async fn make_way(
        self,
        on_conflict: OnConflict,
        signals: &mut Signals,
    ) -> Result<(), Failure> {
        if self.held.contains(&self.entry.name) {
            // The run around us, whose CMD we are, holds the name.
            return Ok(());
        }
        let evicts_holders = match on_conflict {
            OnConflict::Wait | OnConflict::Skip => return Ok(()),
            OnConflict::ReplaceWaiting => false,
            OnConflict::CancelRunning => true,
        };
        let semaphore = self.seinpaal.semaphore(&self.entry.name);
        let clearing = std::pin::pin!(clear(&semaphore, evicts_holders));
        let gone = unless_ended(signals, clearing).await?;
        let gone = gone.map_err(|error| Failure::from(error).about(self.subject))?;
        if gone > 0 {
            let words = format!("sent away {gone} (holders and waiters), as --on-conflict says");
            self.voice.explain(self.subject.line(&words));
        }
        Ok(())
    }
}

/// Sends away the waiters, and the holders if that is wanted. Returns how many have gone.
async fn clear(semaphore: &Semaphore, evicts_holders: bool) -> Result<u32, AdminError> {
    let mut gone = 0;
    for _ in 0..LOOKS {
        let seen = semaphore.snapshot().await?;
        let waiters = seen.waiters.iter().map(|waiter| waiter.ticket);
        let holders = seen.holders.iter().map(|holder| holder.ticket).filter(|_| evicts_holders);
        // Waiters are evicted first. Otherwise each would get in when the holder before it goes.
        let all: Vec<Ticket> = waiters.chain(holders).collect();
        if all.is_empty() {
            break;
        }
        for ticket in all {
            gone += u32::from(evict(semaphore, ticket).await?);
        }
    }
    Ok(gone)
}

/// Returns whether the ticket was still there to be evicted.
async fn evict(semaphore: &Semaphore, ticket: Ticket) -> Result<bool, AdminError> {
    match semaphore.evict(ticket).await {
        Ok(()) => Ok(true),
        Err(AdminError::Unknown(_) | AdminError::Ended(_)) => Ok(false),
        Err(error) => Err(error),
    }
}
