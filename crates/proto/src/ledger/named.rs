//! Names for slots: who gets which slot, where it makes a difference.
//!
//! ```text
//!   the line in its order      what each may have
//!   wants board-b              board-b, once that is free; nobody later gets it before
//!   wants any                  the lowest free slot that nobody before it waits for
//! ```
//!
//! This is the one place where somebody is served before a waiter that came earlier: a slot goes to one who is later in
//! the line only if nobody before that one could take it.

use alloc::{boxed::Box, vec::Vec};

use super::{Contact, Contacts, Ledger};
use crate::{
    reply::{Cause, Reply},
    request::Acquire,
    slot_names::SlotNames,
    slots::Slots,
    state::{Entry, Standing, State},
};

/// Waiters that one step looks at (rule 18). If all of these wish for slots that are held, those behind them wait until
/// one of these leaves the line.
const MOST_LOOKED: u32 = 256;

/// What is left to be had while the line is gone through in its order.
struct Room {
    open: Slots,
    permits: u32,
}

/// What that is to a request.
enum Fit {
    /// It gets these.
    Takes(Slots),
    /// It waits for a slot of its own, which nobody later gets. The others are there for those behind it.
    WaitsForSlots,
    /// It wants more than there is, and nobody passes it (rule 5).
    Stops,
}

impl Room {
    fn is_empty(&self) -> bool {
        self.permits == 0 || self.open.is_empty()
    }

    fn fit(&mut self, permits: u32, wishes: &Slots) -> Fit {
        if !self.open.contains(wishes) {
            self.open.take(wishes);
            return Fit::WaitsForSlots;
        }
        if permits > self.permits || permits > self.open.count() {
            return Fit::Stops;
        }
        let mut slots = self.open.take(wishes);
        slots.extend(&self.open.split_lowest(permits - slots.count()));
        self.permits -= permits;
        Fit::Takes(slots)
    }
}

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    pub(super) fn is_named(&self) -> bool {
        !self.head.names.is_empty()
    }

    /// The numbers of the slots that a request wishes for, or why it is refused.
    pub(super) fn wishes_of(&self, ask: &Acquire) -> Result<Slots, Box<Reply>> {
        let (ticket, there) = (ask.ticket, self.head.names.clone());
        let (permits, limit) = (ask.wishes.count(), ask.permits.get());
        if permits > limit {
            return Err(Reply::TooMany { ticket, permits, limit }.into());
        }
        let slots = there.slots(&ask.wishes);
        slots.ok_or_else(|| Reply::NoSuchSlot { ticket, there }.into())
    }

    /// The slots that somebody who is not in the line gets at once: those that the line leaves (rule 5).
    pub(super) fn left_by_the_line(
        &mut self,
        permits: u32,
        wishes: &Slots,
    ) -> Result<Option<Slots>, S::Error> {
        if !self.admits() {
            return Ok(None);
        }
        let mut room = self.room()?;
        let line = self.line()?;
        if line.len() == MOST_LOOKED as usize {
            return Ok(None);
        }
        for (waiter, wishes) in line {
            if room.is_empty() || matches!(room.fit(waiter.permits, &wishes), Fit::Stops) {
                return Ok(None);
            }
        }
        Ok(match room.fit(permits, wishes) {
            Fit::Takes(slots) => Some(slots),
            Fit::WaitsForSlots | Fit::Stops => None,
        })
    }

    /// Grants to the waiters in their order, as long as there is a slot for one of them.
    pub(super) fn serve_named(&mut self) -> Result<(), S::Error> {
        let mut room = self.room()?;
        let line = self.line()?;
        let is_page = line.len() == MOST_LOOKED as usize;
        let work = self.work;
        for (waiter, wishes) in line {
            if room.is_empty() {
                return Ok(());
            }
            if let Some(contact) = self.unfit(&waiter) {
                if !self.has_work() {
                    return Ok(());
                }
                self.pass_over(waiter, contact)?;
                continue;
            }
            match room.fit(waiter.permits, &wishes) {
                Fit::Stops => return Ok(()),
                Fit::WaitsForSlots => {}
                Fit::Takes(_) if !self.has_work() => return Ok(()),
                Fit::Takes(slots) => self.grant_waiter(waiter, Some(slots))?,
            }
        }
        // Those whom this step did not look at have moved up.
        self.backlog |= is_page && self.work < work;
        Ok(())
    }

    /// Who is not to be served at all, and what becomes of it: `None` parks it.
    fn unfit(&mut self, waiter: &Entry) -> Option<Option<Cause>> {
        if waiter.permits > self.limit() {
            return Some(Some(Cause::TooMany));
        }
        match waiter.inbox.map(|inbox| self.contact(inbox)) {
            Some(Contact::Dead) => Some(Some(Cause::Expired)),
            Some(Contact::Silent) => Some(None),
            _ => None,
        }
    }

    fn pass_over(&mut self, waiter: Entry, end: Option<Cause>) -> Result<(), S::Error> {
        match end {
            Some(cause) => self.end(&waiter, cause),
            None => self.park(waiter),
        }
    }

    /// Those in the order of service, and the slots that they wish for.
    fn line(&mut self) -> Result<Vec<(Entry, Slots)>, S::Error> {
        if self.head.waiting == 0 {
            return Ok(Vec::new());
        }
        let waiters = self.state.waiters(MOST_LOOKED)?.into_iter();
        Ok(waiters
            .filter_map(|entry| match &entry.standing {
                Standing::Waiting { wishes, parked: false, .. } => {
                    let wishes = wishes.clone();
                    Some((entry, wishes))
                }
                _ => None,
            })
            .collect())
    }

    /// The slots that have names and are free. Slots from `top` up have never been handed out.
    fn room(&mut self) -> Result<Room, S::Error> {
        let (names, top) = (self.head.names.count(), self.head.top);
        let mut open = Slots::none();
        for (first, last) in self.state.free_slots_below(names)? {
            open.insert(first, last.min(names - 1));
        }
        if top < names {
            open.insert(top, names - 1);
        }
        Ok(Room { open, permits: self.limit().saturating_sub(self.head.held) })
    }

    /// Takes these slots out of the free ones.
    pub(super) fn take_these(&mut self, slots: &Slots) -> Result<(), S::Error> {
        let Some(&(_, highest)) = slots.ranges().last() else { return Ok(()) };
        if highest >= self.head.top {
            self.state.push_free_slots(self.head.top, highest)?;
            self.head.top = highest + 1;
        }
        for (first, last) in self.state.free_slots_below(highest + 1)? {
            let mut rest = Slots::range(first, last);
            if rest.take(slots).is_empty() {
                continue;
            }
            self.state.remove_free_slots(first, last)?;
            for &(first, last) in rest.ranges() {
                self.state.push_free_slots(first, last)?;
            }
        }
        Ok(())
    }

    /// Whether slots may get these names. Whoever holds or waits goes by the names that there are: so these may only be
    /// added to. Otherwise two might be told the same name.
    pub(super) fn may_be_called(&self, names: &SlotNames) -> bool {
        let is_used = self.head.holders > 0 || self.head.waiting > 0;
        !is_used || names.begins_with(&self.head.names)
    }
}
