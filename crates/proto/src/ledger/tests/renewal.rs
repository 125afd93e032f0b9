//! Rules 13 and 14: extending leases, and handing permits over.

use super::world::*;
use crate::{
    Acquire, Cause, Inbox, Renew, Reply, Request, TicketReply, Whom,
    time::{SECOND, WAITER_TTL, margin},
};

/// Three tickets of one series.
const A: u128 = of(7, 1);
const B: u128 = of(7, 2);
const C: u128 = of(7, 3);

fn calm(ticket: u128) -> Acquire {
    Acquire { margin: TTL, ..want(ticket) }
}

#[test]
fn renewing_a_lease_extends_all_that_stands_under_it() {
    let mut world = World::limited(2);
    world.take(1, calm(A));
    world.take(1, calm(B));
    world.now += TTL - 1;
    let renewed = Reply::Renewed { valid_for: Some(TTL) };
    assert_eq!(world.one(1, renew_all(7, &[A, B], TTL)), renewed);
    world.pass(TTL - 1);
    assert_eq!(world.holders(), [A, B]);
}

#[test]
fn renewing_with_a_wrong_digest_renews_nothing() {
    let mut world = World::limited(2);
    world.take(1, calm(A));
    world.take(1, calm(B));
    world.now += TTL - 1;
    for wrong in [&[A][..], &[A, C], &[A, B, C]] {
        assert_eq!(world.one(1, renew_all(7, wrong, TTL)), Reply::Differs);
    }
    world.pass(1);
    assert_eq!(world.holders(), []);
}

#[test]
fn a_lease_that_is_over_cannot_be_renewed() {
    let mut world = World::limited(1);
    world.take(1, calm(A));
    world.now += TTL;
    assert_eq!(world.one(1, renew_all(7, &[A], TTL)), Reply::Gone);
    assert_eq!(world.holders(), []);
}

#[test]
fn renewing_by_ticket_tells_live_and_dead_apart() {
    let mut world = World::limited(3);
    let held = world.take(1, calm(A));
    world.take(1, calm(B));
    world.take(1, calm(C));
    world.queue(1, want(4));
    world.pass(SECOND);
    world.one(9, evict(B));
    world.one(1, release(C));
    let Reply::Tickets { valid_for, tickets } = world.renew(1, 7, &[A, B, C, 4, 5]) else {
        panic!()
    };
    let fence = world.snapshot().holders[1].fence;
    assert_eq!(valid_for, Some(TTL));
    assert_eq!(
        tickets[0],
        TicketReply::Held { fence: held.fence, slots: held.slots, names: held.names }
    );
    assert_eq!(tickets[1], TicketReply::Ended(Cause::Evicted));
    assert_eq!(tickets[2], TicketReply::Ended(Cause::Released));
    assert!(matches!(&tickets[3], TicketReply::Held { fence: f, .. } if *f == fence));
    assert_eq!(tickets[4], TicketReply::Unknown);
}

#[test]
fn renewing_by_ticket_leaves_waiters_alone() {
    let mut world = World::limited(1);
    world.take(1, calm(A));
    world.queue(1, want(2));
    let Reply::Tickets { tickets, .. } = world.renew(1, 7, &[2]) else { panic!() };
    assert_eq!(tickets, [TicketReply::Waiting]);
}

#[test]
fn renewing_never_revives_what_was_released() {
    let mut world = World::limited(1);
    world.take(1, calm(A));
    world.release(1, A);
    world.renew(1, 7, &[A]);
    assert_eq!(world.one(1, renew_all(7, &[A], TTL)), Reply::Gone);
    assert_eq!(world.holders(), []);
}

#[test]
fn tickets_renewed_by_ticket_gather_under_the_lease_named() {
    let mut world = World::limited(2);
    world.take(1, want(1));
    world.take(1, want(2));
    world.renew(1, 7, &[1, 2]);
    let renewed = Reply::Renewed { valid_for: Some(TTL) };
    assert_eq!(world.one(1, renew_all(7, &[1, 2], TTL)), renewed);
}

#[test]
fn a_ticket_of_another_client_cannot_be_renewed() {
    let mut world = World::limited(2);
    world.take(1, calm(A));
    world.take(1, calm(B));
    let Reply::Tickets { tickets, .. } = world.renew(2, 8, &[A]) else { panic!() };
    assert_eq!(tickets, [TicketReply::Ended(Cause::Attached)]);
    assert!(matches!(world.one(1, renew_all(7, &[A, B], TTL)), Reply::Renewed { .. }));
}

#[test]
fn a_lease_of_another_client_cannot_be_renewed_as_a_whole() {
    let mut world = World::limited(1);
    world.take(1, calm(A));
    world.now += TTL - 1;
    for other in [2, 0] {
        assert_eq!(world.one(other, renew_all(7, &[A], TTL)), Reply::Differs);
    }
    assert!(!world.state.end_leases_of(Inbox(2)), "the lease is the first client's");
    world.pass(1);
    assert_eq!(world.holders(), []);
}

#[test]
fn a_renewal_can_name_another_length() {
    let mut world = World::limited(1);
    world.take(1, calm(A));
    world.one(1, renew_all(7, &[A], SECOND));
    for _ in 0..4 {
        assert_eq!(world.holders(), [A]);
        world.pass(margin(SECOND));
    }
    assert_eq!(world.holders(), []);
}

#[test]
fn the_places_in_the_queue_are_renewed_together() {
    let mut world = World::limited(1);
    world.take(1, calm(A));
    let waiting = [of(8, 1), of(8, 2)];
    waiting.into_iter().for_each(|ticket| world.queue(2, want(ticket)));
    for _ in 0..4 {
        world.now += WAITER_TTL / 2;
        world.one(1, renew_all(7, &[A], TTL));
        let renewed = Reply::Waits { valid_for: Some(WAITER_TTL), position: 1 };
        assert_eq!(world.one(2, renew_places(8, &waiting)), renewed);
    }
    assert_eq!(world.waiters(), waiting);
}

#[test]
fn renewing_nothing_makes_no_lease() {
    let mut world = World::limited(1);
    let whom = Whom::Tickets(std::vec![ticket_of(5)]);
    let request = Renew { lease: lease_of(7), ttl: TTL, margin: TTL, whom };
    world.one(1, Request::Renew(request));
    assert_eq!(world.one(1, renew_all(7, &[], TTL)), Reply::Gone);
}
