//! The wants for items of one program. They are served first come, first served. A want that is
//! served and wants more goes to the end of the line.

use alloc::collections::{BTreeMap, BTreeSet};

use super::event::{PopId, Until, Want};
use crate::{queue::request::Batch, time::Micros};

/// A want, and how far it is fulfilled.
#[derive(Clone, Debug)]
pub(super) struct Popper {
    pub(super) want: Want,
    /// Items that were delivered and are not finished.
    pub(super) in_hand: u32,
    /// A pop was sent that asks for it.
    pub(super) is_asked: bool,
    /// A pop that asked for it was answered.
    pub(super) is_answered: bool,
    place: u64,
}

/// All wants of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Poppers {
    all: BTreeMap<PopId, Popper>,
    /// The poppers that want more items.
    line: BTreeSet<(u64, PopId)>,
    deadlines: BTreeSet<(Micros, PopId)>,
    places: u64,
}

/// The next pop, for all poppers together.
pub(super) struct PopDemand {
    pub(super) items: u32,
    /// The shortest ttl. A popper that wants a longer one gets it with the first renewal.
    pub(super) ttl: Micros,
    pub(super) waits: bool,
    pub(super) drains: bool,
    pub(super) about: alloc::string::String,
}

impl Popper {
    pub(super) fn wants(&self) -> u32 {
        self.want.items.saturating_sub(self.in_hand)
    }

    fn deadline(&self) -> Option<Micros> {
        match self.want.until {
            Until::Served(deadline) | Until::Answered(deadline) => deadline,
            Until::Unpopped => None,
        }
    }
}

impl Poppers {
    pub(super) fn add(&mut self, id: PopId, want: Want) {
        let popper = Popper { want, in_hand: 0, is_asked: false, is_answered: false, place: 0 };
        if let Some(deadline) = popper.deadline() {
            self.deadlines.insert((deadline, id));
        }
        self.all.insert(id, popper);
        self.refile(id);
    }

    pub(super) fn remove(&mut self, id: PopId) {
        let Some(popper) = self.all.remove(&id) else { return };
        self.line.remove(&(popper.place, id));
        if let Some(deadline) = popper.deadline() {
            self.deadlines.remove(&(deadline, id));
        }
    }

    /// Changes a want, and puts it at the end of the line if it wants more. Says whether it does.
    pub(super) fn change(&mut self, id: PopId, change: impl FnOnce(&mut Popper)) -> bool {
        let Some(popper) = self.all.get_mut(&id) else { return false };
        change(popper);
        self.refile(id)
    }

    fn refile(&mut self, id: PopId) -> bool {
        let Some(popper) = self.all.get_mut(&id) else { return false };
        self.line.remove(&(popper.place, id));
        self.places += 1;
        popper.place = self.places;
        if popper.wants() == 0 {
            return false;
        }
        self.line.insert((popper.place, id))
    }

    pub(super) fn get(&self, id: PopId) -> Option<&Popper> {
        self.all.get(&id)
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = (PopId, &Popper)> {
        self.all.iter().map(|(id, popper)| (*id, popper))
    }

    /// A pop was answered.
    pub(super) fn are_answered(&mut self) {
        self.all.values_mut().for_each(|popper| popper.is_answered |= popper.is_asked);
    }

    /// The popper that is served next.
    pub(super) fn first(&self) -> Option<PopId> {
        self.line.first().map(|(_, id)| *id)
    }

    pub(super) fn next_deadline(&self) -> Option<(Micros, PopId)> {
        self.deadlines.first().copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn want_any(&self) -> bool {
        !self.line.is_empty()
    }

    /// Takes the next pop. Its poppers count as asked for from then on.
    pub(super) fn demand(&mut self) -> Option<PopDemand> {
        let first = self.all.get(&self.first()?)?;
        let about = first.want.about.clone();
        let mut demand =
            PopDemand { items: 0, ttl: Micros::MAX, waits: false, drains: false, about };
        for (_, id) in &self.line {
            let Some(popper) = self.all.get_mut(id) else { continue };
            popper.is_asked = true;
            demand.items = demand.items.saturating_add(popper.wants()).min(Batch::MOST_ITEMS);
            demand.ttl = demand.ttl.min(popper.want.ttl);
            demand.waits |= !matches!(popper.want.until, Until::Answered(_));
            demand.drains |= popper.want.drains;
            // The poppers behind these are asked for when this pop has been answered.
            if demand.items == Batch::MOST_ITEMS {
                break;
            }
        }
        Some(demand)
    }
}
