//! Asking a holder to hand over.

use std::{string::ToString, vec, vec::Vec};

use super::world::*;
use crate::{
    About, AskHolder, Attach, Cause, HandOverAsk, LeaseId, Outcome, Renew, Reply, Request,
    TicketReply, What, time::SECOND,
};

fn asked_for(ticket: u128, lease: u128, by: &str) -> Request {
    let ask = HandOverAsk::new(by, "a release is due").unwrap();
    Request::AskHolder(AskHolder { ticket: ticket_of(ticket), lease: lease_of(lease), ask })
}

/// Returns the people that asked, as a renewal by ticket tells.
fn told(world: &mut World, client: u128, lease: u128, ticket: u128) -> Vec<std::string::String> {
    let Reply::Tickets { tickets, .. } = world.renew(client, lease, &[ticket]) else { panic!() };
    let [TicketReply::Held { asks, .. }] = &tickets[..] else { panic!("{tickets:?}") };
    asks.iter().map(|ask| ask.by().to_string()).collect()
}

fn asks_told(outcome: &Outcome) -> Vec<(u128, u128)> {
    let asked = outcome.wakeups.iter().filter(|wakeup| wakeup.what == What::Asked);
    asked.map(|wakeup| (wakeup.inbox.0, number_of(wakeup.ticket))).collect()
}

#[test]
fn the_holder_is_woken_and_a_renewal_by_ticket_says_who_asked_until_the_grant_ends() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    let outcome = world.send(0, vec![asked_for(1, 70, "eve")]);
    assert_eq!(outcome.replies.replies, [Reply::Asked { ticket: ticket_of(1) }]);
    assert_eq!(asks_told(&outcome), [(1, 1)]);
    assert_eq!(told(&mut world, 1, 1, 1), ["eve"]);
    assert_eq!(told(&mut world, 1, 1, 1), ["eve"], "an answer may be lost");
    assert_eq!(world.one(1, release(1)), released(1, 0));
    world.take(1, want(2));
    assert_eq!(told(&mut world, 1, 2, 2), Vec::<std::string::String>::new());
}

#[test]
fn a_holder_that_was_not_woken_cannot_renew_as_if_nothing_had_been_asked() {
    let mut world = World::limited(2);
    let under = |ticket| crate::Acquire { lease: lease_of(9), ..want(ticket) };
    world.take(1, under(1));
    world.take(1, under(2));
    world.send(0, vec![asked_for(1, 70, "eve")]);
    assert_eq!(world.one(1, renew_all(9, &[1, 2], TTL)), Reply::Differs);
    assert_eq!(told(&mut world, 1, 9, 1), ["eve"]);
    assert_eq!(world.one(1, renew_all(9, &[1, 2], TTL)), Reply::Differs, "the ticket stays apart");
    let renewed = world.one(1, renew_all(9, &[2], TTL));
    assert_eq!(renewed, Reply::Renewed { valid_for: Some(TTL) }, "the other ticket is as before");
}

#[test]
fn a_late_copy_of_a_renewal_hides_no_ask() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    for (lease, by) in [(70, "eve"), (71, "bob")] {
        world.send(0, vec![asked_for(1, lease, by)]);
        // The holder sent this renewal before the ask, and does not read the answer to this late
        // copy.
        told(&mut world, 1, 1, 1);
        let as_a_whole = world.one(1, renew_all(1, &[1], TTL));
        assert_eq!(as_a_whole, Reply::Gone, "nothing hides the ask of {by}");
    }
    assert_eq!(told(&mut world, 1, 1, 1), ["eve", "bob"]);
}

#[test]
fn a_ticket_that_was_asked_for_is_renewed_where_it_stands() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.send(0, vec![asked_for(1, 70, "eve")]);
    for _ in 0..4 {
        for _ in 0..20 {
            world.pass(SECOND);
        }
        assert_eq!(told(&mut world, 1, 9, 1), ["eve"]);
        assert_eq!(world.snapshot().holders[0].valid_for, Some(TTL));
    }
    assert_eq!(world.one(1, release(1)), released(1, 0));
    assert_eq!(world.state.leases().count(), 0, "the lease goes with the ticket");
}

#[test]
fn asking_makes_no_lease_longer_or_shorter() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    for _ in 0..10 {
        world.pass(SECOND);
    }
    let before = world.snapshot().holders[0].valid_for;
    world.send(0, vec![asked_for(1, 70, "eve")]);
    assert_eq!(world.snapshot().holders[0].valid_for, before);
    for _ in 0..20 {
        world.pass(SECOND);
    }
    assert_eq!(world.holders(), []);
}

#[test]
fn the_same_ask_again_changes_nothing_and_wakes_nobody() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.send(0, vec![asked_for(1, 70, "eve")]);
    let before = world.state.clone();
    let again = world.send(0, vec![asked_for(1, 71, "eve")]);
    assert_eq!(again.replies.replies, [Reply::Asked { ticket: ticket_of(1) }]);
    assert_eq!((asks_told(&again), world.state.clone()), (vec![], before));
    world.send(0, vec![asked_for(1, 72, "bob")]);
    assert_eq!(told(&mut world, 1, 1, 1), ["eve", "bob"]);
}

#[test]
fn an_attach_that_is_repeated_after_asks_finds_its_grant() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    let first = world.attach(2, attach(1, 80));
    for (lease, by) in [(70, "eve"), (71, "bob")] {
        world.send(0, vec![asked_for(1, lease, by)]);
        assert_eq!(world.attach(2, attach(1, 80)), first, "after the ask of {by}");
        assert_eq!(world.one(2, renew_all(80, &[1], TTL)), Reply::Gone, "the want is not hidden");
    }
    assert_eq!(told(&mut world, 2, 80, 1), ["eve", "bob"]);
    let second = world.attach(3, attach(1, 90)).fence;
    assert!(second > first.fence);
    world.send(0, vec![asked_for(1, 72, "eve")]);
    assert_eq!(world.one(2, Request::Attach(attach(1, 80))), ended(1, Cause::Attached));
    assert_eq!(world.attach(3, attach(1, 90)).fence, second);
}

#[test]
fn a_lease_whose_number_looks_set_apart_hides_no_ask() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    let lease = LeaseId(lease_of(80).0 | 0x8000_0000);
    world.attach(2, Attach { lease, ..attach(1, 80) });
    world.send(0, vec![asked_for(1, 70, "eve")]);
    let Request::Renew(renew) = renew_all(80, &[1], TTL) else { unreachable!() };
    assert_eq!(world.one(2, Request::Renew(Renew { lease, ..renew })), Reply::Gone);
}

#[test]
fn an_attach_that_is_given_up_after_asks_frees_what_it_was_granted() {
    for asks in [&["eve"][..], &["eve", "bob"]] {
        let mut world = World::limited(1);
        world.take(1, want(1));
        world.attach(2, attach(1, 80));
        for by in asks {
            world.send(0, vec![asked_for(1, 70, by)]);
        }
        world.one(2, give_up(1, 81));
        assert_eq!(world.holders(), [1], "another attach is given up");
        world.one(2, give_up(1, 80));
        assert_eq!(world.holders(), [], "{asks:?}");
    }
}

#[test]
fn two_tickets_under_the_lease_of_an_attach_are_set_apart_each_by_itself() {
    let mut world = World::limited(2);
    world.take(1, want(1));
    world.take(2, want(2));
    world.attach(2, attach(1, 80));
    world.renew(2, 80, &[2]);
    for (ticket, lease) in [(2, 70), (1, 71)] {
        world.send(0, vec![asked_for(ticket, lease, "eve")]);
    }
    let apart = [1, 2].map(|ticket| world.state.lease_under(ticket_of(ticket)).unwrap().id);
    assert_ne!(apart[0], apart[1]);
    assert_eq!(world.one(2, renew_all(80, &[1, 2], TTL)), Reply::Gone);
}

#[test]
fn only_a_ticket_that_holds_can_be_asked_for() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.queue(2, want(2));
    let queued = Reply::Queued { ticket: ticket_of(2), waiting: 1, limit: 1 };
    assert_eq!(world.one(0, asked_for(2, 70, "eve")), queued);
    assert_eq!(world.one(0, asked_for(3, 70, "eve")), Reply::Unknown { ticket: ticket_of(3) });
    world.one(0, evict(1));
    assert_eq!(world.one(0, asked_for(1, 70, "eve")), ended(1, Cause::Evicted));
}

#[test]
fn people_see_the_asks_and_the_description_of_a_holder() {
    let mut world = World::limited(1);
    let holder = About { host: "ada".into(), ..About::default() };
    world.take(1, crate::Acquire { about: holder.encode(), ..want(1) });
    world.pass(2 * SECOND);
    world.send(0, vec![asked_for(1, 70, "eve")]);
    world.pass(3 * SECOND);
    let row = world.snapshot().holders.remove(0);
    assert_eq!(About::decode(&row.about), holder);
    let asks: Vec<_> = row.asks().collect();
    let ask = HandOverAsk::new("eve", "a release is due").unwrap();
    assert_eq!(asks, [(ask, 3 * SECOND)]);
}
