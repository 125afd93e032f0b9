//! A call under way.

use alloc::vec::Vec;

use super::event::OneOffId;
use crate::{
    id::{LeaseId, Ticket},
    name::Name,
    slots::Slots,
    time::Micros,
};

/// A call under way, with the purpose of each of its requests.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) at: Micros,
    pub(super) name: Name,
    pub(super) items: Vec<BatchPart>,
    /// Whether the call was sent while another call about the name was under way. Such a call has
    /// renewals only.
    pub(super) overtakes: bool,
}

impl Sent {
    /// Returns whether the call may change which tickets stand under a lease. As long as nobody
    /// knows whether it was executed, a renewal of that lease must name its tickets.
    pub(super) fn changes_leases(&self) -> bool {
        let is_renewal = |item: &BatchPart| {
            use BatchPart::{Lease, OneOff, Places, Proof, Tickets};
            matches!(item, Lease { .. } | Tickets { .. } | Proof { .. } | Places(_) | OneOff(_))
        };
        !self.items.iter().all(is_renewal)
    }
}

#[derive(Clone, Debug, Hash)]
pub(super) enum BatchPart {
    /// A renewal of a whole lease, with the tickets that were believed to stand under it.
    Lease {
        lease: LeaseId,
        tickets: Vec<Ticket>,
    },
    /// A renewal of a lease, ticket by ticket.
    Tickets {
        lease: LeaseId,
        tickets: Vec<Ticket>,
    },
    /// A renewal of tickets that the program does not have yet, to prove how long they are held.
    Proof {
        lease: LeaseId,
        tickets: Vec<Ticket>,
    },
    /// A renewal that proves the grant which a release in the same call may give to a waiting
    /// ticket of ours.
    Ahead {
        lease: LeaseId,
        ticket: Ticket,
    },
    /// A renewal of the places in line of one series, which stand under this lease.
    Places(LeaseId),
    Acquire(Ticket),
    Attach(Ticket, LeaseId),
    Release(Ticket, Option<Slots>),
    Cancel(Ticket),
    Detach(Ticket),
    OneOff(OneOffId),
}
