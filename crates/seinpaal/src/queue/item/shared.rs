//! An item, and the end of its delivery, which happens once.

use std::sync::{Arc, OnceLock};

use seinpaal_proto::{
    Name,
    queue::{FailureReason, How, Popped, session::DeliveryEnd},
};
use tokio::sync::oneshot;

use crate::{
    driver::{DriverCommand, Handle, LeaseInHand, QueueCommand},
    permit_state::{Lost, PermitState},
    queue::FinishError,
};

/// An item, and the end of its delivery, which happens once.
pub(in super::super) struct SharedItem {
    pub(super) handle: Arc<Handle>,
    pub(super) queue: Name,
    pub(super) popped: Popped,
    pub(super) lease: Arc<LeaseInHand>,
    /// Set once the delivery has ended: whether the item was given back.
    pub(super) is_given_back: OnceLock<bool>,
    /// The store's answer to the end of the delivery.
    pub(super) end: OnceLock<DeliveryEnd>,
}

impl SharedItem {
    /// Ends the delivery, and returns the result. If it has ended already, this does not wait.
    pub(in super::super) async fn finish(&self, how: How) -> Result<DeliveryEnd, FinishError> {
        if !self.is_first_end(&how) {
            return Ok(self.end.get().copied().unwrap_or(DeliveryEnd::Unknown));
        }
        let (reply, answer) = oneshot::channel();
        self.send(how, Some(reply));
        let end = answer.await.map_err(|_| self.handle.gone_finish())?;
        Ok(*self.end.get_or_init(|| end))
    }

    pub(in super::super) fn finish_unheard(&self, how: How) {
        if self.is_first_end(&how) {
            self.send(how, None);
        }
    }

    /// Gives the item back if its delivery has not ended, without waiting. Returns what is known of
    /// the end.
    pub(in super::super) fn end_now(&self) -> DeliveryEnd {
        let how = How::GiveBack { delay: 0 };
        if !self.is_first_end(&how) {
            return self.end.get().copied().unwrap_or(DeliveryEnd::Unknown);
        }
        let is_held = self.lease.is_held();
        self.send(how, None);
        if is_held { DeliveryEnd::Returned } else { DeliveryEnd::Lost }
    }

    fn is_first_end(&self, how: &How) -> bool {
        self.is_given_back.set(matches!(how, How::GiveBack { .. })).is_ok()
    }

    pub(in super::super) fn is_given_back(&self) -> bool {
        self.is_given_back.get() == Some(&true)
    }

    fn send(&self, how: How, reply: Option<oneshot::Sender<DeliveryEnd>>) {
        let delivery = self.popped.delivery;
        let command = QueueCommand::Finish { delivery, how, reply };
        self.handle
            .send(DriverCommand::Queue { name: self.queue.clone(), command: Box::new(command) });
    }

    pub(in super::super) fn attempt(&self) -> u32 {
        self.popped.attempt
    }

    pub(in super::super) async fn lost(&self) -> Lost {
        match self.until(|state| matches!(state, PermitState::Lost(_))).await {
            PermitState::Lost(lost) => lost,
            _ => Lost::Silence,
        }
    }

    /// The state of the delivery by the clock, which may be ahead of the notes.
    pub(super) fn standing(&self, noted: PermitState) -> PermitState {
        if self.lease.is_held() {
            return noted;
        }
        // The notes are read again, because the loss and its cause may have been noted since.
        match self.lease.noted() {
            lost @ PermitState::Lost(_) => lost,
            _ => PermitState::Lost(Lost::Silence),
        }
    }

    pub(super) async fn until(&self, wanted: impl Fn(PermitState) -> bool) -> PermitState {
        let mut watch = self.lease.watch();
        loop {
            let noted = *watch.borrow_and_update();
            let state = self.standing(noted);
            // The channel does not close, because this item keeps the lease, and the lease has the
            // sender.
            if wanted(state) || watch.changed().await.is_err() {
                return state;
            }
        }
    }
}

impl Drop for SharedItem {
    fn drop(&mut self) {
        let reason = if std::thread::panicking() { "panicked" } else { "dropped unfinished" };
        self.finish_unheard(How::Fail { delay: 0, reason: FailureReason::new(reason) });
    }
}
