//! The order of service: which waiter gets a free permit.

use super::{Contact, Contacts, Ledger};
use crate::{
    id::Fence,
    reply::{Cause, What},
    slots::Slots,
    state::{Entry, Standing, State},
};

/// The decision about the first waiter of the queue.
enum QueueStep {
    Grant,
    Park,
    End(Cause),
    Stop,
}

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    /// Grants to the waiters in their order, for as long as permits suffice (rules 5 and 8). A
    /// small request does not pass a large one at the head. A waiter whose client cannot be reached
    /// is parked: it keeps its place, and the next waiter is served.
    pub(super) fn serve(&mut self) -> Result<(), S::Error> {
        if self.is_named() && self.is_open() {
            return self.serve_named();
        }
        while self.is_open() {
            let Some(first) = self.state.first_waiter()? else { break };
            let next = self.next_for(&first);
            // `Stop` is decided first, because a look that changes nothing takes no work.
            if matches!(next, QueueStep::Stop) || !self.has_work() {
                break;
            }
            match next {
                QueueStep::Grant => self.grant_waiter(first, None)?,
                QueueStep::Park => self.park(first)?,
                QueueStep::End(cause) => self.end(&first, cause)?,
                QueueStep::Stop => break,
            }
        }
        Ok(())
    }

    /// Returns whether a waiter could be admitted now: the queue is not empty, and a permit is
    /// free.
    fn is_open(&self) -> bool {
        self.admits() && self.head.waiting > 0 && self.head.held < self.limit()
    }

    /// Returns whether the name admits anybody: it is not paused, and the store cannot have
    /// forgotten a lease (rule 1).
    pub(super) fn admits(&self) -> bool {
        self.head.paused.is_none() && self.guarded_for.is_none()
    }

    /// Decides about the waiter at the head of the queue.
    fn next_for(&mut self, waiter: &Entry) -> QueueStep {
        if waiter.permits > self.limit() {
            // The limit was lowered since the request came. The request could never be served, and
            // would hold up all waiters behind it.
            return QueueStep::End(Cause::TooMany);
        }
        match waiter.inbox.map(|inbox| self.contact(inbox)) {
            Some(Contact::Dead) => QueueStep::End(Cause::Expired),
            Some(Contact::Silent) => QueueStep::Park,
            _ if self.fits(waiter.permits) => QueueStep::Grant,
            _ => QueueStep::Stop,
        }
    }

    fn fits(&self, permits: u32) -> bool {
        permits <= self.limit().saturating_sub(self.head.held)
    }

    /// Takes a waiter out of the order of service, until its client is heard from.
    pub(super) fn park(&mut self, mut entry: Entry) -> Result<(), S::Error> {
        if let Standing::Waiting { parked, .. } = &mut entry.standing {
            *parked = true;
        }
        self.state.put_entry(&entry)?;
        if let Some(mut lease) = self.state.lease(entry.lease)? {
            lease.parked += 1;
            self.state.put_lease(&lease)?;
        }
        Ok(())
    }

    /// Makes a waiter a holder: it leaves the lease of its place and joins the lease that it asked
    /// for. The store has not heard from it since it last renewed its place. So a lease that is
    /// made for it ends no later than the place would have. A client that stopped while it waited
    /// costs no more than that (rule 8), even if the kernel says that it lives.
    pub(super) fn grant_waiter(
        &mut self,
        mut entry: Entry,
        slots: Option<Slots>,
    ) -> Result<(), S::Error> {
        let Standing::Waiting { lease, margin, .. } = entry.standing else { return Ok(()) };
        // The lease of the place is read before the entry leaves it, since it goes with its only
        // member.
        let place = self.state.lease(entry.lease)?;
        self.part(&entry)?;
        self.head.waiting = self.head.waiting.saturating_sub(1);
        entry.lease = lease;
        entry.standing = self.hold(entry.permits, slots)?;
        entry.since = self.now;
        let mut lease = self.join(&entry, entry.ttl, margin)?;
        // If other tickets stand under the lease, it was there before, and its owner renews it.
        if let Some(place) = place.filter(|_| lease.members == 1) {
            lease.ends = lease.ends.min(place.ends);
            lease.ends_wall = lease.ends_wall.min(place.ends_wall);
            // 0 marks a lease whose holder has sent nothing since the grant. A sender of this very
            // batch has just been heard from.
            lease.ttl = if entry.inbox == self.asker { lease.ttl } else { 0 };
            self.state.put_lease(&lease)?;
        }
        self.state.put_entry(&entry)?;
        self.open(&entry)?;
        if let Standing::Holding { fence, slots } = entry.standing.clone() {
            let limit = self.limit();
            self.wake(&entry, What::Granted { fence, slots, limit });
        }
        Ok(())
    }

    /// Takes permits with a new fence: these slots, or the lowest free ones.
    pub(super) fn hold(
        &mut self,
        permits: u32,
        slots: Option<Slots>,
    ) -> Result<Standing, S::Error> {
        // All slots are free, so they are numbered anew, which leaves one range of free slots.
        // Otherwise a writer, which takes all slots, would have to gather every range that a reader
        // has left.
        if self.head.held == 0 && self.head.top > 0 {
            self.head.top = 0;
            self.state.clear_free_slots()?;
        }
        let slots = match slots {
            Some(slots) => {
                self.take_these(&slots)?;
                slots
            }
            None => self.take_slots(permits)?,
        };
        self.head.holders += 1;
        self.head.held += permits;
        Ok(Standing::Holding { fence: self.next_fence(), slots })
    }

    /// Returns a new fence, which is higher than all before it (rule 10). The fence follows the
    /// clock, so it grows even after the store has lost its state.
    pub(super) fn next_fence(&mut self) -> Fence {
        self.head.fence = (self.head.fence + 1).max(self.now);
        Fence(self.head.fence)
    }

    /// Takes the lowest free slots. They are always below the limit, even if slots above it are
    /// still held: at least as many slots below the limit are free as permits are.
    fn take_slots(&mut self, count: u32) -> Result<Slots, S::Error> {
        let mut slots = Slots::none();
        let mut missing = count;
        while missing > 0 {
            let Some((first, last)) = self.state.pop_free_slots()? else { break };
            let n = missing.min(last - first + 1);
            slots.insert(first, first + n - 1);
            missing -= n;
            if first + n <= last {
                self.state.push_free_slots(first + n, last)?;
            }
        }
        if missing > 0 {
            slots.insert(self.head.top, self.head.top + missing - 1);
            self.head.top += missing;
        }
        Ok(slots)
    }
}
