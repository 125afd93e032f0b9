//! Composing the next batch from everything that is due.

use alloc::{sync::Arc, vec::Vec};

use super::{
    PendingOneOff, Session,
    event::{Call, OneOffId},
};
use crate::{
    queue::{
        item::Delivery,
        ledger::MOST_PAYLOAD,
        request::{Batch, Pop, Renew, Request},
    },
    session::CallId,
    time::Micros,
};

/// A batch, until its outcome is known.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    /// The call under way. None: it failed, and another one is to be made.
    pub(super) call: Option<CallId>,
    pub(super) batch: Arc<Batch>,
    /// The purpose of each of its requests.
    pub(super) entries: Vec<DraftEntry>,
    /// When it was first sent.
    pub(super) first_at: Micros,
    /// When the latest call was made.
    pub(super) at: Micros,
    /// By then its deadline has passed on the store's clock.
    pub(super) over_at: Micros,
    /// An earlier call may have done it.
    pub(super) is_doubtful: bool,
}

#[derive(Clone, Debug)]
pub(super) enum DraftEntry {
    OneOff(OneOffId, Micros),
    Finish(Delivery),
    Renew(Vec<Delivery>),
    Pop {
        items: u32,
        ttl: Micros,
        waits: bool,
    },
    /// Sent again until it is answered, because `in_line` stays set for so long.
    Leave,
    /// A look for deliveries that the store has for this session.
    Find,
}

/// How many deliveries are looked through for those that we do not know of.
const FOUND: u32 = 10_000;

#[derive(Default)]
struct Draft {
    entries: Vec<DraftEntry>,
    requests: Vec<Request>,
    bytes: usize,
}

impl Draft {
    fn push(&mut self, entry: DraftEntry, request: Request) {
        self.entries.push(entry);
        self.requests.push(request);
    }

    /// One request is kept for a pop, so that it goes with what was finished.
    fn is_full(&self) -> bool {
        self.requests.len() + 1 >= Batch::MOST
    }

    /// A payload goes into a batch if the batch has room for it, or has no other payload.
    fn has_room_for(&self, request: &Request) -> bool {
        let bytes = payload(request);
        !self.is_full() && (self.bytes == 0 || self.bytes + bytes <= MOST_PAYLOAD)
    }
}

fn payload(request: &Request) -> usize {
    match request {
        Request::Push(push) => push.payload.len(),
        _ => 0,
    }
}

impl Session {
    /// Makes a call of the batch that is to be sent.
    pub(super) fn send(&mut self, now: Micros) -> Option<Call> {
        let sent = self.sent.as_mut()?;
        self.last_call += 1;
        let id = CallId(self.last_call);
        (sent.call, sent.at) = (Some(id), now);
        Some(Call { id, batch: Arc::clone(&sent.batch) })
    }

    pub(super) fn compose(&mut self, now: Micros) -> Option<Sent> {
        if self.bearings.clock.is_none() {
            // A request needs a deadline on the store's clock, which is not known yet. Any answer
            // tells it.
            let must_ask = self.has_to_send();
            return must_ask.then(|| self.sent(now, Draft::default()));
        }
        let draft = self.draft(now);
        let is_due = !draft.requests.is_empty() || self.must_settle;
        self.must_settle = false;
        is_due.then(|| self.sent(now, draft))
    }

    /// Renewals go first, because they are urgent. The pop goes last, because the others make room
    /// for it.
    fn draft(&mut self, now: Micros) -> Draft {
        let mut draft = Draft::default();
        self.draft_renewals(now, &mut draft);
        self.draft_finishes(&mut draft);
        if core::mem::take(&mut self.must_find) {
            draft.push(DraftEntry::Find, Request::Inspect { rows: FOUND });
        }
        self.draft_one_offs(&mut draft);
        self.draft_pop(&mut draft);
        draft
    }

    fn draft_renewals(&mut self, now: Micros, draft: &mut Draft) {
        for (ttl, deliveries) in self.work.due(now) {
            let margin = self.config.stated_margin(ttl);
            for some in deliveries.chunks(Batch::MOST_DELIVERIES) {
                if draft.is_full() {
                    return;
                }
                some.iter().for_each(|delivery| self.work.asked_to_renew(*delivery));
                let renew = Renew { ttl, margin, deliveries: some.to_vec() };
                draft.push(DraftEntry::Renew(some.to_vec()), Request::Renew(renew));
            }
        }
    }

    fn draft_finishes(&mut self, draft: &mut Draft) {
        while !draft.is_full()
            && let Some(delivery) = self.finishes.pop_front()
        {
            // It may have been given up meanwhile.
            let leaving = self.work.get(delivery).and_then(|held| held.leaving.as_ref());
            if let Some(leaving) = leaving {
                let how = leaving.how.clone();
                draft.push(DraftEntry::Finish(delivery), Request::Finish { delivery, how });
            }
        }
    }

    fn draft_one_offs(&mut self, draft: &mut Draft) {
        while let Some(one_off) = self.one_offs.front()
            && draft.has_room_for(&one_off.request)
            && let Some(PendingOneOff { id, request, at }) = self.one_offs.pop_front()
        {
            draft.bytes += payload(&request);
            draft.push(DraftEntry::OneOff(id, at), request);
        }
    }

    fn draft_pop(&mut self, draft: &mut Draft) {
        // Neither a pop is due, nor is there a place in line that nobody needs any more.
        if !self.pop_due && (self.poppers.want_any() || !self.in_line) {
            return;
        }
        self.pop_due = false;
        let Some(demand) = self.poppers.demand() else {
            if self.in_line {
                draft.push(DraftEntry::Leave, Request::Leave);
            }
            return;
        };
        let (items, ttl, waits) = (demand.items, demand.ttl, demand.waits);
        self.look_at = None; // what is told from now on is about the place that this asks for
        self.in_line |= waits;
        let pop = Pop {
            items,
            ttl,
            margin: self.config.stated_margin(ttl),
            wait: waits,
            drains: demand.drains,
            about: demand.about,
        };
        draft.push(DraftEntry::Pop { items, ttl, waits }, Request::Pop(pop));
    }

    fn sent(&mut self, now: Micros, draft: Draft) -> Sent {
        let Draft { entries, requests, .. } = draft;
        let changes = requests.iter().any(|request| !request.reads());
        let (not_after, over_at) = self.deadline(now);
        if changes {
            self.bearings.number += 1;
            self.bearings.not_after = not_after;
        }
        let batch = Batch {
            name: self.name.clone(),
            session: self.inbox,
            number: if changes { self.bearings.number } else { 0 },
            not_after,
            seen: self.bearings.seen,
            requests,
        };
        let batch = Arc::new(batch);
        let is_doubtful = false;
        Sent { call: None, batch, entries, first_at: now, at: now, over_at, is_doubtful }
    }

    /// Until when the store may do what is sent now, on its clock, and when that is over for
    /// certain, on ours. Where its clock was set back that may be much longer; what comes later is
    /// then refused for its number.
    fn deadline(&self, now: Micros) -> (Micros, Micros) {
        let patience = self.config.patience;
        let Some((shows, asked_at, heard_at)) = self.bearings.clock else {
            return (self.bearings.not_after, now + patience);
        };
        let clock = shows.saturating_add(now.saturating_sub(asked_at));
        let not_after = self.bearings.not_after.max(clock.saturating_add(patience));
        // The reading may be as old as its round trip took, and clocks may differ in speed by a
        // hundredth.
        let in_doubt = heard_at.saturating_sub(asked_at) + patience / 100;
        let over_in = (not_after - clock).saturating_add(in_doubt).min(patience.saturating_mul(2));
        (not_after, now.saturating_add(over_in))
    }
}
