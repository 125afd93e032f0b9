//! Histories that are made for one case each, at a name where a few sessions take turns.
//!
//! Unless a history has other values, leases and places last a minute, and the clock is never held
//! back.

#[path = "made_line/calls.rs"]
mod calls;
#[path = "made_line/times.rs"]
mod times;

use calls::{
    acquire, both, by, in_one_call, limit, look, release, renew, sketch, ticket, waits,
    waits_for_both,
};
use seinpaal_proto::{
    Acquire, LeaseId, Limit, LimitRule, OnMismatch, Permits, Priority, Ticket, time::SECOND,
};
use times::{
    a_clock_set_back_while_somebody_waits, a_fence_from_afar, a_fence_from_afar_at_the_end,
    for_so_long_keys_are_needed, forgotten_while_another_holds, given_back_long_after_it_was_had,
    handed_over_and_not_heard_of_again, handed_over_for_a_short_time,
    handed_over_long_after_the_keys_were_renewed, never_heard_of_again,
    one_ends_just_when_another_renews, renewed_for_a_short_time, renewed_for_days,
};

use super::history::{Event, FenceSeen, Sketch, inbox};

pub(super) fn all() -> Vec<Vec<Event>> {
    let histories = [
        one_ends_just_when_another_renews(),
        another_lease_is_renewed_that_looks_like_the_place(),
        a_place_that_is_somebodys_series(),
        what_is_told_looks_like_a_session(),
        what_is_told_stands_where_a_session_would(),
        one_inbox_with_two_series(),
        as_high_as_who_came_before(),
        given_back_long_after_it_was_had(),
        two_given_back_in_one_call(),
        taken_and_handed_over_in_one_call(),
        a_clock_set_back_while_somebody_waits(),
        never_heard_of_again(1),
        never_heard_of_again(2),
        renewed_for_days(),
        a_second_place_while_the_first_is_needed(),
        forgotten_while_another_holds(),
        for_so_long_keys_are_needed(false),
        for_so_long_keys_are_needed(true),
        whose_series_is_the_place_of_who_is_next(),
        one_series_with_two_inboxes(),
        nothing_is_renewed(),
        a_fence_from_afar_at_the_end(),
        a_limit_lowered_while_all_is_held(),
        handed_over_and_not_heard_of_again(),
        handed_over_for_a_short_time(),
        handed_over_long_after_the_keys_were_renewed(),
        renewed_for_a_short_time(),
        waits_for_a_lease_of_its_own(),
        held_by_nobody(),
        a_fence_from_afar(),
        evicted_before_another_came(true),
        evicted_before_another_came(false),
        evicted_from_two(),
    ];
    let here = || (0..4).map(|who| Event::Listen(inbox(who)));
    histories.into_iter().map(|history| here().chain(history).collect()).collect()
}

/// Two sessions hold and give back, one after the other.
pub(super) fn left_by_two() -> Vec<Event> {
    let calls = [
        (0, sketch(acquire(0, 1))),
        (1, sketch(acquire(1, 1))),
        (0, release(0, 1)),
        (1, release(1, 1)),
    ];
    calls.into_iter().map(|(who, sketch)| by(who, 1, sketch)).collect()
}

/// Two sessions, of which one waits, and then the same history with two more that do not wait.
pub(super) fn before_and_after_others_find_it_full() -> (Vec<Event>, Vec<Event>) {
    let before = vec![by(0, 1, sketch(both(0, 1))), by(1, 1, sketch(waits(1, 1)))];
    let others = [2, 3].map(|who| by(who, 1, sketch(acquire(who, 1))));
    (before.clone(), before.into_iter().chain(others).collect())
}

/// The digest of the only ticket in line is 1. A client renews a lease that does not exist, with
/// the digest 1.
fn another_lease_is_renewed_that_looks_like_the_place() -> Vec<Event> {
    let series = Ticket(0x5a5a_1234_5678_9abc << 64 | 0x77fe_f234 << 32).series();
    let waits = Acquire { ticket: series.ticket(1), lease: series.ticket(0).into(), ..waits(1, 1) };
    let unknown =
        Sketch::RenewAll { lease: LeaseId(9 << 64), ttl: SECOND, margin: SECOND, wrong: 0 };
    let full = Acquire { permits: Permits::new(2).unwrap(), ..acquire(0, 1) };
    vec![by(0, 1, sketch(full)), by(1, 1, sketch(waits)), by(1, 1, unknown), look(1)]
}

/// A waiter's place has the id of another session's lease. That session comes, and waits behind the
/// waiter.
fn a_place_that_is_somebodys_series() -> Vec<Event> {
    let in_its_place = Acquire { waiter_lease: ticket(2, 0).into(), ..waits(1, 1) };
    let calls = [sketch(both(0, 1)), sketch(in_its_place), sketch(waits(2, 1)), release(0, 1)];
    let calls = calls.into_iter().zip([0, 1, 2, 0]).map(|(sketch, who)| by(who, 1, sketch));
    calls.chain([look(1), by(2, 1, renew(2)), look(1)]).collect()
}

/// A holder's description of itself looks like a session: it is as long as an inbox and a series,
/// and its series is that of the session that comes next.
fn what_is_told_looks_like_a_session() -> Vec<Event> {
    let about = format!("{}{}", "-".repeat(32), &ticket(1, 0).to_string()[..24]);
    let told = Acquire { about, ..acquire(0, 1) };
    vec![
        by(0, 1, sketch(told)),
        by(1, 1, sketch(acquire(1, 1))),
        look(1),
        by(1, 1, release(1, 1)),
        look(1),
    ]
}

/// The inbox and the series of the next session stand where the third session of a line begins.
fn what_is_told_stands_where_a_session_would() -> Vec<Event> {
    let about = format!("{}{}{}", "x".repeat(57), inbox(1), &ticket(1, 0).to_string()[..24]);
    let told = Acquire { about, ..acquire(0, 1) };
    vec![by(0, 1, sketch(told)), by(1, 1, sketch(acquire(1, 1))), look(1)]
}

/// The first waiter has the inbox of the session that renews.
fn one_inbox_with_two_series() -> Vec<Event> {
    let [first, second] = [sketch(both(0, 1)), sketch(waits(1, 1))];
    let calls = [first, second, renew(0), renew(0), release(0, 1), renew(1)];
    calls.into_iter().map(|sketch| by(0, 1, sketch)).chain([look(1)]).collect()
}

/// More permits are held after the call than before, although the call has handed a permit to a
/// waiter.
fn taken_and_handed_over_in_one_call() -> Vec<Event> {
    let sketches = vec![sketch(acquire(0, 2)), sketch(waits(0, 3)), release(0, 1)];
    vec![
        by(0, 1, sketch(acquire(0, 1))),
        by(1, 1, sketch(acquire(1, 1))),
        by(1, 1, release(1, 1)),
        in_one_call(0, 1, sketches),
        look(1),
        by(1, 1, sketch(acquire(1, 2))),
    ]
}

/// A client that comes ten seconds later with one step of priority more has the same rank. Of two
/// tickets with one rank the lower ticket is first.
fn as_high_as_who_came_before() -> Vec<Event> {
    let later = Acquire { priority: Priority::new(1).unwrap(), ..waits_for_both(2) };
    let calls = [
        by(0, 1, sketch(both(0, 1))),
        by(1, 1, sketch(waits_for_both(1))),
        by(2, 10 * SECOND, sketch(later)),
    ];
    calls.into_iter().chain([by(0, 1, release(0, 1)), look(1)]).collect()
}

fn two_given_back_in_one_call() -> Vec<Event> {
    let calls =
        [sketch(acquire(0, 1)), sketch(acquire(0, 2)), sketch(waits(1, 1)), sketch(waits(2, 1))];
    let calls = calls.into_iter().zip([0, 0, 1, 2]).map(|(sketch, who)| by(who, 1, sketch));
    let back = vec![release(0, 1), release(0, 2)];
    let back =
        Event::Call { step: 1, inbox: Some(inbox(0)), fence: FenceSeen::None, sketches: back };
    calls.chain([back, look(1)]).collect()
}

/// A session still learns why its first ticket ended, even if it has given back its second.
fn evicted_before_another_came(is_idle: bool) -> Vec<Event> {
    let lost = Sketch::Evict { ticket: ticket(0, 1) };
    let back = by(0, 1, release(0, 2));
    let mut calls: Vec<_> =
        [sketch(acquire(0, 1)), lost, sketch(acquire(0, 2))].map(|sketch| by(0, 1, sketch)).into();
    calls.extend(is_idle.then(|| back.clone()));
    calls.extend([by(1, 1, sketch(acquire(1, 1))), by(0, 1, release(0, 1)), look(1), back]);
    calls
}

/// Each session has an evicted ticket to remember, and the tickets have different numbers.
fn evicted_from_two() -> Vec<Event> {
    let evicted = |number| Sketch::Evict { ticket: ticket(1, number) };
    let of_one = [sketch(acquire(1, 1)), release(1, 1), sketch(acquire(1, 2)), evicted(2)];
    let mut calls = evicted_before_another_came(false);
    calls.extend(of_one.map(|sketch| by(1, 1, sketch)));
    let taken = [(1, 3), (0, 3)].map(|(who, number)| by(who, 1, sketch(acquire(who, number))));
    let again =
        [(1, 2), (1, 1), (0, 1)].map(|(who, number)| by(who, 1, sketch(acquire(who, number))));
    calls.extend(taken.into_iter().chain([look(1)]).chain(again));
    calls
}

/// A session that waits in one place also waits in a second one, and renews both.
fn a_second_place_while_the_first_is_needed() -> Vec<Event> {
    let (first, second) = (LeaseId(301 << 64), LeaseId(401 << 64));
    let renew = |lease| Sketch::RenewAll { lease, ttl: SECOND, margin: SECOND, wrong: 0 };
    let other = Acquire { waiter_lease: second, ..waits(1, 2) };
    let calls = [
        (0, sketch(both(0, 1))),
        (1, sketch(waits(1, 1))),
        (1, sketch(other)),
        (1, renew(first)),
        (1, renew(second)),
    ];
    calls.into_iter().map(|(who, sketch)| by(who, 1, sketch)).chain([look(1)]).collect()
}

/// The second waiter's place has the id of the first waiter's lease. The first is granted the
/// permits under that lease.
fn whose_series_is_the_place_of_who_is_next() -> Vec<Event> {
    let in_its_place = Acquire { waiter_lease: ticket(2, 0).into(), ..waits_for_both(1) };
    let calls = [
        (0, sketch(both(0, 1))),
        (2, sketch(waits_for_both(2))),
        (1, sketch(in_its_place)),
        (0, renew(0)),
    ];
    let then = [(0, release(0, 1)), (2, renew(2)), (2, release(2, 1))];
    calls.into_iter().chain(then).map(|(who, sketch)| by(who, 1, sketch)).chain([look(1)]).collect()
}

/// Requests for tickets of one series come from two inboxes, as after a ticket has changed hands.
fn one_series_with_two_inboxes() -> Vec<Event> {
    let second = Acquire { ticket: ticket(1, 2), ..waits_for_both(1) };
    let calls = [
        (0, sketch(both(0, 1))),
        (1, sketch(waits_for_both(1))),
        (3, sketch(second)),
        (0, renew(0)),
    ];
    let then = [(0, release(0, 1)), (1, release(1, 1))];
    calls.into_iter().chain(then).map(|(who, sketch)| by(who, 1, sketch)).chain([look(1)]).collect()
}

/// A session without permits sends a renewal.
fn nothing_is_renewed() -> Vec<Event> {
    let lease = ticket(1, 0).into();
    let nothing = Sketch::RenewAll { lease, ttl: SECOND, margin: SECOND, wrong: 3 };
    let calls =
        [(0, sketch(acquire(0, 1))), (1, sketch(acquire(1, 1))), (1, release(1, 1)), (1, nothing)];
    calls.into_iter().map(|(who, sketch)| by(who, 1, sketch)).chain([look(1)]).collect()
}

/// Three permits are held, and another client states a limit of two. First the returned permit
/// cannot be had. Then the lowest slot can be had, which is not the slot that was given back last.
fn a_limit_lowered_while_all_is_held() -> Vec<Event> {
    let of_three = |n| sketch(Acquire { limit: limit(3), ..acquire(0, n) });
    let rule = LimitRule { limit: Limit::new(2).unwrap(), on_mismatch: OnMismatch::Set };
    let lower = sketch(Acquire { limit: Some(rule), ..waits(1, 1) });
    let taken = (1..=3).map(|n| by(0, 1, of_three(n))).chain([by(1, 1, lower), by(0, 1, renew(0))]);
    let back = [1, 3, 2].into_iter().flat_map(|n| [by(0, 1, release(0, n)), by(0, 1, renew(0))]);
    taken.chain(back).chain([look(1)]).collect()
}

/// The permit that is handed over stands under a lease that is not of its series.
fn waits_for_a_lease_of_its_own() -> Vec<Event> {
    let lease = LeaseId(77 << 64);
    let own = Acquire { lease, ..waits_for_both(1) };
    let renewed = Sketch::RenewAll { lease, ttl: SECOND, margin: SECOND, wrong: 0 };
    let calls = [
        (0, sketch(both(0, 1))),
        (1, sketch(own)),
        (0, renew(0)),
        (0, release(0, 1)),
        (1, renewed),
    ];
    calls.into_iter().map(|(who, sketch)| by(who, 1, sketch)).chain([look(1)]).collect()
}

/// A client without an inbox holds under the series of a client that comes.
fn held_by_nobody() -> Vec<Event> {
    let (step, fence, sketches) = (1, FenceSeen::None, vec![sketch(acquire(1, 1))]);
    let nobodys = Event::Call { step, inbox: None, fence, sketches };
    let three = Acquire { limit: limit(2), ..acquire(1, 2) };
    let calls =
        [by(0, 1, sketch(acquire(0, 1))), nobodys, by(0, 1, renew(0)), by(1, 1, sketch(three))];
    calls.into_iter().chain([look(1)]).collect()
}
