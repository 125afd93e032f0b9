//! Histories that are made for one case each.
//!
//! Unless a history has other values, leases last a second and their margins are a quarter of that.
//! All requests state a limit of 5.

#[path = "made/apart.rs"]
mod apart;
#[path = "made/calls.rs"]
mod calls;
#[path = "made/crowded.rs"]
mod crowded;
#[path = "made/fragments.rs"]
mod fragments;
#[path = "made/limits.rs"]
mod limits;
#[path = "made/many.rs"]
mod many;

pub(super) use crowded::crowds_of_readers;
pub(super) use fragments::taken_in_one_request;

use calls::{acquire, another, by, call, look, release, renew, sketch, ticket};
use many::{
    alone_with_gaps_that_another_left, few_left_of_many_and_then_many_again, left_by_somebody_else,
    many_of_one_lease_renewed_again_and_again, many_renewed_beside_a_lease_that_ends,
    many_renewed_otherwise_than_they_are, many_renewed_too_late, more_is_due_than_one_call_ends,
    renewed_by_hand_beside_one_of_a_client,
};
use seinpaal_proto::{
    Acquire, Configure, Enqueue, LeaseId, Limit, LimitRule, OnMismatch, Permits, Ticket,
    time::{MILLISECOND, SECOND},
};

use super::history::{Event, Sketch, inbox};

/// A client waits while a guard lasts, and asks under another lease in the call that ends the
/// guard. That call serves the waiter first. The limit is pinned, so the name is kept as rows.
pub(super) fn asked_when_a_guard_ends(guard: u64) -> Vec<Event> {
    let lasting = |acquire| Acquire { ttl: 5 * SECOND, waiter_ttl: 5 * SECOND, ..acquire };
    let waits = lasting(Acquire { enqueue: Enqueue::Yes { max_waiting: None }, ..another() });
    let pinned = call(1, [Sketch::Configure(Configure::Limit(Limit::new(5).unwrap()))]);
    let fifth = guard / 5;
    let begun = [Event::Listen(inbox(0)), pinned, call(1, [sketch(waits)])];
    let end = [call(fifth as i64, [sketch(lasting(acquire(2)))]), look(1)];
    begun.into_iter().chain((0..4).map(|_| look(fifth))).chain(end).collect()
}

pub(super) fn all() -> Vec<Vec<Event>> {
    vec![
        one_after_the_other(),
        one_with_the_other(),
        held_for_longer_than_remembered(),
        held_beside_another(true),
        held_beside_another(false),
        dropped_for_one_with_a_longer_margin(),
        ended_by_the_clock_though_not_by_the_wall(),
        forgotten_when_another_comes(),
        released_before_others_and_after_causes(),
        refused_for_its_limit(),
        two_sessions_in_one_call(),
        more_causes_than_one_value_has_room_for(),
        many_of_one_lease_renewed_again_and_again(),
        many_renewed_beside_a_lease_that_ends(),
        many_renewed_too_late(),
        many_renewed_otherwise_than_they_are(),
        few_left_of_many_and_then_many_again(),
        alone_with_gaps_that_another_left(),
        more_is_due_than_one_call_ends(),
        one_parked_and_one_in_line(),
        held_with_no_limit_stated(),
        left_by_somebody_else(2),
        left_by_somebody_else(70),
        renewed_by_hand_beside_one_of_a_client(),
        called_otherwise_while_held(),
        called_nothing_any_more(),
        held_for_many_lengths(),
        held_for_days(),
    ]
    .into_iter()
    .chain(apart::all())
    .chain(limits::stated_after_an_unpin())
    .chain(super::made_line::all())
    .collect()
}

/// While a session holds, slots may get further names. A name that only begins like an old one is
/// refused.
fn called_otherwise_while_held() -> Vec<Event> {
    let of = |number, wishes: &str| {
        sketch(Acquire { wishes: wishes.parse().unwrap(), limit: None, ..acquire(number) })
    };
    vec![
        name_slots("a,b"),
        call(1, [of(1, "b")]),
        name_slots("a,bc"),
        name_slots("a"),
        look(1),
        name_slots("a,b,c"),
        call(1, [of(2, "c")]),
        look(1),
    ]
}

/// The names are removed together with the limit, while a session holds and while none does. They
/// are set again in another order.
fn called_nothing_any_more() -> Vec<Event> {
    let of = |number, wishes: &str| {
        sketch(Acquire { wishes: wishes.parse().unwrap(), ..acquire(number) })
    };
    vec![
        name_slots("a,b"),
        call(1, [of(1, "b")]),
        call(1, [Sketch::Configure(Configure::Unpin)]),
        call(1, [release(1)]),
        call(1, [Sketch::Configure(Configure::Unpin)]),
        look(1),
        call(1, [of(2, "b")]),
        call(1, [sketch(acquire(3))]),
        call(1, [release(3)]),
        name_slots("b,a"),
        call(1, [of(4, "b")]),
        look(1),
    ]
}

/// One ticket after another holds. So the name is one value of one ticket, and remembers how long
/// the first ticket held.
pub(super) fn held_again() -> Vec<Event> {
    vec![call(1, [sketch(acquire(1))]), call(200_000, [release(1)]), call(1, [sketch(acquire(2))])]
}

/// Holds of the lengths at which the code of a hold changes, up to hours.
fn held_for_many_lengths() -> Vec<Event> {
    let around = |length: i64| [length - 1, length, length + length / 4, length + length / 2];
    let lengths = [0, 1].into_iter().chain((8..34).flat_map(|doublings| around(1 << doublings)));
    let held = |(number, length)| {
        let (ttl, margin) = (60 * 60 * 6 * SECOND, 60 * 60 * 6 * SECOND);
        [
            call(1, [sketch(Acquire { ttl, margin, ..acquire(number) })]),
            call(length, [release(number)]),
            look(1),
        ]
    };
    (1..).zip(lengths).flat_map(held).collect()
}

/// Holds of the length of the highest code, and longer ones.
fn held_for_days() -> Vec<Event> {
    let (ttl, margin) = (86_400 * SECOND, 86_400 * SECOND);
    let day = || {
        call(
            80_000 * SECOND as i64,
            [Sketch::RenewAll { lease: ticket(0).into(), ttl, margin, wrong: 0 }],
        )
    };
    let held = |number, days| {
        let taken = call(1, [sketch(Acquire { ttl, margin, ..acquire(number) })]);
        let renewed = (0..days).map(move |_| day());
        [taken].into_iter().chain(renewed).chain([call(1, [release(number)]), look(1)])
    };
    held(1, 9).chain(held(2, 11)).chain(held(3, 16)).collect()
}

fn name_slots(names: &str) -> Event {
    call(1, [Sketch::Configure(Configure::Slots(names.parse().unwrap()))])
}

/// An operator pins a limit, a session takes two permits without stating one, the limit is
/// unpinned, and one permit is given back. Then the limit is 1 for every client.
fn held_with_no_limit_stated() -> Vec<Event> {
    let more = |number| sketch(Acquire { limit: None, ..acquire(number) });
    let configure = |change| call(1, [Sketch::Configure(change)]);
    vec![
        configure(Configure::Limit(Limit::new(2).unwrap())),
        call(1, [more(1)]),
        call(1, [more(2)]),
        configure(Configure::Unpin),
        call(1, [release(1)]),
        call(1, [more(3)]),
        look(1),
        call(1, [release(2), more(4)]),
        look(1),
    ]
}

/// A session states a limit and leaves. The next session states none.
fn one_after_the_other() -> Vec<Event> {
    let of_a_lease_of_its_own = |number, limit| {
        let lease = LeaseId(u128::from(number));
        sketch(Acquire { lease, limit, ..acquire(number) })
    };
    let first = of_a_lease_of_its_own(1, acquire(1).limit);
    vec![call(1, [first]), call(1, [release(1)]), call(1, [of_a_lease_of_its_own(2, None)])]
}

/// The first session states a limit and leaves, and the next states none, both in one call. A
/// session does that when it drops a permit and asks for another. It happens twice.
fn one_with_the_other() -> Vec<Event> {
    let more = |number| sketch(Acquire { limit: None, ..acquire(number) });
    vec![call(1, [sketch(acquire(1))]), call(1, [release(1), more(2), more(3)])]
}

/// A permit is renewed for longer than its ticket would be remembered without renewals, and is then
/// asked for again.
fn held_for_longer_than_remembered() -> Vec<Event> {
    let mut events = vec![call(1, [sketch(acquire(1))]), call(1, [renew(60 * SECOND)])];
    events.extend((0..8).map(|_| look(250 * MILLISECOND)));
    events.push(call(1, [sketch(acquire(1))]));
    events
}

/// A permit is renewed and asked for again beside a second session that holds a permit all the
/// time, so the name is never one value. Or the renewal is left out, so the first lease runs out.
fn held_beside_another(is_renewed: bool) -> Vec<Event> {
    let mut events = held_for_longer_than_remembered();
    if !is_renewed {
        events.remove(1);
    }
    let other = Acquire { ttl: 60 * SECOND, ..another() };
    events.insert(0, by(1, 1, vec![sketch(other)]));
    events
}

/// In one call a permit with a short margin is dropped and a permit with a long margin is taken. As
/// in the ledger, the short margin bounds the clock until the end of the call's effects.
fn dropped_for_one_with_a_longer_margin() -> Vec<Event> {
    let longer = Acquire { margin: 10 * SECOND, ttl: 20 * SECOND, ..acquire(2) };
    vec![call(1, [sketch(acquire(1))]), call(1, [release(1), sketch(longer)]), look(5 * SECOND)]
}

/// The store's clock was set back, so the lease lasts longer by that clock.
fn ended_by_the_clock_though_not_by_the_wall() -> Vec<Event> {
    let bold = |number| sketch(Acquire { margin: SECOND, ..acquire(number) });
    let back = call(-400 * MILLISECOND as i64, [Sketch::Inspect { rows: 9 }]);
    let before = [call(1, [bold(1)]), call(1, [bold(2)]), back, call(1, [bold(3)])];
    before.into_iter().chain([call(1_050_000, [bold(4)]), look(1)]).collect()
}

/// The first request after their time forgets tickets that have ended.
fn forgotten_when_another_comes() -> Vec<Event> {
    let again = call(1, [sketch(acquire(1))]);
    let comes = |step| by(1, step, vec![sketch(another())]);
    vec![again.clone(), call(1, [release(1)]), comes(1_500_000), again]
}

/// The first of two tickets is given back at a name that remembers the causes of other tickets'
/// ends.
fn released_before_others_and_after_causes() -> Vec<Event> {
    let evict = Sketch::Evict { ticket: ticket(1) };
    let sketches = [sketch(acquire(1)), evict, sketch(acquire(2)), sketch(acquire(3)), release(2)];
    let again = [sketch(acquire(1)), sketch(acquire(4))];
    sketches.into_iter().chain(again).map(|sketch| call(1, [sketch])).collect()
}

fn refused_for_its_limit() -> Vec<Event> {
    let other = Some(LimitRule { limit: Limit::new(6).unwrap(), on_mismatch: OnMismatch::Refuse });
    let sketches =
        [sketch(acquire(1)), sketch(acquire(2)), sketch(Acquire { limit: other, ..acquire(3) })];
    sketches.into_iter().map(|sketch| call(1, [sketch])).collect()
}

/// Two sessions have the same inbox, as after a ticket has changed hands.
fn two_sessions_in_one_call() -> Vec<Event> {
    let later = Acquire { ticket: another().ticket.series().ticket(9), ..another() };
    let both = [sketch(acquire(2)), sketch(later)];
    vec![call(1, [sketch(acquire(1))]), call(1, both), look(1), call(1, [release(1)]), look(1)]
}

fn more_causes_than_one_value_has_room_for() -> Vec<Event> {
    let taken_and_lost = (1..=50).flat_map(|number| {
        let lost = Sketch::Evict { ticket: ticket(number) };
        [call(1, [sketch(acquire(number))]), call(1, [lost])]
    });
    let again =
        [sketch(acquire(51)), release(51), sketch(acquire(7)), sketch(acquire(52)), release(52)];
    let again = again.into_iter().chain([sketch(acquire(53))]).map(|sketch| call(1, [sketch]));
    taken_and_lost.chain(again).chain([look(1)]).collect()
}

/// The first waiter is gone when its turn comes. The second is granted, and the third waits on.
fn one_parked_and_one_in_line() -> Vec<Event> {
    let (permits, ttl) = (Permits::new(5).unwrap(), 60 * SECOND);
    let all = |acquire| Acquire { permits, ttl, waiter_ttl: ttl, ..acquire };
    let waits = |who: u64| {
        let series = Ticket(u128::from(who) << 64).series();
        let (ticket, lease) = (series.ticket(1), series.ticket(0).into());
        let (enqueue, waiter_lease) =
            (Enqueue::Yes { max_waiting: None }, LeaseId(200 + u128::from(who)));
        let waiting = Acquire { ticket, lease, enqueue, waiter_lease, ..all(acquire(1)) };
        by(who, 1, vec![sketch(waiting)])
    };
    let here = [0, 2, 3].map(|who| Event::Listen(inbox(who)));
    let taken = call(1, [sketch(all(acquire(1)))]);
    let calls = [taken, waits(1), waits(2), waits(3), call(1, [release(1)]), look(1)];
    here.into_iter().chain(calls).collect()
}
