//! The series that a session draws its tickets from. A session has one series for each name and
//! ttl, which is the series of the lease that its permits share there. The series outlasts the desk
//! for a while. So a program that takes one permit after the other costs the store one memory and
//! not thousands (docs/decisions/tickets.md).

use alloc::collections::BTreeMap;

use super::few::Few;
use crate::{
    id::{LeaseId, Series, Ticket, TicketSource},
    name::Name,
    time::Micros,
};

/// The most names that keep their series while the program uses none of their permits.
const MOST_KEPT: usize = 1024;

/// The most tickets of a series. The numbers above it are no tickets'.
const MOST_DRAWN: u32 = (u32::MAX >> 1) - 1;

/// The lease that permits of one ttl share at one name, and the last number drawn from its series.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) struct SharedLease {
    pub(super) lease: LeaseId,
    last: u32,
}

/// The shared leases of a name by their ttl.
pub(super) type ByTtl = Few<Micros, SharedLease>;

impl SharedLease {
    pub(super) const fn new(lease: LeaseId) -> Self {
        Self { lease, last: 0 }
    }

    /// Draws the next ticket. If the series is used up, a new one begins.
    pub(super) fn draw(&mut self, source: &mut TicketSource) -> Ticket {
        if self.last == MOST_DRAWN {
            *self = Self::new(source.lease());
        }
        self.last += 1;
        Series::from(self.lease).ticket(self.last)
    }
}

/// The series of names of which the program wants nothing at the moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Shelf {
    kept: BTreeMap<Name, (u64, ByTtl)>,
    /// The names in the order in which they were put here, by a running number.
    order: BTreeMap<u64, Name>,
    count: u64,
}

impl Shelf {
    pub(super) fn take(&mut self, name: &Name) -> ByTtl {
        let Some((place, shared)) = self.kept.remove(name) else { return ByTtl::None };
        self.order.remove(&place);
        shared
    }

    /// Keeps the series of a name. If the shelf is full, the name that has been here longest goes.
    pub(super) fn put(&mut self, name: &Name, shared: ByTtl) {
        if shared.is_empty() {
            return;
        }
        self.take(name);
        self.count += 1;
        self.kept.insert(name.clone(), (self.count, shared));
        self.order.insert(self.count, name.clone());
        if self.kept.len() > MOST_KEPT
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.kept.remove(&oldest);
        }
    }

    /// Returns every name with its shared leases.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Name, &ByTtl)> {
        self.kept.iter().map(|(name, (_, shared))| (name, shared))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Inbox;

    #[test]
    fn a_series_that_is_used_up_is_followed_by_another() {
        let mut source = TicketSource::new(Inbox(7 << 64));
        let mut shared = SharedLease::new(source.lease());
        shared.last = MOST_DRAWN - 1;
        let last = shared.draw(&mut source);
        let next = shared.draw(&mut source);
        assert_eq!((last.number(), next.number()), (MOST_DRAWN, 1));
        assert_ne!(last.series(), next.series());
    }

    #[test]
    fn the_shelf_keeps_the_names_that_were_used_last() {
        let mut source = TicketSource::new(Inbox(7 << 64));
        let mut shelf = Shelf::default();
        let name = |n: usize| Name::new(&std::format!("n{n}")).unwrap();
        for n in 0..=MOST_KEPT {
            shelf.put(&name(n), ByTtl::One(1, SharedLease::new(source.lease())));
        }
        assert!(shelf.take(&name(0)).is_empty());
        assert_eq!(shelf.iter().count(), MOST_KEPT);
        assert_eq!(shelf.take(&name(1)).len(), 1);
        assert_eq!(shelf.order.len(), MOST_KEPT - 1);
    }
}
