//! The lease of a permit or an item: its state, and until when it is believed to be held. The
//! driver writes this, and the holder reads it.

use std::{
    ops::Deref,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use seinpaal_proto::{Fence, Kind, Name, SlotNames, Slots, Ticket};
use tokio::sync::watch;

use super::figures::HoldFigure;
use crate::{boottime::ClientClock, permit_state::PermitState};

/// The lease of a grant or of a delivery.
pub(crate) struct LeaseInHand {
    clock: ClientClock,
    /// The instant by the client's clock. `u64::MAX` means as long as the process lives.
    valid_until: AtomicU64,
    standing: Mutex<LeaseState>,
}

/// The state of the lease, and the channel that reports changes. A channel takes four hundred
/// bytes, so it is made when a holder first waits for news. Most holders never do.
struct LeaseState {
    state: PermitState,
    told: Option<watch::Sender<PermitState>>,
}

impl LeaseInHand {
    pub(crate) fn new(clock: ClientClock, valid_until: Option<u64>) -> Self {
        Self {
            clock,
            valid_until: AtomicU64::new(valid_until.unwrap_or(u64::MAX)),
            standing: Mutex::new(LeaseState { state: PermitState::Held, told: None }),
        }
    }

    /// Returns how much of the lease is left at this moment.
    pub(crate) fn remaining(&self) -> Option<Duration> {
        match self.valid_until.load(Ordering::Acquire) {
            u64::MAX => None,
            until => Some(Duration::from_micros(until.saturating_sub(self.clock.now()))),
        }
    }

    pub(crate) fn is_held(&self) -> bool {
        !self.is_lost() && self.remaining() != Some(Duration::ZERO)
    }

    pub(crate) fn watch(&self) -> watch::Receiver<PermitState> {
        let mut standing = self.standing();
        let state = standing.state;
        standing.told.get_or_insert_with(|| watch::Sender::new(state)).subscribe()
    }

    /// The state that the driver noted last. The lease may have run out since: see
    /// [`is_held`](Self::is_held).
    pub(crate) fn noted(&self) -> PermitState {
        self.standing().state
    }

    pub(super) fn renewed(&self, valid_until: Option<u64>) {
        if self.is_lost() {
            return;
        }
        // The time is written before the state, because a reader that finds no time left takes a
        // lease that is held for lost.
        self.valid_until.store(valid_until.unwrap_or(u64::MAX), Ordering::Release);
        tell(self.note(PermitState::Held), PermitState::Held);
    }

    pub(super) fn set(&self, state: PermitState) {
        if self.is_lost() {
            return;
        }
        let told = self.note(state);
        if let PermitState::Lost(_) = state {
            // The time is written after the state, because a reader that finds no time left would
            // take any other loss for silence. It is written before any waiter is woken, because a
            // woken waiter would still read time that is left.
            self.valid_until.store(0, Ordering::Release);
        }
        tell(told, state);
    }

    /// Returns whether the lease is lost. A lost lease stays lost, for its first cause, whatever
    /// the driver hears later. Only the driver writes, so the result stays true until it writes.
    fn is_lost(&self) -> bool {
        matches!(self.noted(), PermitState::Lost(_))
    }

    /// Notes the state of the lease. Only the driver calls this. A channel without listeners is
    /// dropped.
    fn note(&self, state: PermitState) -> Option<watch::Sender<PermitState>> {
        let mut standing = self.standing();
        standing.state = state;
        standing.told.take_if(|told| told.is_closed());
        standing.told.clone()
    }

    /// A poisoned lock does no harm, since nothing panics while it has the lock.
    fn standing(&self) -> MutexGuard<'_, LeaseState> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the listeners. The lock is free by then, because a waker may run any code.
fn tell(told: Option<watch::Sender<PermitState>>, state: PermitState) {
    if let Some(told) = told {
        told.send_replace(state);
    }
}

/// One grant. The driver writes it, and permits read it.
pub(crate) struct GrantInHand {
    pub(crate) name: Name,
    /// The kind that the caller asked for: a semaphore, a mutex or a readers-writer lock.
    pub(crate) kind: Kind,
    pub(crate) ticket: Ticket,
    pub(crate) fence: Fence,
    pub(crate) slots: Slots,
    pub(crate) names: SlotNames,
    pub(crate) limit: u32,
    /// How long the store keeps the grant without a renewal.
    pub(crate) ttl: Duration,
    lease: LeaseInHand,
    /// For metrics.
    pub(super) held: HoldFigure,
}

/// The terms of a grant by the store.
pub(super) struct GrantTerms {
    pub(super) ticket: Ticket,
    pub(super) fence: Fence,
    pub(super) slots: Slots,
    pub(super) names: SlotNames,
    pub(super) limit: u32,
}

impl GrantInHand {
    pub(super) fn new(
        (name, kind): (Name, Kind),
        terms: GrantTerms,
        ttl: Duration,
        lease: LeaseInHand,
        held: HoldFigure,
    ) -> Self {
        let GrantTerms { ticket, fence, slots, names, limit } = terms;
        Self { name, kind, ticket, fence, slots, names, limit, ttl, lease, held }
    }

    /// The name of one of its slots, or `None` if the slots have no names.
    pub(crate) fn name_of(&self, slot: u32) -> Option<&str> {
        if self.names.is_empty() {
            return None;
        }
        let at = self.slots.iter().position(|held| held == slot)?;
        self.names.get(u32::try_from(at).ok()?)
    }
}

impl Deref for GrantInHand {
    type Target = LeaseInHand;

    fn deref(&self) -> &LeaseInHand {
        &self.lease
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, thread};

    use super::*;
    use crate::{Ended, Lost};

    #[test]
    fn a_lease_that_is_lost_stays_lost_for_its_first_cause() {
        let lost = PermitState::Lost(Lost::Ended(Ended::Released));
        let later: [fn(&LeaseInHand); 4] = [
            |lease| lease.renewed(None),
            |lease| lease.renewed(Some(u64::MAX - 1)),
            |lease| lease.set(PermitState::Danger),
            |lease| lease.set(PermitState::Lost(Lost::Silence)),
        ];
        for tell in later {
            let lease = LeaseInHand::new(ClientClock::Machine, None);
            lease.set(lost);
            tell(&lease);
            assert_eq!((lease.noted(), lease.remaining()), (lost, Some(Duration::ZERO)));
            assert!(!lease.is_held());
        }
    }

    #[test]
    fn a_lease_of_which_nothing_is_left_has_the_cause_of_its_loss() {
        let lost = PermitState::Lost(Lost::Ended(Ended::Released));
        for _ in 0..5_000 {
            let lease = Arc::new(LeaseInHand::new(ClientClock::Machine, None));
            let holder = Arc::clone(&lease);
            let found = thread::spawn(move || {
                while holder.remaining() != Some(Duration::ZERO) {
                    std::hint::spin_loop();
                }
                holder.noted()
            });
            lease.set(lost);
            assert_eq!(found.join().unwrap(), lost);
        }
    }
}
