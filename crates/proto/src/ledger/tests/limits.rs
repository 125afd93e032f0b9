//! Rule 11: one truth about the limit.

use std::vec;

use super::world::*;
use crate::{Acquire, Busy, Cause, Configure, Enqueue, OnMismatch, Reply, Request, What};

#[test]
fn the_limit_of_a_name_that_nobody_gave_one_is_one() {
    let mut world = World::new();
    world.take(1, want(1));
    world.queue(2, want(2));
    assert_eq!(world.snapshot().limit, 1);
}

#[test]
fn the_first_to_state_a_limit_stores_it() {
    let mut world = World::new();
    world.take(1, stating(1, 3, OnMismatch::Refuse));
    world.take(2, want(2));
    assert_eq!(world.snapshot().limit, 3);
}

fn other_limit(ticket: u128, stored: u32, stated: u32, is_pinned: bool) -> Reply {
    Reply::OtherLimit { ticket: ticket_of(ticket), stored, stated, is_pinned }
}

#[test]
fn an_implied_limit_counts_like_a_stated_one_while_anybody_holds_or_waits() {
    let mut world = World::new();
    world.take(1, want(1));
    world.queue(2, want(2));
    let other = other_limit(3, 1, 5, false);
    assert_eq!(world.acquire(3, stating(3, 5, OnMismatch::Refuse)), other);
    world.release(1, 1);
    assert_eq!(world.acquire(3, stating(3, 5, OnMismatch::Refuse)), other);
    world.release(2, 2);
    assert_eq!(world.take(3, stating(3, 5, OnMismatch::Refuse)).limit, 5);
}

#[test]
fn a_request_without_a_limit_goes_by_what_the_others_stated() {
    let mut world = World::new();
    world.take(1, stating(1, 5, OnMismatch::Refuse));
    assert_eq!(world.take(2, want(2)).limit, 5);
}

#[test]
fn a_request_that_states_another_limit_than_the_holders_is_told_both() {
    let mut world = World::new();
    world.take(1, stating(1, 3, OnMismatch::Refuse));
    for rule in [OnMismatch::Refuse, OnMismatch::Exact] {
        assert_eq!(world.acquire(2, stating(2, 2, rule)), other_limit(2, 3, 2, false));
    }
    assert_eq!(world.holders(), [1]);
}

#[test]
fn a_caller_that_states_another_limit_adopts_the_pinned_one() {
    let mut world = World::limited(2);
    for (ticket, rule) in [(1, OnMismatch::Refuse), (2, OnMismatch::Set)] {
        assert_eq!(world.take(ticket, stating(ticket, 3, rule)).limit, 2);
    }
    assert!(matches!(world.acquire(3, stating(3, 4, OnMismatch::Refuse)), Reply::Queued { .. }));
    let seen = world.snapshot();
    assert_eq!((seen.limit, seen.stated, seen.pinned), (2, Some(3), Some(2)));
}

#[test]
fn exactly_this_limit_is_refused_where_another_is_pinned() {
    let mut world = World::limited(2);
    let exact = |limit| stating(1, limit, OnMismatch::Exact);
    assert_eq!(world.acquire(1, exact(3)), other_limit(1, 2, 3, true));
    assert_eq!(world.take(1, exact(2)).limit, 2);
}

#[test]
fn setting_a_limit_changes_the_stated_limit_and_never_a_pin() {
    let mut world = World::limited(2);
    world.take(1, stating(1, 3, OnMismatch::Refuse));
    assert_eq!(world.take(2, stating(2, 5, OnMismatch::Set)).limit, 2);
    world.one(9, Request::Configure(Configure::Unpin));
    assert_eq!(world.snapshot().limit, 5);
}

#[test]
fn a_limit_that_is_unset_is_let_go_at_once_and_the_queue_is_served() {
    let mut world = World::limited(0);
    world.queue(1, want(1));
    world.queue(2, want(2));
    let outcome = world.send(9, vec![Request::Configure(Configure::Unpin)]);
    assert_eq!(outcome.replies.replies, [Reply::Configured { limit: 1 }]);
    assert_eq!(granted(&outcome), [1]);
}

#[test]
fn what_a_waiter_stated_is_in_force_once_the_pin_is_gone() {
    let mut world = World::limited(0);
    world.queue(1, stating_and_waiting(1, 2));
    world.queue(2, stating_and_waiting(2, 3));
    let outcome = world.send(9, vec![Request::Configure(Configure::Unpin)]);
    assert_eq!((granted(&outcome), world.snapshot().limit), (vec![1, 2], 2));
}

fn stating_and_waiting(ticket: u128, limit: u32) -> Acquire {
    stating(ticket, limit, OnMismatch::Refuse)
}

#[test]
fn a_request_that_adopts_goes_by_the_stored_limit() {
    let mut world = World::limited(3);
    assert_eq!(world.take(1, stating(1, 1, OnMismatch::Adopt)).limit, 3);
}

#[test]
fn a_request_that_sets_the_limit_changes_it_and_serves_waiters() {
    let mut world = World::new();
    world.take(1, want(1));
    world.queue(2, want(2));
    let outcome = world.send(3, vec![Request::Acquire(stating(3, 3, OnMismatch::Set))]);
    assert_eq!(granted(&outcome), [2]);
    assert_eq!((world.snapshot().limit, world.holders()), (3, vec![1, 2, 3]));
}

#[test]
fn what_is_stated_goes_with_the_last_holder_though_its_ticket_be_remembered() {
    let mut world = World::new();
    world.take(1, stating(1, 5, OnMismatch::Refuse));
    world.release(1, 1);
    assert_eq!(world.take(2, stating(2, 1, OnMismatch::Refuse)).limit, 1);
    let both = [release(2), Request::Acquire(stating(3, 4, OnMismatch::Refuse))];
    let replies = world.send(2, both.to_vec()).replies.replies;
    assert!(matches!(&replies[1], Reply::Granted(grant) if grant.limit == 4), "{replies:?}");
}

#[test]
fn what_is_stated_goes_with_the_last_lease_that_runs_out() {
    let mut world = World::new();
    world.take(0, stating(1, 5, OnMismatch::Refuse));
    world.now += TTL;
    assert_eq!(world.take(2, stating(2, 1, OnMismatch::Refuse)).limit, 1);
}

#[test]
fn a_limit_that_was_unpinned_is_gone_at_once_where_nobody_stated_one() {
    let mut world = World::limited(3);
    world.take(1, want(1));
    world.one(9, Request::Configure(Configure::Unpin));
    assert_eq!(world.snapshot().limit, 1);
    world.release(1, 1);
    world.pass(TTL);
    assert!(world.state.is_empty());
}

#[test]
fn more_permits_than_exist_are_refused_at_once() {
    let mut world = World::limited(3);
    let too_many = Reply::TooMany { ticket: ticket_of(1), permits: 4, limit: 3 };
    assert_eq!(world.acquire(1, permits(1, 4)), too_many);
    assert_eq!(world.waiters(), []);
}

#[test]
fn lowering_the_limit_evicts_nobody_and_admits_nobody_until_it_fits() {
    let mut world = World::limited(3);
    for ticket in 1..=3 {
        world.take(1, want(ticket));
    }
    world.queue(4, want(4));
    world.resize(1);
    assert_eq!(world.holders(), [1, 2, 3]);
    assert_eq!(granted(&world.release(1, 1)), []);
    assert_eq!(granted(&world.release(1, 2)), []);
    assert_eq!(granted(&world.release(1, 3)), [4]);
}

#[test]
fn a_waiter_that_can_never_be_served_any_more_is_told() {
    let mut world = World::limited(3);
    world.take(1, want(1));
    world.queue(2, permits(2, 3));
    world.queue(3, want(3));
    let outcome = world.resize(2);
    assert_eq!(outcome.wakeups[0].what, What::Ended(Cause::TooMany));
    assert_eq!(granted(&outcome), [3]);
    assert_eq!(world.acquire(2, permits(2, 3)), ended(2, Cause::TooMany));
}

#[test]
fn a_limit_of_zero_admits_nobody_and_keeps_the_queue() {
    let mut world = World::limited(0);
    world.queue(1, permits(1, 2));
    world.queue(2, want(2));
    assert_eq!(granted(&world.resize(3)), [1, 2]);
}

#[test]
fn a_refused_request_stores_no_limit() {
    let mut world = World::limited(2);
    world.take(1, permits(1, 2));
    let impatient = Acquire { enqueue: Enqueue::No, ..want(2) };
    let reply = world.acquire(2, impatient);
    assert!(matches!(reply, Reply::Busy { why: Busy::Full, limit: 2, held: 2, .. }), "{reply:?}");
}

#[test]
fn a_request_that_does_not_wait_at_a_limit_of_zero_leaves_nothing_behind() {
    let mut world = World::new();
    let impatient = Acquire { enqueue: Enqueue::No, ..stating(1, 0, OnMismatch::Refuse) };
    world.acquire(1, impatient);
    assert!(world.state.is_empty());
}
