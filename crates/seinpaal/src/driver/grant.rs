//! What a permit and the driver share about one grant, and the handle by which the API reaches the driver.

use std::{
    fmt,
    ops::Deref,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
        mpsc as std_mpsc,
    },
    time::Duration,
};

use seinpaal_proto::{Fence, Name, Slots, Ticket};
use tokio::sync::mpsc;

use super::{Command, Lease};
use crate::store::Store;

/// How long the last handle waits for the driver to give back what is left.
const PARTING: Duration = Duration::from_secs(1);

/// One grant. The driver writes, permits read.
pub(crate) struct Grant {
    pub(crate) name: Name,
    pub(crate) ticket: Ticket,
    pub(crate) fence: Fence,
    pub(crate) slots: Slots,
    pub(crate) limit: u32,
    lease: Lease,
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
        Self { name, ticket, fence, slots, limit, lease: Lease::new(valid_until) }
    }
}

impl Deref for Grant {
    type Target = Lease;

    fn deref(&self) -> &Lease {
        &self.lease
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
