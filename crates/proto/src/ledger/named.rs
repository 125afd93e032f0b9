//! Slots that have names: which waiter gets which slot.
//!
//! ```text
//!   the line in its order      the slot that each may have
//!   wants board-b              board-b, once that is free; nobody later gets it before
//!   wants any                  the lowest free slot that nobody before it waits for
//! ```
//!
//! Only with named slots may a waiter be served before one that came earlier. A slot goes to a
//! later waiter only if no waiter before it could take that slot.

use alloc::{boxed::Box, vec::Vec};

use super::{Contact, Contacts, Ledger};
use crate::{
    reply::{Cause, Reply},
    request::Acquire,
    slot_names::SlotNames,
    slots::Slots,
    state::{Entry, Standing, State},
};

/// The most waiters that one step looks at (rule 18). If all of them wish for slots that are held,
/// the waiters behind them wait until one of them leaves the line.
const MOST_LOOKED: u32 = 256;

/// The permits and slots that remain while the ledger goes through the line.
struct RoomLeft {
    /// Free slots that no waiter so far waits for.
    open: Slots,
    /// Free permits.
    permits: u32,
}

/// The way in which a request fits into the room.
enum Fit {
    /// The request gets these slots.
    Takes(Slots),
    /// A slot that the request wishes for is held. The request keeps the free slots among its
    /// wishes from all later requests, which may have the other slots.
    WaitsForSlots,
    /// The request wants more permits than are left, and nobody passes it (rule 5).
    Stops,
}

impl RoomLeft {
    fn is_empty(&self) -> bool {
        self.permits == 0 || self.open.is_empty()
    }

    /// Decides about the next request in line, and takes its slots out of the room.
    fn fit(&mut self, permits: u32, wishes: &Slots) -> Fit {
        if !self.open.contains(wishes) {
            // Without this, later waiters would take the slots of its wishes one by one, and it
            // would never get all of them.
            self.open.take(wishes);
            return Fit::WaitsForSlots;
        }
        if permits > self.permits || permits > self.open.count() {
            return Fit::Stops;
        }
        // The request takes the slots that it wishes for, and the lowest of the rest, `permits` in
        // all.
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

    /// Returns the numbers of the slots that a request wishes for, or its refusal.
    pub(super) fn wishes_of(&self, ask: &Acquire) -> Result<Slots, Box<Reply>> {
        let (ticket, there) = (ask.ticket, self.head.names.clone());
        let (permits, limit) = (ask.wishes.count(), ask.permits.get());
        if permits > limit {
            return Err(Reply::TooMany { ticket, permits, limit }.into());
        }
        let slots = there.slots(&ask.wishes);
        slots.ok_or_else(|| Reply::NoSuchSlot { ticket, there }.into())
    }

    /// Returns the slots that a request gets at once, without standing in line: some of those that
    /// no waiter takes (rule 5). `None`: the request has to wait.
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
        // There may be more waiters than were looked at, and a newcomer must not pass them.
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
        // Waiters that this step did not look at have moved up, and may be served by the next step.
        self.backlog |= is_page && self.work < work;
        Ok(())
    }

    /// Returns whether this waiter cannot be served at all, and then its fate: the cause of its
    /// end, or `None` if it is parked.
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

    /// Returns the first waiters in the order of service, with the slots that each wishes for.
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

    /// Returns the free slots that have names. Slots from `top` up have never been handed out.
    fn room(&mut self) -> Result<RoomLeft, S::Error> {
        let (names, top) = (self.head.names.count(), self.head.top);
        let mut open = Slots::none();
        for (first, last) in self.state.free_slots_below(names)? {
            open.insert(first, last.min(names - 1));
        }
        if top < names {
            open.insert(top, names - 1);
        }
        // The limit may have been lowered below the number of held permits.
        Ok(RoomLeft { open, permits: self.limit().saturating_sub(self.head.held) })
    }

    /// Takes these slots out of the free ones.
    pub(super) fn take_these(&mut self, slots: &Slots) -> Result<(), S::Error> {
        let Some(&(_, highest)) = slots.ranges().last() else { return Ok(()) };
        // The slots from the top up become a free range first, so that the loop below finds all
        // slots in the same way.
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

    /// Returns whether slots may get these names. Holders and waiters were told the present names.
    /// So while there are any, names may only be added: otherwise two of them might be told the
    /// same name.
    pub(super) fn may_be_called(&self, names: &SlotNames) -> bool {
        let is_used = self.head.holders > 0 || self.head.waiting > 0;
        !is_used || names.begins_with(&self.head.names)
    }
}
