//! Takes in the answers to batches.

use alloc::{collections::BTreeMap, vec::Vec};

use super::{
    Session,
    compose::{DraftEntry, Sent},
    event::{Answer, Delivered, DeliveryEnd, Event, PopId, Until},
    work::HeldDelivery,
};
use crate::{
    queue::{
        item::Delivery,
        reply::{Popped, Replies, Reply, Snapshot},
        request::How,
    },
    session::LeaseSchedule,
    time::{MILLISECOND, Micros},
};

/// The moment at which an answer was heard, and the moments from which it may count.
#[derive(Clone, Copy)]
struct Heard {
    now: Micros,
    /// When the batch was first sent. The store may have executed a renewal then, although it
    /// answers only now.
    first_at: Micros,
    /// When the call was made that has been answered.
    at: Micros,
}

/// The proof that the answer to a pop gives for its items: all of them have the same lease times.
struct LeaseProof {
    /// The moment from which to count.
    at: Micros,
    /// How long to believe in the leases; `None`: as long as the process lives.
    certain: Option<Micros>,
    ttl: Micros,
    renew_at: Micros,
}

impl Session {
    /// Takes in the answers to the batch under way.
    pub(super) fn take_answers(&mut self, now: Micros, sent: Sent, replies: Replies) {
        self.bearings.clock = Some((replies.now, sent.at, now));
        self.see(replies.now);
        self.retry_at = None;
        // A batch is refused whole, so one such reply speaks for all of them.
        if replies.replies.contains(&Reply::Late) {
            return self.take_late(now, sent);
        }
        self.failures = 0;
        self.must_settle |= replies.backlog;
        let heard = Heard { now, first_at: sent.first_at, at: sent.at };
        let mut answers = replies.replies.into_iter();
        for entry in sent.entries {
            self.take_answer(heard, entry, answers.next());
        }
        self.lost_early.clear();
        if let Some(look_in) = replies.look_in {
            // However soon an event is due, one look a millisecond is enough.
            self.look_by(now + look_in.max(MILLISECOND));
        }
    }

    fn see(&mut self, number: u64) {
        self.bearings.seen = self.bearings.seen.max(number);
    }

    fn take_answer(&mut self, heard: Heard, entry: DraftEntry, reply: Option<Reply>) {
        match (entry, reply) {
            (DraftEntry::OneOff(one_off, _), reply) => {
                if let Some(Reply::Pushed { id }) = &reply {
                    self.see(id.0);
                }
                let answer = reply.map_or(Answer::Unknown, Answer::Done);
                self.events.push_back(Event::Answer { one_off, answer });
            }
            (DraftEntry::Finish(delivery), reply) => {
                self.take_end(delivery, reply.map_or(DeliveryEnd::Unknown, end_of));
            }
            (DraftEntry::Renew(asked), Some(Reply::Renewed { valid_for, lost })) => {
                self.take_renewal(heard, &asked, valid_for, &lost);
            }
            (DraftEntry::Renew(asked), _) => {
                asked.into_iter().for_each(|delivery| self.work.renew_at(delivery, heard.now));
            }
            (
                DraftEntry::Pop { items: asked, ttl, waits },
                Some(Reply::Popped { items, valid_for, left }),
            ) => {
                self.in_line = waits && items.len() < asked as usize;
                self.poppers.are_answered();
                let proof = self.proof(heard, ttl, valid_for);
                self.take_items(heard.now, &proof, items);
                self.end_wishes(left);
                self.go_on(heard.now);
            }
            // This is no answer to a pop, so the pop is sent again after a pause.
            (DraftEntry::Pop { .. }, _) => {
                self.pop_due = true;
                self.retry_at = Some(heard.now + self.pause());
            }
            (DraftEntry::Find, Some(Reply::Snapshot(seen))) => self.find(&seen),
            // This is no answer to the one-off request. A delivery that is not found ends with its
            // lease.
            (DraftEntry::Find, _) => {}
            (DraftEntry::Leave, _) => (self.in_line, self.look_at) = (false, None),
        }
    }

    /// Returns for how long to believe in a lease that is valid for `valid_for`.
    fn certain(&self, ttl: Micros, valid_for: Option<Micros>) -> Option<Micros> {
        let margin = self.config.margin(ttl);
        valid_for.map(|valid_for| valid_for.saturating_sub(margin))
    }

    /// Takes in a renewal: the leases count from the first call of the batch, since that call may
    /// have renewed them.
    fn take_renewal(
        &mut self,
        heard: Heard,
        asked: &[Delivery],
        valid_for: Option<Micros>,
        lost: &[Delivery],
    ) {
        lost.iter().for_each(|delivery| self.take_loss(*delivery));
        let draw = self.draw();
        for &delivery in asked {
            let Some(held) = self.work.get(delivery) else { continue };
            if held.leaving.is_some() {
                continue;
            }
            let ttl = held.ttl;
            let (at, certain) = (heard.first_at, self.certain(ttl, valid_for));
            let until = certain.map(|certain| at + certain);
            self.work.change(delivery, |held| held.believe(at, certain));
            self.work.renew_at(delivery, next_renewal(at, ttl, certain, draw));
            // An answer that comes after the end has renewed nothing. The alarm tells of the loss.
            if until.is_none_or(|until| until > heard.now) {
                self.events.push_back(Event::Renewed { delivery, valid_until: until });
            }
        }
    }

    fn proof(&mut self, heard: Heard, ttl: Micros, valid_for: Option<Micros>) -> LeaseProof {
        // A pop that is sent again is answered with the time that is left of the leases then. So
        // its answer counts from the call that was answered, and not from the first one.
        let at = heard.at;
        let certain = self.certain(ttl, valid_for);
        // All items get the same draw, so that they are due for renewal together.
        let renew_at = next_renewal(at, ttl, certain, self.draw());
        LeaseProof { at, certain, ttl, renew_at }
    }

    /// Gives each item to the want that is first in line by then, and tells each want once.
    fn take_items(&mut self, now: Micros, proof: &LeaseProof, items: Vec<Popped>) {
        let valid_until = proof.certain.map(|certain| proof.at + certain);
        let mut parcels = BTreeMap::<PopId, Vec<Delivered>>::new();
        for item in items {
            if let Some(pop) = self.take_item(now, proof, item.delivery) {
                parcels.entry(pop).or_default().push(Delivered { item, valid_until });
            }
        }
        for (pop, items) in parcels {
            if self.poppers.get(pop).is_some_and(|popper| popper.want.until != Until::Unpopped) {
                self.poppers.remove(pop);
            }
            self.events.push_back(Event::Delivered { pop, items });
        }
    }

    /// Returns the want that gets an item; `None` if the item is lost, or goes back since no want
    /// here can take it.
    fn take_item(&mut self, now: Micros, proof: &LeaseProof, delivery: Delivery) -> Option<PopId> {
        self.see(delivery.fence.0);
        // A wakeup has said already that this delivery is over.
        if self.lost_early.contains(&delivery) {
            return None;
        }
        let mut held = HeldDelivery::new(proof.ttl);
        held.believe(proof.at, proof.certain);
        // The answer may have been on its way for longer than the lease lasts.
        let is_over = held.is_over(now);
        self.work.put(delivery, held);
        let Some(pop) = self.poppers.first().filter(|_| !is_over) else {
            self.give_back(delivery);
            return None;
        };
        self.assign(pop, delivery);
        self.work.renew_at(delivery, proof.renew_at);
        Some(pop)
    }

    fn assign(&mut self, pop: PopId, delivery: Delivery) {
        let Some(popper) = self.poppers.get(pop) else { return };
        let (ttl, goes_on) = (popper.want.ttl, popper.want.until == Until::Unpopped);
        self.work.change(delivery, |held| held.ttl = ttl);
        if goes_on {
            self.work.takers.insert(delivery, pop);
        }
        self.poppers.change(pop, |popper| popper.in_hand += 1);
    }

    /// Ends the wants that did not want to wait, and those that drain a queue that is empty.
    fn end_wishes(&mut self, left: u64) {
        let asked = self.poppers.ids().filter(|(_, popper)| popper.is_asked);
        let over = asked.filter_map(|(pop, popper)| match popper.want.until {
            Until::Answered(_) => Some((pop, Event::Delivered { pop, items: Vec::new() })),
            _ if popper.want.drains && left == 0 => Some((pop, Event::Drained { pop })),
            _ => None,
        });
        for (pop, event) in over.collect::<Vec<_>>() {
            self.poppers.remove(pop);
            self.events.push_back(event);
        }
    }

    /// Lets wants for more items stand in line, or ask again at once.
    fn go_on(&mut self, now: Micros) {
        if self.in_line {
            self.stand_in_line(now);
        } else {
            self.look_at = None;
            self.pop_due |= self.poppers.want_any();
        }
    }

    /// Takes in the answer to a batch that was given up. Its items go back for other workers.
    pub(super) fn take_late_answers(&mut self, replies: Replies) {
        for reply in replies.replies {
            if let Reply::Popped { items, .. } = reply {
                items.iter().for_each(|item| self.disown(item.delivery));
            }
        }
    }

    /// Gives back deliveries that the store has for this session and that nobody here knows of.
    /// They come from a pop that was given up. If leases last as long as the process, nothing else
    /// would end them.
    fn find(&mut self, seen: &Snapshot) {
        let ours = seen.work.iter().filter(|row| row.by == self.inbox);
        let ours: Vec<_> = ours.map(|row| Delivery { id: row.id, fence: row.fence }).collect();
        ours.into_iter().for_each(|delivery| self.disown(delivery));
    }

    /// Gives back a delivery that no want of this program asked for.
    fn disown(&mut self, delivery: Delivery) {
        if self.work.get(delivery).is_none() {
            let mut held = HeldDelivery::new(self.config.ttl);
            // Nobody here knows when the lease of the delivery ends. So the session gives it back
            // without a time limit, until the store answers.
            held.believe(0, None);
            held.leave(How::GiveBack { delay: 0 }, true);
            self.work.put(delivery, held);
            self.finishes.push_back(delivery);
        }
    }
}

fn end_of(reply: Reply) -> DeliveryEnd {
    match reply {
        Reply::Acknowledged { .. } => DeliveryEnd::Acknowledged,
        Reply::Returned { .. } => DeliveryEnd::Returned,
        Reply::Died { .. } => DeliveryEnd::Died,
        Reply::Lost { .. } => DeliveryEnd::Lost,
        _ => DeliveryEnd::Unknown,
    }
}

fn next_renewal(at: Micros, ttl: Micros, certain: Option<Micros>, draw: u64) -> Micros {
    at + LeaseSchedule::new(ttl, certain.unwrap_or(ttl)).renew_drawn(draw)
}
