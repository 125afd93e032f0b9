//! The handle by which the API reaches the driver.

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc as std_mpsc,
    },
    time::Duration,
};

use seinpaal_proto::session::SessionConfig;
use tokio::sync::{mpsc, oneshot};

use super::{
    ConnectionStatistics, DriverCommand, Pulse, SharedDriver, Statistics, is_closed,
    parting::wait_at_end_of_thread, shared::visit,
};
use crate::{
    boottime::ClientClock,
    error::{ReleaseError, of_parent},
    queue::FinishError,
    room::Room,
    store::{BoxFuture, Certainty, Store, StoreError, StoreErrorKind},
};

/// The API's way to the driver.
pub(crate) struct Handle {
    pub(super) commands: Option<mpsc::UnboundedSender<DriverCommand>>,
    /// A channel that closes when the driver's thread ends, or `None` if the driver has no thread
    /// of its own.
    pub(super) is_over: Mutex<Option<std_mpsc::Receiver<()>>>,
    pub(super) store: Option<Arc<dyn Store>>,
    pub(super) room: Option<Arc<Room<SharedDriver>>>,
    pub(super) clock: ClientClock,
    pub(super) address: Arc<str>,
    pub(super) statistics: Arc<Statistics>,
    pub(super) config: SessionConfig,
    pub(super) pulse: Arc<Pulse>,
    /// The number of the next request.
    pub(super) requests: AtomicU64,
    pub(super) is_closed: AtomicBool,
    /// The process that has connected. After a fork the child has another number.
    pub(super) process: u32,
}

impl Handle {
    /// Sends a command. If the driver has ended, the command is dropped, and its caller gets
    /// [`gone`](Self::gone) because the channel ends.
    pub(crate) fn send(&self, command: DriverCommand) {
        // After a fork the child has our memory, but not our thread, and it has no right to our
        // permits.
        if !self.is_forked()
            && let Some(commands) = &self.commands
        {
            let _ = commands.send(command);
        }
    }

    /// Executes a command on this thread if that needs no waiting, and sends it otherwise. In both
    /// cases the command's channel carries the result.
    pub(crate) fn request(&self, command: DriverCommand) {
        let mut left = Some(command);
        if let Some(room) = self.room.as_ref().filter(|_| !self.is_gone()) {
            left = left.and_then(|command| visit(room, command));
        }
        if let Some(command) = left {
            self.send(command);
        }
    }

    /// Returns whether the connection is closed, so that commands sent now are not executed.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_closed.load(Ordering::Acquire) || self.is_forked()
    }

    /// The error for a request that the driver does not answer any more.
    pub(crate) fn gone(&self) -> StoreError {
        if self.is_forked() {
            let kind = StoreErrorKind::Misconfigured;
            return StoreError::new(kind, Certainty::NotExecuted, of_parent(self.process));
        }
        is_closed()
    }

    /// The error for a release that the driver does not answer any more. A closed connection gives
    /// everything back.
    pub(crate) fn gone_release(&self) -> ReleaseError {
        match self.is_forked() {
            true => ReleaseError::Forked { process: self.process },
            false => ReleaseError::Closed,
        }
    }

    /// The error for the end of a delivery that the driver does not answer any more.
    pub(crate) fn gone_finish(&self) -> FinishError {
        match self.is_forked() {
            true => FinishError::Forked { process: self.process },
            false => FinishError::Closed,
        }
    }

    /// Closes the connection, first for new requests and then for those that wait.
    pub(crate) async fn close(&self) -> Result<(), ReleaseError> {
        if self.is_forked() {
            return Err(self.gone_release());
        }
        self.is_closed.store(true, Ordering::Release);
        let (reply, answer) = oneshot::channel();
        self.send(DriverCommand::Close { reply });
        // Without an answer the driver had ended before, and nothing is left to give back.
        answer.await.unwrap_or(Ok(()))
    }

    /// Runs a task with the store on the driver's runtime, and returns its result.
    pub(crate) async fn with_store<T: Send + 'static>(
        &self,
        task: impl FnOnce(Arc<dyn Store>) -> BoxFuture<'static, T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(DriverCommand::StoreTask(Box::new(move |store| {
            Box::pin(async move {
                // Sending fails if the future was dropped, and then no receiver is left.
                let _ = reply.send(task(store).await);
            })
        })));
        answer.await.map_err(|_| self.gone())
    }

    /// Waits this long. The driver runs the timer, so the caller needs no runtime.
    pub(crate) async fn sleep(&self, time: Duration) {
        // On a closed connection there is nothing to wait for.
        let _ = self.with_store(move |_| Box::pin(tokio::time::sleep(time))).await;
    }

    pub(crate) fn next_request(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }

    /// The settings of the session.
    pub(crate) fn config(&self) -> &SessionConfig {
        &self.config
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        self.store.as_ref().unwrap_or_else(|| unreachable!("taken when this is dropped"))
    }

    pub(crate) fn clock(&self) -> ClientClock {
        self.clock
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn statistics(&self) -> ConnectionStatistics {
        self.statistics.read()
    }

    /// Returns whether this process was forked from the one that has connected.
    pub(crate) fn is_forked(&self) -> bool {
        self.process != std::process::id()
    }

    pub(crate) fn pulse(&self) -> &Pulse {
        &self.pulse
    }
}

impl Drop for Handle {
    /// The drop does not wait, because it may happen on an executor's thread (`parting.rs`). The
    /// store is dropped first, so that the driver has the last reference and closes the store on
    /// its own thread.
    fn drop(&mut self) {
        if self.is_forked() {
            // Everything belongs to the parent process. The parent's threads are not in this
            // process, and the state that they share with this handle must not be closed here.
            std::mem::forget((self.store.take(), self.room.take(), self.commands.take()));
            return;
        }
        drop(self.store.take());
        drop(self.room.take());
        drop(self.commands.take());
        if let Ok(is_over) = self.is_over.get_mut()
            && let Some(is_over) = is_over.take()
        {
            wait_at_end_of_thread(is_over);
        }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("store", &self.store).finish_non_exhaustive()
    }
}
