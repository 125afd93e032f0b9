//! Names for slots, and wishes for them.

use std::{format, string::String, string::ToString, vec, vec::Vec};

use super::{why::waits, world::*};
use crate::{
    Acquire, Busy, Configure, Contact, Enqueue, Grant, Kind, Limit, Priority, Reply, Request,
    TicketReply, What, why::Reason,
};

const THREE: &str = "GPU-0,GPU-1,board-b";

fn names(grant: &Grant) -> String {
    grant.names.to_string()
}

/// Returns the slots of each ticket that this step granted.
fn told(outcome: &crate::Outcome) -> Vec<(u128, String)> {
    let granted = outcome.wakeups.iter().filter_map(|wakeup| match &wakeup.what {
        What::Granted { slots, .. } => Some((number_of(wakeup.ticket), slots.to_string())),
        What::Ended(_) => None,
    });
    granted.collect()
}

#[test]
fn a_holder_is_told_the_names_of_its_slots_however_it_hears_of_them() {
    let mut world = World::named(THREE);
    let first = world.take(1, permits(1, 2));
    assert_eq!((first.limit, names(&first).as_str()), (3, "GPU-0,GPU-1"));
    world.take(2, want(2));
    world.queue(3, want(3));
    assert_eq!(told(&world.release(2, 2)), [(3, "2".to_string())]);
    assert_eq!(names(&world.take(3, want(3))), "board-b");
    let Reply::Tickets { tickets, .. } = world.renew(3, 3, &[3]) else { panic!() };
    assert!(
        matches!(&tickets[0], TicketReply::Held { names, .. } if names.to_string() == "board-b")
    );
    assert_eq!(names(&world.attach(4, attach(3, 9))), "board-b");
}

#[test]
fn the_number_of_names_is_the_limit() {
    let mut world = World::named(THREE);
    let seen = world.snapshot();
    assert_eq!(
        (seen.limit, seen.pinned, seen.slot_names.to_string().as_str()),
        (3, Some(3), THREE)
    );
    assert!(matches!(world.acquire(1, permits(1, 4)), Reply::TooMany { limit: 3, .. }));
}

#[test]
fn a_wish_is_granted_if_the_slot_is_free() {
    let mut world = World::named(THREE);
    assert_eq!(names(&world.take(1, wishing(1, "board-b"))), "board-b");
    assert_eq!(names(&world.take(2, want(2))), "GPU-0");
    assert_eq!(names(&world.take(3, wishing(3, "GPU-1"))), "GPU-1");
}

#[test]
fn what_is_not_wished_for_is_added_from_below() {
    let mut world = World::named(THREE);
    let want = Acquire { permits: permits(1, 2).permits, ..wishing(1, "board-b") };
    assert_eq!(names(&world.take(1, want)), "GPU-0,board-b");
}

#[test]
fn a_wish_for_a_name_that_no_slot_has_is_refused_with_those_there_are() {
    let mut world = World::named(THREE);
    let reply = world.acquire(1, wishing(1, "board-c"));
    assert!(matches!(reply, Reply::NoSuchSlot { there, .. } if there.to_string() == THREE));
    let mut plain = World::limited(2);
    let reply = plain.acquire(1, wishing(1, "0"));
    assert!(matches!(reply, Reply::NoSuchSlot { there, .. } if there.is_empty()));
    assert!(plain.waiters().is_empty() && plain.holders().is_empty());
}

#[test]
fn more_wishes_than_permits_are_refused() {
    let mut world = World::named(THREE);
    let want = Acquire { permits: permits(1, 1).permits, ..wishing(1, "GPU-0,GPU-1") };
    assert!(matches!(world.acquire(1, want), Reply::TooMany { permits: 2, limit: 1, .. }));
}

#[test]
fn a_request_waits_for_the_slot_it_names_and_holds_up_no_waiter_that_can_have_another() {
    let mut world = World::named(THREE);
    world.take(1, wishing(1, "board-b"));
    world.queue(2, wishing(2, "board-b"));
    assert_eq!(names(&world.take(3, want(3))), "GPU-0");
    assert_eq!(names(&world.take(4, want(4))), "GPU-1");
    world.queue(5, want(5));
    assert_eq!(told(&world.release(3, 3)), [(5, "0".to_string())]);
    assert_eq!(told(&world.release(1, 1)), [(2, "2".to_string())]);
}

#[test]
fn no_later_waiter_takes_a_slot_that_is_waited_for() {
    let mut world = World::named(THREE);
    world.take(1, permits(1, 3));
    world.queue(2, wishing(2, "GPU-0,board-b"));
    world.queue(3, want(3));
    world.queue(4, wishing(4, "GPU-0"));
    // GPU-0 is free, but the first in line waits for it.
    let outcome = world.send(1, vec![release_slots(1, "0")]);
    assert!(told(&outcome).is_empty());
    let none = Acquire { enqueue: Enqueue::No, ..want(5) };
    assert!(matches!(world.acquire(5, none), Reply::Busy { why: Busy::Full, held: 2, .. }));
    let outcome = world.send(1, vec![release_slots(1, "1")]);
    assert_eq!(told(&outcome), [(3, "1".to_string())]);
    let outcome = world.send(1, vec![release_slots(1, "2")]);
    assert_eq!(told(&outcome), [(2, "0,2".to_string())]);
}

#[test]
fn nobody_passes_a_large_request_whose_wish_is_free() {
    let mut world = World::named(THREE);
    world.take(1, permits(1, 2));
    let large = Acquire { permits: permits(2, 2).permits, ..wishing(2, "board-b") };
    world.queue(2, large);
    world.queue(3, want(3));
    assert_eq!(told(&world.release(1, 1)), [(2, "0,2".to_string()), (3, "1".to_string())]);
}

#[test]
fn a_higher_priority_comes_first_to_the_slot() {
    let mut world = World::named("a,b");
    world.take(1, wishing(1, "a"));
    world.queue(2, wishing(2, "a"));
    let urgent = Acquire { priority: Priority::new(5).unwrap(), ..wishing(3, "a") };
    world.queue(3, urgent);
    assert_eq!(told(&world.release(1, 1)), [(3, "0".to_string())]);
}

#[test]
fn a_waiter_that_cannot_be_reached_keeps_no_slot_from_others() {
    let mut world = World::named("a,b");
    world.take(1, wishing(1, "a"));
    world.queue(2, wishing(2, "a"));
    world.contacts.0.insert(2, Contact::Silent);
    world.release(1, 1);
    assert_eq!(names(&world.take(3, wishing(3, "a"))), "a");
    world.contacts.0.remove(&2);
    world.queue(2, wishing(2, "a"));
    assert_eq!(told(&world.release(3, 3)), [(2, "0".to_string())]);
}

#[test]
fn names_are_only_added_at_the_end_while_anybody_holds_or_waits() {
    let mut world = World::named("a,b");
    world.take(1, permits(1, 2));
    world.queue(2, want(2));
    let in_use = |reply| matches!(reply, Reply::SlotsInUse { names } if names.to_string() == "a,b");
    let limit = Configure::Limit(Limit::new(2).unwrap());
    assert!(in_use(world.one(9, naming("b,a"))));
    assert!(in_use(world.one(9, naming("a"))));
    assert!(in_use(world.one(9, Request::Configure(limit.clone()))));
    assert!(in_use(world.one(9, Request::Configure(Configure::Unpin))));
    assert_eq!(told(&world.send(9, vec![naming("a,b,c")])), [(2, "2".to_string())]);
    world.send(1, vec![release(1)]);
    world.send(2, vec![release(2)]);
    assert_eq!(world.one(9, naming("b,a")), Reply::Configured { limit: 2 });
    assert_eq!(world.one(9, Request::Configure(limit)), Reply::Configured { limit: 2 });
    assert!(world.snapshot().slot_names.is_empty());
}

#[test]
fn slots_that_are_held_get_names_when_they_are_given_some() {
    let mut world = World::limited(3);
    let before = world.take(1, want(1));
    assert!(before.names.is_empty());
    world.send(9, vec![naming("a,b")]);
    assert_eq!(names(&world.take(1, want(1))), "a");
    assert_eq!(names(&world.take(2, want(2))), "b");
    world.queue(3, want(3));
}

#[test]
fn a_slot_above_the_names_is_not_handed_out() {
    let mut world = World::limited(5);
    world.take(1, permits(1, 2));
    world.take(2, permits(2, 3));
    world.send(9, vec![naming("a,b,c")]);
    world.queue(3, want(3));
    let outcome = world.send(2, vec![release_slots(2, "3-4")]);
    assert!(told(&outcome).is_empty());
    let outcome = world.send(1, vec![release_slots(1, "1")]);
    assert_eq!(told(&outcome), [(3, "1".to_string())]);
}

#[test]
fn names_go_with_the_pinned_limit_and_stay_without_holders() {
    let mut world = World::named("a,b");
    world.take(1, wishing(1, "b"));
    world.release(1, 1);
    world.pass(86_400_000_000);
    assert_eq!(names(&world.take(1, wishing(2, "b"))), "b");
    world.release(1, 2);
    world.one(9, Request::Configure(Configure::Unpin));
    assert!(matches!(world.acquire(1, wishing(3, "b")), Reply::NoSuchSlot { .. }));
}

#[test]
fn a_mutex_gets_no_names_for_its_slots() {
    let mut world = World::new();
    world.take(1, Acquire { kind: Kind::Mutex, ..want(1) });
    assert!(matches!(world.one(9, naming("a")), Reply::OtherKind { stored: Kind::Mutex, .. }));
}

#[test]
fn one_step_looks_at_a_page_of_waiters_with_wishes_and_the_next_at_those_behind_it() {
    let mut world = World::named("a,b");
    world.take(1, wishing(1, "a"));
    world.take(1, wishing(2, "b"));
    for ticket in 1_000..1_256 {
        world.queue(3, wishing(ticket, "a"));
    }
    world.queue(4, want(4));
    assert!(told(&world.release(1, 2)).is_empty(), "the waiter stands behind the page");
    let outcome = world.send(3, vec![cancel(1_000)]);
    assert_eq!(told(&outcome), [(4, "1".to_string())]);
}

#[test]
fn a_waiter_for_a_slot_is_told_who_holds_it() {
    let mut world = World::named(THREE);
    world.take(1, wishing(1, "board-b"));
    world.queue(2, wishing(2, "board-b"));
    world.queue(3, wishing(3, "board-b"));
    let seen = world.snapshot();
    let holds = |reason: &Reason| match reason {
        Reason::SlotHeld { name, holder } => name == "board-b" && holder.ticket == ticket_of(1),
        _ => false,
    };
    for waiter in [2, 3] {
        let reasons = waits(&seen, ticket_of(waiter)).reasons;
        assert!(reasons.len() == 1 && holds(&reasons[0]), "{}", format!("{reasons:?}"));
    }
}
