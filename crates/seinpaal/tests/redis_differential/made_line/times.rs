//! Histories of a line in which something ends, or must not end yet.

use seinpaal_proto::{
    Acquire,
    time::{MILLISECOND, SECOND},
};

use super::{
    super::history::{Event, FenceSeen, Sketch, inbox},
    calls::{
        acquire, both, by, limit, look, release, renew, sketch, ticket, waits, waits_for_both,
    },
    left_by_two,
};

/// A lease of one second, and a call a second later to the microsecond.
pub(super) fn one_ends_just_when_another_renews() -> Vec<Event> {
    let short = Acquire { ttl: SECOND, ..acquire(1, 1) };
    vec![by(0, 1, sketch(acquire(0, 1))), by(1, 1, sketch(short)), by(0, SECOND, renew(0)), look(1)]
}

/// A ticket is remembered from when it was given back, and not from when it was granted.
pub(super) fn given_back_long_after_it_was_had() -> Vec<Event> {
    let short = || Acquire { ttl: SECOND, ..acquire(1, 1) };
    let calls = [by(0, 1, sketch(acquire(0, 1))), by(1, 1, sketch(short())), by(1, 1, renew(1))];
    let again = |step| by(1, step * MILLISECOND, sketch(short()));
    let late = [by(1, 900 * MILLISECOND, release(1, 1)), again(500), again(1)];
    calls.into_iter().chain(late).chain([look(1)]).collect()
}

/// A waiter's place ends by the ledger's clock before it ends by the store's.
pub(super) fn a_clock_set_back_while_somebody_waits() -> Vec<Event> {
    let short = Acquire { waiter_ttl: 2 * SECOND, margin: 60 * SECOND, ..waits(1, 1) };
    let back = Event::Call {
        step: -(500 * MILLISECOND as i64),
        inbox: Some(inbox(0)),
        fence: FenceSeen::None,
        sketches: vec![renew(0)],
    };
    let mut calls = vec![by(0, 1, sketch(both(0, 1))), by(1, 1, sketch(short)), back];
    calls.extend((0..8).map(|_| by(0, 300 * MILLISECOND, renew(0))));
    calls.push(look(1));
    calls
}

/// A session that takes so many permits and does not listen, while the clock is held back: it ends
/// by the store's.
pub(super) fn never_heard_of_again(permits: u32) -> Vec<Event> {
    let short =
        |acquire| Acquire { ttl: SECOND, margin: 50 * MILLISECOND, limit: limit(3), ..acquire };
    let taken = (2..2 + permits).map(|n| by(0, 200 * MILLISECOND, sketch(short(acquire(0, n)))));
    let other = sketch(Acquire { ttl: 60 * SECOND, ..short(acquire(1, 1)) });
    let before = [by(0, 1, sketch(short(acquire(0, 1)))), by(0, 1, release(0, 1))];
    let mut calls = vec![Event::Hush(inbox(0))];
    calls.extend(before);
    calls.extend(taken.chain([by(1, 200 * MILLISECOND, other)]));
    calls.extend((0..9).map(|_| by(1, 100 * MILLISECOND, renew(1))));
    calls.push(by(1, 1, Sketch::Inspect { rows: 9 }));
    calls
}

/// The keys last for as long as the lease even where the clock is held back.
pub(super) fn renewed_for_days() -> Vec<Event> {
    let hours = |n: u64| n * 3_600 * SECOND;
    let long = Acquire { ttl: hours(20), margin: SECOND, ..both(0, 1) };
    let lease = ticket(0, 0).into();
    let again = || Sketch::RenewAll { lease, ttl: hours(20), margin: SECOND, wrong: 0 };
    let full = |n| sketch(Acquire { ttl: SECOND, ..acquire(1, n) });
    let calls = [(0, sketch(long)), (1, full(1)), (0, again()), (0, again()), (1, full(2))];
    let steps = [1, 1, hours(11), hours(11), hours(11)];
    calls.into_iter().zip(steps).map(|((who, sketch), step)| by(who, step, sketch)).collect()
}

/// The keys last until the clock has passed the fence.
pub(super) fn a_fence_from_afar() -> Vec<Event> {
    let hours = |n: u64| n * 3_600 * SECOND;
    let long = Acquire { ttl: hours(20), ..both(0, 1) };
    let lease = ticket(0, 0).into();
    let again = Sketch::RenewAll { lease, ttl: hours(20), margin: SECOND, wrong: 0 };
    let full = |n| sketch(Acquire { ttl: SECOND, ..acquire(1, n) });
    let (step, fence) = (hours(11) as i64, FenceSeen::Near(hours(23) as i64));
    let seen = Event::Call { step, inbox: Some(inbox(1)), fence, sketches: vec![full(2)] };
    vec![by(0, 1, sketch(long)), by(1, 1, full(1)), by(0, hours(11), again), seen, look(1)]
}

/// A ticket's lease was renewed for longer than the ticket is remembered.
pub(super) fn forgotten_while_another_holds() -> Vec<Event> {
    let short = || by(1, 1, sketch(Acquire { ttl: SECOND, ..acquire(1, 1) }));
    let looks = || by(0, 1_200 * MILLISECOND, renew(0));
    let taken = [by(0, 1, sketch(acquire(0, 1))), short(), by(1, 1, renew(1)), looks()];
    taken.into_iter().chain([by(1, 1, release(1, 1)), looks(), short(), look(1)]).collect()
}

/// A lease, or a place, of twenty hours, and a clock that is held back while the store's goes on
/// for eleven.
pub(super) fn for_so_long_keys_are_needed(is_place: bool) -> Vec<Event> {
    let long = 20 * 3_600 * SECOND;
    let (ttl, waiter_ttl) = if is_place { (60 * SECOND, long) } else { (long, SECOND) };
    let held = Acquire { ttl, margin: SECOND, ..both(0, 1) };
    let other = if is_place { waits(1, 1) } else { acquire(1, 1) };
    let other = sketch(Acquire { ttl: SECOND, waiter_ttl, ..other });
    let looks = [look(1), look(11 * 3_600 * SECOND)];
    [by(0, 1, sketch(held)), by(1, 1, other)].into_iter().chain(looks).collect()
}

/// A waiter of a whole day gets its permits when the expiry of the keys was last set 33 hours ago,
/// and its place was made 22 hours ago. The clock that leases end by was held back all the time.
pub(super) fn handed_over_long_after_the_keys_were_renewed() -> Vec<Event> {
    let hours = |n: u64| n * 3_600 * SECOND;
    let long = Acquire { ttl: hours(24), margin: SECOND, ..both(0, 1) };
    let next = Acquire { ttl: hours(24), waiter_ttl: hours(24), ..waits_for_both(1) };
    let next = sketch(Acquire { margin: SECOND, ..next });
    let lease = ticket(0, 0).into();
    let again = Sketch::RenewAll { lease, ttl: hours(12), margin: SECOND, wrong: 0 };
    let calls = [(0, sketch(long)), (1, next), (0, again), (0, release(0, 1))];
    let steps = [1, hours(11), hours(11), hours(11)];
    calls.into_iter().zip(steps).map(|((who, sketch), step)| by(who, step, sketch)).collect()
}

/// Nobody holds any more, and the clock has to pass what was seen.
pub(super) fn a_fence_from_afar_at_the_end() -> Vec<Event> {
    let mut calls = left_by_two();
    let (step, fence) = (1, FenceSeen::Near(10 * 3_600 * SECOND as i64));
    calls.pop();
    calls.push(Event::Call { step, inbox: Some(inbox(1)), fence, sketches: vec![release(1, 1)] });
    calls
}

/// The winner stops listening, and the store's clock passes the end that its place had.
pub(super) fn handed_over_and_not_heard_of_again() -> Vec<Event> {
    let short = Acquire { waiter_ttl: 2 * SECOND, margin: 50 * MILLISECOND, ..waits_for_both(1) };
    let given = [by(0, 1, sketch(both(0, 1))), by(1, 1, sketch(short)), by(0, 1, release(0, 1))];
    let looks = (0..24).map(|_| look(100 * MILLISECOND));
    given.into_iter().chain([Event::Hush(inbox(1))]).chain(looks).collect()
}

/// The lease of the winner is shorter than its place would have been.
pub(super) fn handed_over_for_a_short_time() -> Vec<Event> {
    let short = Acquire { ttl: SECOND, ..waits_for_both(1) };
    let given = [by(0, 1, sketch(both(0, 1))), by(1, 1, sketch(short)), by(0, 1, release(0, 1))];
    let busy = by(0, 1_100 * MILLISECOND, sketch(both(0, 2)));
    given.into_iter().chain([busy, look(1)]).collect()
}

pub(super) fn renewed_for_a_short_time() -> Vec<Event> {
    let lease = ticket(0, 0).into();
    let short = Sketch::RenewAll { lease, ttl: SECOND, margin: 60 * SECOND, wrong: 0 };
    let calls = [by(0, 1, sketch(acquire(0, 1))), by(1, 1, sketch(acquire(1, 1))), by(0, 1, short)];
    calls.into_iter().chain([by(1, 1_100 * MILLISECOND, renew(1)), look(1)]).collect()
}
