//! What a session does about silence. It sends the same batch again until the batch's deadline has
//! passed. After that nobody can say whether the batch was executed.

use alloc::vec::Vec;

use super::{
    PendingOneOff, Session,
    compose::{DraftEntry, Sent},
    event::{Answer, DeliveryEnd, Event, PopId, Until},
};
use crate::{
    queue::{item::Delivery, request::Request},
    session::CallFailure,
    time::Micros,
};

impl Session {
    pub(super) fn take_failure(&mut self, now: Micros, failure: CallFailure) {
        self.retry_at = Some(now + self.pause());
        let Some(sent) = &mut self.sent else { return };
        sent.call = None;
        sent.is_doubtful |= failure.maybe_executed;
        if !failure.is_passing {
            self.give_up_batch(now);
            self.fail_poppers(|_, _| true);
        } else if failure.is_full && !sent.is_doubtful {
            self.take_no_room(now);
        }
    }

    /// Nothing of the batch was executed. New requests fail. Finishes and renewals are sent again,
    /// without the requests for which there was no room.
    fn take_no_room(&mut self, now: Micros) {
        let Some(sent) = self.sent.take() else { return };
        // From the back, so that what is put in front keeps its order.
        for entry in sent.entries.into_iter().rev() {
            match entry {
                DraftEntry::OneOff(one_off, _) => {
                    self.events.push_back(Event::Answer { one_off, answer: Answer::NotDone });
                }
                DraftEntry::Finish(delivery) => self.finishes.push_front(delivery),
                DraftEntry::Renew(deliveries) => {
                    deliveries.into_iter().for_each(|delivery| self.work.renew_at(delivery, now));
                }
                DraftEntry::Find => self.must_find = true,
                DraftEntry::Pop { .. } => {
                    self.pop_due = true;
                    self.fail_poppers(|_, _| true);
                }
                DraftEntry::Leave => {}
            }
        }
    }

    /// Gives up the batch: what has not come of it by now never will.
    pub(super) fn give_up_batch(&mut self, now: Micros) {
        let Some(sent) = self.sent.take() else { return };
        let is_doubtful = sent.is_doubtful || sent.call.is_some();
        self.lost_early.clear();
        for (entry, request) in sent.entries.into_iter().zip(&sent.batch.requests) {
            self.give_up(now, entry, request, is_doubtful);
        }
        self.give_up_old_one_offs(now);
    }

    fn give_up(&mut self, now: Micros, entry: DraftEntry, request: &Request, is_doubtful: bool) {
        match entry {
            DraftEntry::OneOff(one_off, _) => {
                let is_unknown = is_doubtful && !request.reads();
                let answer = if is_unknown { Answer::Unknown } else { Answer::NotDone };
                self.events.push_back(Event::Answer { one_off, answer });
            }
            DraftEntry::Finish(delivery) => self.finish_again(delivery, is_doubtful),
            DraftEntry::Renew(deliveries) => {
                deliveries.into_iter().for_each(|delivery| self.work.renew_at(delivery, now));
            }
            DraftEntry::Find => self.must_find = true,
            DraftEntry::Pop { .. } => {
                self.must_find |= is_doubtful;
                self.pop_due = true;
                self.fail_poppers(|_, until| until != Until::Unpopped);
            }
            DraftEntry::Leave => {}
        }
    }

    /// The callers learn that nobody can say. The store is told again, which does no harm.
    fn finish_again(&mut self, delivery: Delivery, is_doubtful: bool) {
        let mut is_news = false;
        self.work.change(delivery, |held| {
            if let Some(leaving) = &mut held.leaving {
                leaving.is_doubtful |= is_doubtful;
                is_news = !core::mem::replace(&mut leaving.is_told, true);
            }
        });
        self.finishes.push_back(delivery);
        if is_news {
            self.events.push_back(Event::Finished { delivery, end: DeliveryEnd::Unknown });
        }
    }

    fn fail_poppers(&mut self, fails: impl Fn(PopId, Until) -> bool) {
        let asked = self.poppers.ids().filter(|(_, popper)| popper.is_asked);
        let failed = asked.filter(|(id, popper)| fails(*id, popper.want.until));
        let failed: Vec<PopId> = failed.map(|(id, _)| id).collect();
        for pop in failed {
            self.poppers.remove(pop);
            self.events.push_back(Event::Failed { pop });
        }
    }

    /// Ends requests that could not even be sent for as long as their callers are patient.
    fn give_up_old_one_offs(&mut self, now: Micros) {
        let patience = self.config.patience;
        let is_old = |one_off: &PendingOneOff| now.saturating_sub(one_off.at) >= patience;
        while let Some(one_off) =
            self.one_offs.front().filter(|one_off| is_old(one_off)).map(|one_off| one_off.id)
        {
            self.one_offs.pop_front();
            self.events.push_back(Event::Answer { one_off, answer: Answer::NotDone });
        }
    }

    /// The store refused a batch because it came after its deadline. Nothing of it was done unless
    /// an earlier call did it; if not, it is asked again with a fresh idea of the store's clock.
    pub(super) fn take_late(&mut self, now: Micros, sent: Sent) {
        self.retry_at = Some(now + self.pause());
        if sent.is_doubtful {
            self.sent = Some(Sent { call: None, ..sent });
            return self.give_up_batch(now);
        }
        // From the back, so that what is put in front keeps its order.
        for (entry, request) in sent.entries.into_iter().zip(&sent.batch.requests).rev() {
            match entry {
                DraftEntry::OneOff(id, at) => {
                    self.one_offs.push_front(PendingOneOff { id, request: request.clone(), at });
                }
                DraftEntry::Finish(delivery) => self.finishes.push_front(delivery),
                DraftEntry::Renew(deliveries) => {
                    deliveries.into_iter().for_each(|delivery| self.work.renew_at(delivery, now));
                }
                DraftEntry::Pop { .. } => self.pop_due = true,
                DraftEntry::Find => self.must_find = true,
                DraftEntry::Leave => {}
            }
        }
        self.give_up_old_one_offs(now);
    }
}
