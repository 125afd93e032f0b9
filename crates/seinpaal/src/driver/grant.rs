//! What a permit and the driver share about one grant, and the handle by which the API reaches the driver.

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
        mpsc as std_mpsc,
    },
    time::Duration,
};

use seinpaal_proto::{Fence, Name, Slots, Ticket};
use tokio::sync::{mpsc, watch};

use super::Command;
use crate::{boottime, permit::PermitState, store::Store};

/// How long the last handle waits for the driver to give back what is left.
const PARTING: Duration = Duration::from_secs(1);

/// One grant. The driver writes, permits read.
pub(crate) struct Grant {
    pub(crate) name: Name,
    pub(crate) ticket: Ticket,
    pub(crate) fence: Fence,
    pub(crate) slots: Slots,
    pub(crate) limit: u32,
    /// On [`boottime`]; `u64::MAX`: as long as the process lives.
    valid_until: AtomicU64,
    state: watch::Sender<PermitState>,
}

impl Grant {
    pub(crate) fn new(
        name: Name,
        ticket: Ticket,
        fence: Fence,
        slots: Slots,
        limit: u32,
        valid_until: Option<u64>,
    ) -> Self {
        Self {
            name,
            ticket,
            fence,
            slots,
            limit,
            valid_until: AtomicU64::new(valid_until.unwrap_or(u64::MAX)),
            state: watch::Sender::new(PermitState::Held),
        }
    }

    /// What is left of the lease, by now: not what was known when somebody last looked.
    pub(crate) fn remaining(&self) -> Option<Duration> {
        match self.valid_until.load(Ordering::Acquire) {
            u64::MAX => None,
            until => Some(Duration::from_micros(until.saturating_sub(boottime::now()))),
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

/// How the API reaches the driver. The last one to go waits a moment for it to finish.
pub(crate) struct Handle {
    commands: Option<mpsc::UnboundedSender<Command>>,
    is_over: Mutex<std_mpsc::Receiver<()>>,
    store: Arc<dyn Store>,
    requests: AtomicU64,
    process: u32,
}

impl Handle {
    pub(super) fn new(
        commands: mpsc::UnboundedSender<Command>,
        is_over: std_mpsc::Receiver<()>,
        store: Arc<dyn Store>,
    ) -> Self {
        Self {
            commands: Some(commands),
            is_over: Mutex::new(is_over),
            store,
            requests: AtomicU64::new(0),
            process: std::process::id(),
        }
    }

    /// Sends a command. A driver that is gone has nothing left to do for us.
    pub(crate) fn send(&self, command: Command) {
        // After a fork the child has our memory but not our thread, and no right to what we hold.
        if self.process == std::process::id()
            && let Some(commands) = &self.commands
        {
            let _ = commands.send(command);
        }
    }

    pub(crate) fn next_request(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        drop(self.commands.take());
        if self.process == std::process::id()
            && let Ok(is_over) = self.is_over.lock()
        {
            let _ = is_over.recv_timeout(PARTING);
        }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("store", &self.store).finish_non_exhaustive()
    }
}
