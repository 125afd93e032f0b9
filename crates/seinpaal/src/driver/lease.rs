//! Until when to believe in something that is held, and whether it is: the driver writes, whoever has it in hand reads.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::sync::watch;

use crate::{boottime::ClientClock, permit::PermitState};

/// The lease of a grant or of a delivery.
pub(crate) struct Lease {
    clock: ClientClock,
    /// On the clock; `u64::MAX`: as long as the process lives.
    valid_until: AtomicU64,
    state: watch::Sender<PermitState>,
}

impl Lease {
    pub(crate) fn new(clock: ClientClock, valid_until: Option<u64>) -> Self {
        Self {
            clock,
            valid_until: AtomicU64::new(valid_until.unwrap_or(u64::MAX)),
            state: watch::Sender::new(PermitState::Held),
        }
    }

    /// What is left of the lease, by now: not what was known when somebody last looked.
    pub(crate) fn remaining(&self) -> Option<Duration> {
        match self.valid_until.load(Ordering::Acquire) {
            u64::MAX => None,
            until => Some(Duration::from_micros(until.saturating_sub(self.clock.now()))),
        }
    }

    pub(crate) fn is_held(&self) -> bool {
        !matches!(*self.state.borrow(), PermitState::Lost(_))
            && self.remaining() != Some(Duration::ZERO)
    }

    pub(crate) fn watch(&self) -> watch::Receiver<PermitState> {
        self.state.subscribe()
    }

    pub(super) fn renewed(&self, valid_until: Option<u64>) {
        self.valid_until.store(valid_until.unwrap_or(u64::MAX), Ordering::Release);
        self.state.send_if_modified(|state| match state {
            PermitState::Lost(_) => false,
            state => {
                *state = PermitState::Held;
                true
            }
        });
    }

    pub(super) fn set(&self, state: PermitState) {
        if let PermitState::Lost(_) = state {
            self.valid_until.store(0, Ordering::Release);
        }
        self.state.send_replace(state);
    }
}
