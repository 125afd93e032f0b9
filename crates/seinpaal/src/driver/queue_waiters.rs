//! The callers of the program that wait for something at one queue.

use std::{collections::HashMap, sync::Arc};

use seinpaal_proto::{
    Name,
    queue::{
        Delivery, How,
        session::{Answer, Delivered, DeliveryEnd, Event, Loss, OneOffId, PopId, Session},
    },
    time::Micros,
};
use tokio::sync::{mpsc, oneshot};

use super::{
    LeaseInHand, figures,
    journal::note_queue,
    queue_command::{Handed, NotDone, QueueOneOffResult},
    silence,
};
use crate::{
    boottime::ClientClock,
    permit_state::{Lost, PermitState},
    store::StoreError,
};

/// The session at one queue, and the callers that it works for.
pub(super) struct QueueWaiters {
    pub(super) session: Session,
    pub(super) one_offs: HashMap<OneOffId, oneshot::Sender<QueueOneOffResult>>,
    pub(super) pops: HashMap<PopId, Taker>,
    pub(super) numbers: HashMap<u64, PopId>,
    pub(super) leases: HashMap<Delivery, Arc<LeaseInHand>>,
    pub(super) finishes: HashMap<Delivery, oneshot::Sender<DeliveryEnd>>,
    pub(super) last_error: Option<StoreError>,
    /// When this queue is to be looked at next; `QueueSessions::agenda` has the same instant.
    pub(super) agenda_at: Option<Micros>,
    /// How many items in work the metrics were told of.
    counted: usize,
    clock: ClientClock,
    address: Arc<str>,
}

/// A caller that wants items.
pub(super) struct Taker {
    pub(super) number: u64,
    pub(super) to: mpsc::UnboundedSender<Handed>,
    /// The caller wants more items after it was served.
    pub(super) goes_on: bool,
}

impl QueueWaiters {
    pub(super) fn new(session: Session, clock: ClientClock, address: Arc<str>) -> Self {
        Self {
            session,
            one_offs: HashMap::new(),
            pops: HashMap::new(),
            numbers: HashMap::new(),
            leases: HashMap::new(),
            finishes: HashMap::new(),
            last_error: None,
            agenda_at: None,
            counted: 0,
            clock,
            address,
        }
    }

    pub(super) fn holds(&self) -> bool {
        !self.leases.is_empty()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.pops.is_empty() && self.leases.is_empty()
    }

    pub(super) fn unpop(&mut self, number: u64) {
        if let Some(pop) = self.numbers.remove(&number) {
            self.pops.remove(&pop);
            self.session.unpop(pop);
        }
    }

    /// Each caller that waits learns that the connection is closed because its channel ends.
    pub(super) fn close(&mut self) {
        self.session.close();
        self.lose_leases();
        self.one_offs.clear();
        self.pops.clear();
        self.numbers.clear();
        self.finishes.clear();
    }

    /// Whatever is in work is lost to the program, because nobody renews it any more.
    pub(super) fn lose_leases(&mut self) {
        for (_, lease) in self.leases.drain() {
            lease.set(PermitState::Lost(Lost::Closed));
        }
    }

    /// Passes on the session's events.
    pub(super) fn tell(&mut self, queue: &Name) {
        while let Some(event) = self.session.poll_event() {
            note_queue(queue, &event);
            self.pass_on(queue, event);
        }
        self.count(queue);
    }

    /// Tells the metrics how many items are in work, if that has changed.
    pub(super) fn count(&mut self, queue: &Name) {
        if std::mem::replace(&mut self.counted, self.leases.len()) != self.leases.len() {
            figures::in_work(queue, self.leases.len());
        }
    }

    fn pass_on(&mut self, queue: &Name, event: Event) {
        match event {
            Event::Answer { one_off, answer } => {
                let answer = self.answer(answer);
                if let Some(reply) = self.one_offs.remove(&one_off) {
                    // Nobody is left to be told if the future was dropped.
                    let _ = reply.send(answer);
                }
            }
            Event::Delivered { pop, items } => self.hand_over(pop, items),
            Event::Drained { pop } => self.end(pop, Handed::Drained),
            Event::TimedOut { pop } => self.end(pop, Handed::TimedOut),
            Event::Failed { pop } => {
                let error = self.error();
                self.end(pop, Handed::Failed(error));
            }
            Event::Renewed { delivery, valid_until } => {
                self.on_lease(delivery, |lease| lease.renewed(valid_until));
            }
            Event::Danger { delivery } => {
                self.on_lease(delivery, |lease| lease.set(PermitState::Danger));
            }
            Event::Lost { delivery, loss } => self.lost(queue, delivery, loss),
            Event::Finished { delivery, end } => {
                figures::delivery_finished(queue, end);
                let _ = self.finishes.remove(&delivery).map(|reply| reply.send(end));
            }
        }
    }

    fn answer(&self, answer: Answer) -> QueueOneOffResult {
        match answer {
            Answer::Done(reply) => Ok(reply),
            Answer::NotDone => Err(NotDone::Refused(self.error())),
            Answer::Unknown => Err(NotDone::Unknown(self.error())),
        }
    }

    fn error(&self) -> StoreError {
        self.last_error.clone().unwrap_or_else(|| silence(&self.address))
    }

    /// Items for a caller that has gone go back at once, as if they had not been delivered.
    fn hand_over(&mut self, pop: PopId, items: Vec<Delivered>) {
        let deliveries: Vec<Delivery> = items.iter().map(|it| it.item.delivery).collect();
        let leases = items
            .into_iter()
            .map(|it| (it.item, Arc::new(LeaseInHand::new(self.clock, it.valid_until))));
        let items: Vec<_> = leases.collect();
        for (item, lease) in &items {
            self.leases.insert(item.delivery, Arc::clone(lease));
        }
        let is_taken =
            self.pops.get(&pop).is_some_and(|taker| taker.to.send(Handed::Items(items)).is_ok());
        // A caller that wanted one answer has it now.
        if self.pops.get(&pop).is_some_and(|taker| !taker.goes_on) {
            self.remove(pop);
        }
        if !is_taken {
            // The caller's own command to stop is on its way. Without this, the same items would
            // come again before it arrives.
            self.leave(pop);
            for delivery in deliveries {
                self.leases.remove(&delivery);
                self.session.finish(delivery, How::GiveBack { delay: 0 });
            }
        }
    }

    fn leave(&mut self, pop: PopId) {
        self.remove(pop);
        self.session.unpop(pop);
    }

    fn end(&mut self, pop: PopId, handed: Handed) {
        if let Some(taker) = self.remove(pop) {
            let _ = taker.to.send(handed);
        }
    }

    fn remove(&mut self, pop: PopId) -> Option<Taker> {
        let taker = self.pops.remove(&pop)?;
        self.numbers.remove(&taker.number);
        Some(taker)
    }

    fn on_lease(&self, delivery: Delivery, tell: impl FnOnce(&LeaseInHand)) {
        if let Some(lease) = self.leases.get(&delivery) {
            tell(lease);
        }
    }

    fn lost(&mut self, queue: &Name, delivery: Delivery, loss: Loss) {
        figures::delivery_lost(queue, loss);
        let lost = match loss {
            Loss::Silence => Lost::Silence,
            Loss::Ended => Lost::Withdrawn,
        };
        if let Some(lease) = self.leases.remove(&delivery) {
            lease.set(PermitState::Lost(lost));
        }
    }
}
