//! Rule 20: a ticket changes hands by a grant.

use std::vec;

use super::world::*;
use crate::{Attach, Cause, Contact, Fence, Reply, Request, TicketReply, What, time::SECOND};

fn over(world: &mut World, client: u128, lease: u128, ticket: u128) -> bool {
    let Reply::Tickets { tickets, .. } = world.renew(client, lease, &[ticket]) else { panic!() };
    tickets == [TicketReply::Ended(Cause::Attached)]
}

#[test]
fn attaching_is_a_grant_with_a_fence_of_its_own_and_the_slots_of_the_ticket() {
    let mut world = World::limited(3);
    world.take(1, want(1));
    let before = world.take(2, permits(2, 2));
    world.pass(SECOND);
    let after = world.attach(3, attach(2, 70));
    assert!(after.fence > before.fence);
    assert_eq!((after.slots, after.limit, after.valid_for), (before.slots, 3, Some(TTL)));
    assert_eq!((world.snapshot().held, world.holders()), (3, vec![1, 2]));
}

#[test]
fn the_old_holder_is_told_at_once_and_its_lease_covers_the_ticket_no_more() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    let outcome = world.send(2, vec![Request::Attach(attach(1, 70))]);
    let told = &outcome.wakeups[0];
    assert_eq!((told.inbox.0, number_of(told.ticket)), (1, 1));
    assert_eq!(told.what, What::Ended(Cause::Attached));
    assert_eq!(world.one(1, renew_all(1, &[1], TTL)), Reply::Gone);
    assert!(over(&mut world, 1, 1, 1));
    assert_eq!(world.acquire(1, want(1)), ended(1, Cause::Attached));
    assert_eq!(world.holders(), [1]);
}

#[test]
fn nothing_that_an_old_holder_sends_frees_the_permit_of_the_new_one() {
    let mut world = World::limited(2);
    world.take(1, permits(1, 2));
    world.attach(2, attach(1, 70));
    assert_eq!(world.one(1, release(1)), ended(1, Cause::Attached));
    assert_eq!(world.one(1, release_slots(1, "0")), ended(1, Cause::Attached));
    assert_eq!(world.one(1, detach(1)), ended(1, Cause::Attached));
    world.one(1, cancel(1));
    assert_eq!(world.snapshot().held, 2);
    assert_eq!(world.one(2, release(1)), released(1, 0));
}

#[test]
fn the_same_attach_twice_is_one_grant() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    let first = world.attach(2, attach(1, 70));
    assert_eq!(world.attach(2, attach(1, 70)), first);
}

#[test]
fn of_two_that_attach_the_later_has_the_ticket_and_a_late_copy_takes_nothing_back() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.attach(2, attach(1, 70));
    let outcome = world.send(3, vec![Request::Attach(attach(1, 80))]);
    assert_eq!(
        (outcome.wakeups[0].inbox.0, &outcome.wakeups[0].what),
        (2, &What::Ended(Cause::Attached))
    );
    assert_eq!(world.one(2, Request::Attach(attach(1, 70))), ended(1, Cause::Attached));
    let reply = world.one(3, renew_all(80, &[1], TTL));
    assert!(matches!(reply, Reply::Renewed { .. }));
}

#[test]
fn a_client_can_attach_again_to_what_was_taken_from_it() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    let second = world.attach(2, attach(1, 70)).fence;
    assert!(world.attach(1, attach(1, 80)).fence > second);
    assert!(over(&mut world, 2, 70, 1));
}

#[test]
fn an_attach_that_came_too_late_changes_nothing() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    let late = Attach { not_after: Some(world.now - 1), ..attach(1, 70) };
    assert_eq!(world.one(2, Request::Attach(late)), Reply::TooLate { ticket: ticket_of(1) });
    assert!(matches!(world.one(1, renew_all(1, &[1], TTL)), Reply::Renewed { .. }));
}

#[test]
fn only_a_ticket_that_holds_can_be_attached_to() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.queue(2, want(2));
    let attach_to = |ticket| Request::Attach(attach(ticket, 70));
    assert_eq!(world.one(3, attach_to(2)), Reply::Unknown { ticket: ticket_of(2) });
    assert_eq!(world.one(3, attach_to(5)), Reply::Unknown { ticket: ticket_of(5) });
    world.one(9, evict(1));
    assert_eq!(world.one(3, attach_to(1)), ended(1, Cause::Evicted));
}

#[test]
fn an_attach_that_is_given_up_frees_what_it_was_granted_and_nothing_else() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.one(2, give_up(1, 70)); // before it has arrived
    assert_eq!(world.one(2, Request::Attach(attach(1, 70))), ended(1, Cause::Cancelled));
    assert_eq!(world.holders(), [1]);
    world.attach(2, attach(1, 80));
    world.one(2, give_up(1, 80)); // after it was granted
    assert_eq!(world.holders(), []);
}

#[test]
fn a_detached_permit_lasts_its_ttl_whatever_becomes_of_its_client_and_is_taken_up_by_attaching() {
    let mut world = World::limited(1);
    let fence = world.take(1, want(1)).fence;
    let detached = Reply::Renewed { valid_for: Some(TTL) };
    assert_eq!(world.one(1, detach(1)), detached);
    world.contacts.0.insert(1, Contact::Dead);
    world.pass(SECOND);
    assert_eq!(world.one(1, detach(1)), detached, "sent twice");
    assert!(over(&mut world, 1, 1, 1), "its renewals are over");
    assert!(world.attach(2, attach(1, 70)).fence > fence);
}

#[test]
fn a_late_copy_of_a_detach_takes_the_ticket_from_no_client_that_has_attached_since() {
    for taker in [1, 2] {
        let mut world = World::limited(1);
        let fence = world.take(1, want(1)).fence;
        assert_eq!(world.one(1, detach_grant(1, fence)), Reply::Renewed { valid_for: Some(TTL) });
        world.attach(taker, attach(1, 70));
        assert_eq!(world.one(1, detach_grant(1, fence)), ended(1, Cause::Attached));
        let renewed = world.one(taker, renew_all(70, &[1], TTL));
        assert!(matches!(renewed, Reply::Renewed { .. }), "{renewed:?}");
    }
}

#[test]
fn a_renewal_as_nobody_extends_what_was_detached() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.one(1, detach(1));
    world.now += TTL / 2;
    let Reply::Tickets { valid_for, .. } = world.renew(0, 1, &[1]) else { panic!() };
    assert_eq!(valid_for, Some(TTL));
    world.now += TTL - 1;
    assert_eq!(world.holders(), [1]);
}

#[test]
fn a_renewal_as_nobody_leaves_alone_what_a_client_keeps() {
    let mut world = World::limited(1);
    let Fence(fence) = world.take(1, want(1)).fence;
    world.now += SECOND;
    let Reply::Tickets { valid_for, tickets } = world.renew(0, 1, &[1]) else { panic!() };
    assert_eq!(valid_for, Some(TTL - SECOND), "the time that is left");
    assert!(matches!(&tickets[..], [TicketReply::Held { fence: f, .. }] if f.0 == fence));
    assert!(matches!(world.one(1, renew_all(1, &[1], TTL)), Reply::Renewed { .. }));
}

#[test]
fn holders_and_waiters_are_told_when_somebody_else_gives_their_ticket_back() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.queue(2, want(2));
    for ticket in [2, 1] {
        let outcome = world.send(0, vec![release(ticket)]);
        assert_eq!(outcome.replies.replies, [released(ticket, 0)]);
        let told = &outcome.wakeups[0];
        assert_eq!((told.inbox.0, number_of(told.ticket)), (ticket, ticket));
        assert_eq!(told.what, What::Ended(Cause::Released));
    }
    assert_eq!(world.one(1, release(1)), ended(1, Cause::Released));
}

#[test]
fn a_client_that_gives_its_own_ticket_back_is_not_told_of_it() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    assert_eq!(world.release(1, 1).wakeups, []);
}
