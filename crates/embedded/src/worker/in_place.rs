//! A call on its caller's thread. The call never waits: neither at the gate, nor for foreign
//! programs, nor for the disk. It does not check whether the holders are alive, so a request that
//! would queue or be refused is left to the store's thread.

use std::sync::Arc;

use seinpaal_proto::{Batch, Replies};

use super::{Bell, LogNeed, StoreThread};
use seinpaal_store::{StoreError, room::Room};

/// Rings the bell when it is dropped: the thread has something to do, or a caller has panicked in
/// its place.
struct RingOnDrop(Option<Arc<Bell>>);

impl Drop for RingOnDrop {
    fn drop(&mut self) {
        if let Some(bell) = self.0.take() {
            bell.ring();
        }
    }
}

/// Executes a batch. `None`: the batch cannot be executed here now, and nothing was done. `start`
/// is called if the thread has to begin.
pub(crate) fn call(
    room: &Room<StoreThread>,
    batch: &Batch,
    start: impl FnOnce(),
) -> Option<Result<Replies, StoreError>> {
    let mut ring = RingOnDrop(None); // dropped after the room is left
    let mut worker = room.try_enter().filter(|worker| worker.is_free())?;
    ring.0 = Some(Arc::clone(&worker.bell));
    let done = worker.call_in_place(batch);
    if !worker.has_work() {
        ring.0 = None;
    } else if !worker.has_thread {
        start();
    }
    done
}

impl StoreThread {
    /// Returns whether no work on the log is owed and the next commit does not begin the log anew.
    /// Either of these would wait for the disk.
    fn is_free(&self) -> bool {
        self.owed == LogNeed::Nothing && !self.backlog.may_begin_anew()
    }

    fn call_in_place(&mut self, batch: &Batch) -> Option<Result<Replies, StoreError>> {
        let done = self.parts.try_turn(|turn| turn.call_plainly(batch))?;
        self.note_that_it_was_asked();
        Some(done.map(|(replies, tell)| {
            self.owed = self.backlog.note(self.parts.log_pages());
            self.line.note(batch, &replies);
            self.pass_on(tell);
            replies
        }))
    }

    /// Returns whether the thread must be woken.
    fn has_work(&self) -> bool {
        let is_early = |at| self.sleeps_until.is_none_or(|until| at < until);
        self.owed != LogNeed::Nothing
            // A store without a thread looks around when it is dropped (`part`).
            || self.has_thread && self.was_asked && !self.has_looked_around
            || self.next_look().is_some_and(is_early)
    }
}
