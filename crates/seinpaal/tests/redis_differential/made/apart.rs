//! Histories in which a session renews several tickets, so that the fields that a renewal changes
//! stand apart from the tickets.

use seinpaal_proto::{
    Acquire, Configure, Enqueue, Limit, Permits, Ticket,
    time::{MILLISECOND, SECOND},
};

use super::{
    super::history::{Event, FenceSeen, Sketch, inbox},
    calls::{acquire, another, by, call, look, many_at_once, release, renew, sketch, ticket},
    many::taken,
};

pub(super) fn all() -> Vec<Vec<Event>> {
    let few = || held(1..4);
    let listed = || [1, 51].map(taken).to_vec();
    let by_themselves = || held(1..30);
    let then = what_comes_then();
    let each = then.into_iter().flat_map(|then| {
        [few(), by_themselves(), listed()].map(|held| {
            let renewed = [call(1, [renew(SECOND)]), call(1, [renew(SECOND)])];
            let end = [look(1), call(1, [renew(SECOND)]), look(1), look(SECOND)];
            held.into_iter().chain(renewed).chain(then.clone()).chain(end).collect()
        })
    });
    let others = [
        with_a_cause_and_gaps(),
        after_the_clock_was_set_back(),
        renewed_for_a_shorter_time(3),
        renewed_for_a_shorter_time(100),
        cut_short_before_another_comes(),
        listed_behind_many_others(),
        gone_before_the_others(),
        with_no_limit_stated(),
        under_a_limit_that_is_pinned(),
        beside_one_that_is_only_remembered(),
        with_more_causes_than_a_head_counts(),
        with_many_gaps(),
        while_nobody_listens(3),
        while_nobody_listens(100),
        under_the_lease_of_another_series(),
    ];
    let here = |history: Vec<Event>| [Event::Listen(inbox(0))].into_iter().chain(history).collect();
    each.chain(others.map(here)).collect()
}

fn held(numbers: std::ops::Range<u32>) -> Vec<Event> {
    numbers.map(|number| call(1, [more(number)])).collect()
}

fn more(number: u32) -> Sketch {
    sketch(Acquire { limit: many_at_once(), ..acquire(number) })
}

/// The calls after the renewals: one call, or several.
fn what_comes_then() -> Vec<Vec<Event>> {
    let other = Acquire { limit: many_at_once(), ..another() };
    let waits = Acquire { permits: Permits::new(199).unwrap(), ..other.clone() };
    let waits = Acquire { enqueue: Enqueue::Yes { max_waiting: None }, ..waits };
    let (lease, ttl, margin) = (ticket(0).into(), SECOND, SECOND / 4);
    let by_ticket = |numbers: &[u32]| {
        let tickets = numbers.iter().copied().map(ticket).collect();
        call(1, [Sketch::RenewTickets { lease, ttl, margin, tickets }])
    };
    let wrong = |wrong| call(1, [Sketch::RenewAll { lease, ttl, margin, wrong }]);
    let twice = || call(1, [renew(SECOND), renew(2 * SECOND)]);
    let seen = Event::Call {
        step: 1,
        inbox: Some(inbox(0)),
        fence: FenceSeen::Near(SECOND as i64),
        sketches: vec![renew(SECOND)],
    };
    let here = Event::Listen(inbox(0));
    vec![
        vec![call(1, [release(2)]), call(1, [more(201)]), call(1, [release(1)])],
        vec![call(1, [more(201)]), call(1, [more(202)])],
        vec![call(1, [release(1), more(201), release(3)])],
        vec![call(1, [renew(SECOND), release(2)]), twice()],
        vec![here.clone(), twice(), twice(), call(240_000, [renew(SECOND)])],
        vec![look(1), call(1, [Sketch::Evict { ticket: ticket(2) }]), call(1, [more(2)])],
        vec![by(1, 1, vec![sketch(other.clone())]), call(1, [renew(SECOND)])],
        vec![by(1, 1, vec![sketch(waits)]), call(1, [release(3)]), look(1)],
        vec![by(1, 1, vec![renew(SECOND)]), wrong(1), wrong(2), wrong(3)],
        vec![by_ticket(&[1, 2]), call(1, [release(2)])],
        vec![by_ticket(&[2]), by_ticket(&[1, 3]), by_ticket(&[99])],
        vec![here.clone(), call(1, [renew(24 * 3_600 * SECOND)]), look(3_600 * SECOND)],
        vec![here.clone(), call(1_050_000, [renew(SECOND)])],
        vec![here, call(-300_000, [renew(SECOND)]), call(900_000, [more(201)])],
        vec![seen, call(1, [more(201)])],
        vec![call(1, [Sketch::Configure(Configure::Limit(Limit::new(300).unwrap()))])],
        vec![Event::Call {
            step: 1,
            inbox: None,
            fence: FenceSeen::None,
            sketches: vec![renew(SECOND)],
        }],
    ]
}

/// The slots of two returned permits also stand apart, and so does the cause of a third one's end.
fn with_a_cause_and_gaps() -> Vec<Event> {
    let gaps = [release(1), release(3), Sketch::Evict { ticket: ticket(5) }]
        .map(|sketch| call(1, [sketch]));
    let renewed = [call(1, [renew(SECOND), renew(SECOND)]), call(1, [renew(SECOND)])];
    let then =
        [call(1, [more(9)]), call(1, [renew(SECOND)]), call(1, [more(5)]), call(1, [more(10)])];
    held(1..9).into_iter().chain(gaps).chain(renewed).chain(then).chain([look(1)]).collect()
}

/// The clock was set back, so the sum of its steps forward is ahead of it. The bound under which
/// the order lists the lease counts by that sum, and not by the clock.
fn after_the_clock_was_set_back() -> Vec<Event> {
    let back = call(-30_000_000, [Sketch::Inspect { rows: 9 }]);
    let renewed = (0..3).map(|_| call(1, [renew(SECOND)]));
    let other = Acquire { limit: many_at_once(), ttl: 60 * SECOND, ..another() };
    let then = [by(1, 1, vec![sketch(other)]), look(240_000), look(240_000), look(240_000)];
    let end = [look(240_000), look(240_000), look(240_000), look(SECOND)];
    let held = [1, 51].map(taken).into_iter();
    held.chain([back]).chain(renewed).chain(then).chain(end).collect()
}

fn renewed_for_a_shorter_time(count: u32) -> Vec<Event> {
    let held = if count > 50 { [1, 51].map(taken).to_vec() } else { held(1..count + 1) };
    let long = [20 * SECOND, 20 * SECOND, 30 * SECOND].map(|ttl| call(1, [renew(ttl)]));
    let short = [call(1, [renew(300 * MILLISECOND)]), look(240_000), look(240_000)];
    held.into_iter().chain(long).chain(short).chain([look(1)]).collect()
}

/// The permits were taken, and are listed, for a longer time than they are held in the end. Then a
/// client comes whose request is not about them.
fn cut_short_before_another_comes() -> Vec<Event> {
    let long = |number| Acquire { ttl: 20 * SECOND, limit: many_at_once(), ..acquire(number) };
    let taken = [1..51, 51..101].map(|some| by(0, 1, some.map(|n| sketch(long(n))).collect()));
    let short = [renew(20 * SECOND), renew(300 * MILLISECOND)].map(|sketch| call(1, [sketch]));
    taken
        .into_iter()
        .chain(short)
        .chain(many_others(10))
        .chain((0..3).map(|_| look(240_000)))
        .collect()
}

/// By the clock that was set back, this lease is the first that ends.
fn listed_behind_many_others() -> Vec<Event> {
    let back = call(-30_000_000, [Sketch::Inspect { rows: 9 }]);
    let renewed = (0..2).map(|_| call(1, [renew(SECOND)]));
    let held = [1, 51].map(taken).into_iter().chain([back]).chain(renewed);
    held.chain(many_others(20)).chain((0..6).map(|_| look(240_000))).collect()
}

/// Seventy clients, with a lease each.
fn many_others(seconds: u64) -> Vec<Event> {
    let other = |who: u32| {
        let series = Ticket(u128::from(who) << 64).series();
        let (ticket, lease) = (series.ticket(1), series.ticket(0).into());
        let (limit, ttl) = (many_at_once(), seconds * SECOND);
        sketch(Acquire { ticket, lease, limit, ttl, ..acquire(1) })
    };
    [1..36, 36..71].map(|some| by(1, 1, some.map(other).collect())).to_vec()
}

/// Another client holds for longer, so that the name stays wide when the many clients are
/// forgotten.
fn gone_before_the_others() -> Vec<Event> {
    let renewed = (0..3).map(|_| call(1, [renew(SECOND)]));
    let other = Acquire { limit: many_at_once(), ttl: 60 * SECOND, margin: SECOND, ..another() };
    let back = [1..51, 51..101].map(|some| by(0, 1, some.map(release).collect()));
    let held = [1, 51].map(taken).into_iter().chain(renewed).chain([by(1, 1, vec![sketch(other)])]);
    let forgotten = (0..12).map(|_| look(240_000));
    held.chain(back).chain(forgotten).chain([look(61 * SECOND), look(1)]).collect()
}

/// After the pin and before the unpin, a session takes many permits without stating a limit.
fn with_no_limit_stated() -> Vec<Event> {
    let pinned = Sketch::Configure(Configure::Limit(Limit::new(99).unwrap()));
    let unstated = |number| sketch(Acquire { limit: None, ..acquire(number) });
    let held = (1..20).map(|number| call(1, [unstated(number)]));
    let renewed = || (0..3).map(|_| call(1, [renew(SECOND)]));
    let unpin = [call(1, [Sketch::Configure(Configure::Unpin)])];
    let begun = [call(1, [pinned])].into_iter().chain(held).chain(renewed()).chain(unpin);
    begun.chain(renewed()).chain([call(1, [unstated(30)]), look(1)]).collect()
}

/// A pinned limit stays, and so do the keys.
fn under_a_limit_that_is_pinned() -> Vec<Event> {
    let pinned = Sketch::Configure(Configure::Limit(Limit::new(300).unwrap()));
    let renewed = (0..3).map(|_| call(1, [renew(SECOND)]));
    let held = [1, 51].map(taken).into_iter().chain([call(1, [pinned])]);
    held.chain(renewed).chain([look(1), look(SECOND)]).collect()
}

/// The remembered ticket is asked for once more.
fn beside_one_that_is_only_remembered() -> Vec<Event> {
    let other = || sketch(Acquire { limit: many_at_once(), ttl: 60 * SECOND, ..another() });
    let back = Sketch::Release { ticket: another().ticket, slots: None };
    let renewed = (0..3).map(|_| call(1, [renew(SECOND)]));
    let held =
        [1, 51].map(taken).into_iter().chain([by(1, 1, vec![other()]), by(1, 1, vec![back])]);
    held.chain(renewed).chain([by(1, 1, vec![other()]), look(1)]).collect()
}

fn with_more_causes_than_a_head_counts() -> Vec<Event> {
    let lost = (1..41).map(|number| call(1, [Sketch::Evict { ticket: ticket(number) }]));
    let renewed = (0..3).map(|_| call(1, [renew(SECOND)]));
    let again = [call(1, [more(7)]), call(1, [more(40)]), look(1)];
    [1, 51].map(taken).into_iter().chain(lost).chain(renewed).chain(again).collect()
}

/// There are so many free slots in between that they stand in the order.
fn with_many_gaps() -> Vec<Event> {
    let back = by(0, 1, (1..80).step_by(2).map(release).collect());
    let renewed = (0..3).map(|_| call(1, [renew(SECOND)]));
    let then = [call(1, [more(201)]), call(1, [release(2)]), look(1), call(1, [renew(SECOND)])];
    let all = by(0, 1, (202..243).map(more).collect());
    let end = [all, call(1, [renew(SECOND)]), call(1, [renew(SECOND)]), call(1, [release(100)])];
    let begun = [1, 51].map(taken).into_iter().chain([back]).chain(renewed);
    begun.chain(then).chain(end).chain([look(1), look(1)]).collect()
}

/// No client listens, so the store's own clock also ends the lease.
fn while_nobody_listens(count: u32) -> Vec<Event> {
    let held = if count > 50 { [1, 51].map(taken).to_vec() } else { held(1..count + 1) };
    let renewed = (0..3).map(|_| call(1, [renew(SECOND)]));
    let end = [call(SECOND as i64, [renew(SECOND)]), look(1), call(1, [renew(SECOND)])];
    let looks = by(1, 700_000, vec![Sketch::Inspect { rows: 9 }]);
    let once = [call(1, [more(150)]), call(500_000, [renew(SECOND)]), looks];
    let hushed = [Event::Hush(inbox(0))].into_iter().chain(held).chain(once);
    hushed.chain(renewed).chain(end).collect()
}

/// A session's tickets stand under one lease, which has the id of another series.
fn under_the_lease_of_another_series() -> Vec<Event> {
    let lease = another().lease;
    let under = |number| sketch(Acquire { lease, limit: many_at_once(), ..acquire(number) });
    let renewed = |ttl| call(1, [Sketch::RenewAll { lease, ttl, margin: SECOND / 4, wrong: 0 }]);
    let held = (1..5).map(|number| call(1, [under(number)]));
    let then = [renewed(SECOND), renewed(2 * SECOND), renewed(2 * SECOND), call(1, [release(1)])];
    held.chain(then).chain([renewed(SECOND), look(1), look(2 * SECOND)]).collect()
}
