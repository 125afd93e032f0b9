//! Rows that the ledger did not write: it may answer anything, but it answers, and its work comes
//! to an end.

use std::vec;

use super::world::*;
use crate::{Batch, Contact, Contacts, Head, Inbox, Lease, State, execute};

struct Nobody;

impl Contacts for Nobody {
    fn contact(&mut self, _: Inbox) -> Contact {
        Contact::Silent
    }
}

fn settle(world: &mut World) -> bool {
    let batch: Batch = world.batch(0, vec![]);
    let Ok(outcome) = execute(&mut world.state, &mut Nobody, world.now, &batch);
    outcome.replies.backlog
}

#[test]
fn a_lease_with_nobody_under_it_is_gone_once_it_has_ended() {
    let mut world = World::limited(1);
    let lease = Lease {
        id: lease_of(5),
        inbox: None,
        ttl: TTL,
        ends: 0,
        ends_wall: 0,
        members: 3,
        digest: 0,
        parked: 0,
    };
    let Ok(()) = world.state.put_lease(&lease);
    assert!(!settle(&mut world));
    assert_eq!(world.state.lease(lease.id), Ok(None));
}

#[test]
fn counts_that_are_too_low_stop_at_nought() {
    let mut world = World::limited(2);
    world.take(1, want(1));
    world.queue(1, crate::Acquire { permits: crate::Permits::new(2).unwrap(), ..want(2) });
    let Ok(head) = world.state.head();
    let damaged = Head { held: 0, holders: 0, waiting: 0, past: 0, ..head };
    let Ok(()) = world.state.set_head(&damaged);
    for ticket in [1, 2] {
        let batch = world.batch(1, vec![release(ticket)]);
        let Ok(_) = execute(&mut world.state, &mut Nobody, world.now, &batch);
    }
    let Ok(head) = world.state.head();
    assert_eq!((head.held, head.holders, head.waiting), (0, 0, 0));
}

#[test]
fn what_the_ledger_writes_is_sound_and_what_it_could_not_add_up_is_not() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    let Ok(head) = world.state.head();
    assert!(head.is_sound() && Head::default().is_sound());
    for damaged in [
        Head { clock: u64::MAX, ..head.clone() },
        Head { fence: u64::MAX, ..head.clone() },
        Head { held: u32::MAX, ..head.clone() },
        Head { waiting: u32::MAX, ..head },
    ] {
        assert!(!damaged.is_sound(), "{damaged:?}");
    }
}
