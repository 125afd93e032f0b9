//! Histories that are made for one thing each, at a name where a few sessions take turns.
//!
//! Leases and places last a minute, and the clock is never held back, where nothing else is said.

use seinpaal_proto::{
    Acquire, Enqueue, Kind, LeaseId, Limit, LimitRule, OnMismatch, Permits, Priority, Ticket,
    time::{MILLISECOND, SECOND},
};

use super::history::{Ask, Event, FenceSeen, inbox};

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
        renewed_for_a_short_time(),
        waits_for_a_lease_of_its_own(),
        held_by_nobody(),
        a_fence_from_afar(),
        told_as_if_it_had_been_asked(),
        evicted_before_another_came(true),
        evicted_before_another_came(false),
        evicted_from_two(),
    ];
    let here = || (0..4).map(|who| Event::Listen(inbox(who)));
    histories.into_iter().map(|history| here().chain(history).collect()).collect()
}

/// Two hold and give back, one after the other.
pub(super) fn left_by_two() -> Vec<Event> {
    let calls =
        [(0, ask(acquire(0, 1))), (1, ask(acquire(1, 1))), (0, release(0, 1)), (1, release(1, 1))];
    calls.into_iter().map(|(who, ask)| by(who, 1, ask)).collect()
}

/// Two of them, of whom one waits; and the same, and two more that do not wait.
pub(super) fn before_and_after_others_find_it_full() -> (Vec<Event>, Vec<Event>) {
    let before = vec![by(0, 1, ask(both(0, 1))), by(1, 1, ask(waits(1, 1)))];
    let others = [2, 3].map(|who| by(who, 1, ask(acquire(who, 1))));
    (before.clone(), before.into_iter().chain(others).collect())
}

/// A lease of one second, and a call a second later to the microsecond.
fn one_ends_just_when_another_renews() -> Vec<Event> {
    let short = Acquire { ttl: SECOND, ..acquire(1, 1) };
    vec![by(0, 1, ask(acquire(0, 1))), by(1, 1, ask(short)), by(0, SECOND, renew(0)), look(1)]
}

/// The digest of the only ticket in line is 1, which is what the asker says of a lease that there is not.
fn another_lease_is_renewed_that_looks_like_the_place() -> Vec<Event> {
    let series = Ticket(0x5a5a_1234_5678_9abc << 64 | 0x77fe_f234 << 32).series();
    let waits = Acquire { ticket: series.ticket(1), lease: series.ticket(0).into(), ..waits(1, 1) };
    let unknown = Ask::RenewAll { lease: LeaseId(9 << 64), ttl: SECOND, margin: SECOND, wrong: 0 };
    let full = Acquire { permits: Permits::new(2).unwrap(), ..acquire(0, 1) };
    vec![by(0, 1, ask(full)), by(1, 1, ask(waits)), by(1, 1, unknown), look(1)]
}

/// Whose series that is comes, and waits behind it.
fn a_place_that_is_somebodys_series() -> Vec<Event> {
    let in_its_place = Acquire { waiter_lease: ticket(2, 0).into(), ..waits(1, 1) };
    let calls = [ask(both(0, 1)), ask(in_its_place), ask(waits(2, 1)), release(0, 1)];
    let calls = calls.into_iter().zip([0, 1, 2, 0]).map(|(ask, who)| by(who, 1, ask));
    calls.chain([look(1), by(2, 1, renew(2)), look(1)]).collect()
}

/// As one that is only remembered, with the series of the session that comes next.
fn what_is_told_looks_like_a_session() -> Vec<Event> {
    let about = format!("{}{}", "-".repeat(32), &ticket(1, 0).to_string()[..24]);
    let told = Acquire { about, ..acquire(0, 1) };
    vec![
        by(0, 1, ask(told)),
        by(1, 1, ask(acquire(1, 1))),
        look(1),
        by(1, 1, release(1, 1)),
        look(1),
    ]
}

/// The inbox and the series of who comes next, where the third session of a line begins.
fn what_is_told_stands_where_a_session_would() -> Vec<Event> {
    let about = format!("{}{}{}", "x".repeat(106), inbox(1), &ticket(1, 0).to_string()[..24]);
    let told = Acquire { about, ..acquire(0, 1) };
    vec![by(0, 1, ask(told)), by(1, 1, ask(acquire(1, 1))), look(1)]
}

/// Who is first in line has the inbox of who renews.
fn one_inbox_with_two_series() -> Vec<Event> {
    let [first, second] = [ask(both(0, 1)), ask(waits(1, 1))];
    let calls = [first, second, renew(0), renew(0), release(0, 1), renew(1)];
    calls.into_iter().map(|ask| by(0, 1, ask)).chain([look(1)]).collect()
}

/// Ten seconds later a step of priority more is the same rank. Then the lower ticket is first.
fn as_high_as_who_came_before() -> Vec<Event> {
    let later = Acquire { priority: Priority::new(1).unwrap(), ..waits_for_both(2) };
    let calls = [
        by(0, 1, ask(both(0, 1))),
        by(1, 1, ask(waits_for_both(1))),
        by(2, 10 * SECOND, ask(later)),
    ];
    calls.into_iter().chain([by(0, 1, release(0, 1)), look(1)]).collect()
}

/// It is remembered from then on.
fn given_back_long_after_it_was_had() -> Vec<Event> {
    let short = || Acquire { ttl: SECOND, ..acquire(1, 1) };
    let calls = [by(0, 1, ask(acquire(0, 1))), by(1, 1, ask(short())), by(1, 1, renew(1))];
    let again = |step| by(1, step * MILLISECOND, ask(short()));
    let late = [by(1, 900 * MILLISECOND, release(1, 1)), again(500), again(1)];
    calls.into_iter().chain(late).chain([look(1)]).collect()
}

fn two_given_back_in_one_call() -> Vec<Event> {
    let calls = [ask(acquire(0, 1)), ask(acquire(0, 2)), ask(waits(1, 1)), ask(waits(2, 1))];
    let calls = calls.into_iter().zip([0, 0, 1, 2]).map(|(ask, who)| by(who, 1, ask));
    let back = vec![release(0, 1), release(0, 2)];
    let back = Event::Call { step: 1, inbox: Some(inbox(0)), fence: FenceSeen::None, asks: back };
    calls.chain([back, look(1)]).collect()
}

/// Its place ends by the ledger's clock before the store's.
fn a_clock_set_back_while_somebody_waits() -> Vec<Event> {
    let short = Acquire { waiter_ttl: 2 * SECOND, margin: 60 * SECOND, ..waits(1, 1) };
    let back = Event::Call {
        step: -(500 * MILLISECOND as i64),
        inbox: Some(inbox(0)),
        fence: FenceSeen::None,
        asks: vec![renew(0)],
    };
    let mut calls = vec![by(0, 1, ask(both(0, 1))), by(1, 1, ask(short)), back];
    calls.extend((0..8).map(|_| by(0, 300 * MILLISECOND, renew(0))));
    calls.push(look(1));
    calls
}

/// A session that takes so many permits and does not listen, while the clock is held back: it ends by the store's.
fn never_heard_of_again(permits: u32) -> Vec<Event> {
    let short =
        |acquire| Acquire { ttl: SECOND, margin: 50 * MILLISECOND, limit: limit(3), ..acquire };
    let taken = (2..2 + permits).map(|n| by(0, 200 * MILLISECOND, ask(short(acquire(0, n)))));
    let other = ask(Acquire { ttl: 60 * SECOND, ..short(acquire(1, 1)) });
    let before = [by(0, 1, ask(short(acquire(0, 1)))), by(0, 1, release(0, 1))];
    let mut calls = vec![Event::Hush(inbox(0))];
    calls.extend(before);
    calls.extend(taken.chain([by(1, 200 * MILLISECOND, other)]));
    calls.extend((0..9).map(|_| by(1, 100 * MILLISECOND, renew(1))));
    calls.push(by(1, 1, Ask::Inspect { rows: 9 }));
    calls
}

/// The keys last for as long as the lease even where the clock is held back.
fn renewed_for_days() -> Vec<Event> {
    let hours = |n: u64| n * 3_600 * SECOND;
    let long = Acquire { ttl: hours(20), margin: SECOND, ..both(0, 1) };
    let lease = ticket(0, 0).into();
    let again = || Ask::RenewAll { lease, ttl: hours(20), margin: SECOND, wrong: 0 };
    let full = |n| ask(Acquire { ttl: SECOND, ..acquire(1, n) });
    let calls = [(0, ask(long)), (1, full(1)), (0, again()), (0, again()), (1, full(2))];
    let steps = [1, 1, hours(11), hours(11), hours(11)];
    calls.into_iter().zip(steps).map(|((who, ask), step)| by(who, step, ask)).collect()
}

/// Why its first ticket is over is told to it still, whether it has given back its second by then or not.
fn evicted_before_another_came(is_idle: bool) -> Vec<Event> {
    let lost = Ask::Evict { ticket: ticket(0, 1) };
    let back = by(0, 1, release(0, 2));
    let mut calls: Vec<_> =
        [ask(acquire(0, 1)), lost, ask(acquire(0, 2))].map(|ask| by(0, 1, ask)).into();
    calls.extend(is_idle.then(|| back.clone()));
    calls.extend([by(1, 1, ask(acquire(1, 1))), by(0, 1, release(0, 1)), look(1), back]);
    calls
}

/// Each remembers which of its tickets was evicted, and these have different numbers.
fn evicted_from_two() -> Vec<Event> {
    let evicted = |number| Ask::Evict { ticket: ticket(1, number) };
    let of_one = [ask(acquire(1, 1)), release(1, 1), ask(acquire(1, 2)), evicted(2)];
    let mut calls = evicted_before_another_came(false);
    calls.extend(of_one.map(|ask| by(1, 1, ask)));
    let taken = [(1, 3), (0, 3)].map(|(who, number)| by(who, 1, ask(acquire(who, number))));
    let again = [(1, 2), (1, 1), (0, 1)].map(|(who, number)| by(who, 1, ask(acquire(who, number))));
    calls.extend(taken.into_iter().chain([look(1)]).chain(again));
    calls
}

/// The keys last until the clock has passed it.
fn a_fence_from_afar() -> Vec<Event> {
    let hours = |n: u64| n * 3_600 * SECOND;
    let long = Acquire { ttl: hours(20), ..both(0, 1) };
    let lease = ticket(0, 0).into();
    let again = Ask::RenewAll { lease, ttl: hours(20), margin: SECOND, wrong: 0 };
    let full = |n| ask(Acquire { ttl: SECOND, ..acquire(1, n) });
    let (step, fence) = (hours(11) as i64, FenceSeen::Near(hours(23) as i64));
    let seen = Event::Call { step, inbox: Some(inbox(1)), fence, asks: vec![full(2)] };
    vec![by(0, 1, ask(long)), by(1, 1, full(1)), by(0, hours(11), again), seen, look(1)]
}

/// What a holder says of itself has the sign that stands before what it was asked.
fn told_as_if_it_had_been_asked() -> Vec<Event> {
    let about = "line\u{1d}5\u{1e}eve\u{1e}it is needed".to_owned();
    let (lease, tickets) = (ticket(0, 0).into(), vec![ticket(0, 1)]);
    let proof = Ask::RenewTickets { lease, ttl: SECOND, margin: SECOND, tickets };
    let told = ask(Acquire { about, ..acquire(0, 1) });
    vec![by(0, 1, told), by(1, 1, ask(acquire(1, 1))), by(0, 1, proof), look(1)]
}

/// Its place is remembered in the line for as long as it has one.
fn a_second_place_while_the_first_is_needed() -> Vec<Event> {
    let (first, second) = (LeaseId(301 << 64), LeaseId(401 << 64));
    let renew = |lease| Ask::RenewAll { lease, ttl: SECOND, margin: SECOND, wrong: 0 };
    let other = Acquire { waiter_lease: second, ..waits(1, 2) };
    let calls = [
        (0, ask(both(0, 1))),
        (1, ask(waits(1, 1))),
        (1, ask(other)),
        (1, renew(first)),
        (1, renew(second)),
    ];
    calls.into_iter().map(|(who, ask)| by(who, 1, ask)).chain([look(1)]).collect()
}

/// Its lease was renewed for longer than it is remembered.
fn forgotten_while_another_holds() -> Vec<Event> {
    let short = || by(1, 1, ask(Acquire { ttl: SECOND, ..acquire(1, 1) }));
    let looks = || by(0, 1_200 * MILLISECOND, renew(0));
    let taken = [by(0, 1, ask(acquire(0, 1))), short(), by(1, 1, renew(1)), looks()];
    taken.into_iter().chain([by(1, 1, release(1, 1)), looks(), short(), look(1)]).collect()
}

/// A lease, or a place, of twenty hours, and a clock that is held back while the store's goes on for eleven.
fn for_so_long_keys_are_needed(is_place: bool) -> Vec<Event> {
    let long = 20 * 3_600 * SECOND;
    let (ttl, waiter_ttl) = if is_place { (60 * SECOND, long) } else { (long, SECOND) };
    let held = Acquire { ttl, margin: SECOND, ..both(0, 1) };
    let other = if is_place { waits(1, 1) } else { acquire(1, 1) };
    let other = ask(Acquire { ttl: SECOND, waiter_ttl, ..other });
    let looks = [look(1), look(11 * 3_600 * SECOND)];
    [by(0, 1, ask(held)), by(1, 1, other)].into_iter().chain(looks).collect()
}

/// Who is handed the permits joins that lease.
fn whose_series_is_the_place_of_who_is_next() -> Vec<Event> {
    let in_its_place = Acquire { waiter_lease: ticket(2, 0).into(), ..waits_for_both(1) };
    let calls =
        [(0, ask(both(0, 1))), (2, ask(waits_for_both(2))), (1, ask(in_its_place)), (0, renew(0))];
    let then = [(0, release(0, 1)), (2, renew(2)), (2, release(2, 1))];
    calls.into_iter().chain(then).map(|(who, ask)| by(who, 1, ask)).chain([look(1)]).collect()
}

/// As after a change of hands.
fn one_series_with_two_inboxes() -> Vec<Event> {
    let second = Acquire { ticket: ticket(1, 2), ..waits_for_both(1) };
    let calls =
        [(0, ask(both(0, 1))), (1, ask(waits_for_both(1))), (3, ask(second)), (0, renew(0))];
    let then = [(0, release(0, 1)), (1, release(1, 1))];
    calls.into_iter().chain(then).map(|(who, ask)| by(who, 1, ask)).chain([look(1)]).collect()
}

/// A session that has nothing says so.
fn nothing_is_renewed() -> Vec<Event> {
    let lease = ticket(1, 0).into();
    let nothing = Ask::RenewAll { lease, ttl: SECOND, margin: SECOND, wrong: 3 };
    let calls =
        [(0, ask(acquire(0, 1))), (1, ask(acquire(1, 1))), (1, release(1, 1)), (1, nothing)];
    calls.into_iter().map(|(who, ask)| by(who, 1, ask)).chain([look(1)]).collect()
}

/// Nobody holds any more, and the clock has to pass what was seen.
fn a_fence_from_afar_at_the_end() -> Vec<Event> {
    let mut calls = left_by_two();
    let (step, fence) = (1, FenceSeen::Near(10 * 3_600 * SECOND as i64));
    calls.pop();
    calls.push(Event::Call { step, inbox: Some(inbox(1)), fence, asks: vec![release(1, 1)] });
    calls
}

/// Three are held, and somebody else says that there are two: what is given back is not to be had, and then the lowest
/// slot is, which is not the one that was given back last.
fn a_limit_lowered_while_all_is_held() -> Vec<Event> {
    let of_three = |n| ask(Acquire { limit: limit(3), ..acquire(0, n) });
    let rule = LimitRule { limit: Limit::new(2).unwrap(), on_mismatch: OnMismatch::Set };
    let lower = ask(Acquire { limit: Some(rule), ..waits(1, 1) });
    let taken = (1..=3).map(|n| by(0, 1, of_three(n))).chain([by(1, 1, lower), by(0, 1, renew(0))]);
    let back = [1, 3, 2].into_iter().flat_map(|n| [by(0, 1, release(0, n)), by(0, 1, renew(0))]);
    taken.chain(back).chain([look(1)]).collect()
}

/// The winner stops listening, and the store's clock passes the end that its place had.
fn handed_over_and_not_heard_of_again() -> Vec<Event> {
    let short = Acquire { waiter_ttl: 2 * SECOND, margin: 50 * MILLISECOND, ..waits_for_both(1) };
    let given = [by(0, 1, ask(both(0, 1))), by(1, 1, ask(short)), by(0, 1, release(0, 1))];
    let looks = (0..24).map(|_| look(100 * MILLISECOND));
    given.into_iter().chain([Event::Hush(inbox(1))]).chain(looks).collect()
}

/// The lease of the winner is shorter than its place would have been.
fn handed_over_for_a_short_time() -> Vec<Event> {
    let short = Acquire { ttl: SECOND, ..waits_for_both(1) };
    let given = [by(0, 1, ask(both(0, 1))), by(1, 1, ask(short)), by(0, 1, release(0, 1))];
    let busy = by(0, 1_100 * MILLISECOND, ask(both(0, 2)));
    given.into_iter().chain([busy, look(1)]).collect()
}

fn renewed_for_a_short_time() -> Vec<Event> {
    let lease = ticket(0, 0).into();
    let short = Ask::RenewAll { lease, ttl: SECOND, margin: 60 * SECOND, wrong: 0 };
    let calls = [by(0, 1, ask(acquire(0, 1))), by(1, 1, ask(acquire(1, 1))), by(0, 1, short)];
    calls.into_iter().chain([by(1, 1_100 * MILLISECOND, renew(1)), look(1)]).collect()
}

/// What is handed over stands under a lease that is not its series'.
fn waits_for_a_lease_of_its_own() -> Vec<Event> {
    let lease = LeaseId(77 << 64);
    let own = Acquire { lease, ..waits_for_both(1) };
    let renewed = Ask::RenewAll { lease, ttl: SECOND, margin: SECOND, wrong: 0 };
    let calls =
        [(0, ask(both(0, 1))), (1, ask(own)), (0, renew(0)), (0, release(0, 1)), (1, renewed)];
    calls.into_iter().map(|(who, ask)| by(who, 1, ask)).chain([look(1)]).collect()
}

/// A client without an inbox holds under the series of one that comes.
fn held_by_nobody() -> Vec<Event> {
    let (step, fence, asks) = (1, FenceSeen::None, vec![ask(acquire(1, 1))]);
    let nobodys = Event::Call { step, inbox: None, fence, asks };
    let three = Acquire { limit: limit(2), ..acquire(1, 2) };
    let calls = [by(0, 1, ask(acquire(0, 1))), nobodys, by(0, 1, renew(0)), by(1, 1, ask(three))];
    calls.into_iter().chain([look(1)]).collect()
}

fn by(who: u64, step: u64, ask: Ask) -> Event {
    let (inbox, fence) = (Some(inbox(who)), FenceSeen::None);
    Event::Call { step: step as i64, inbox, fence, asks: vec![ask] }
}

fn look(step: u64) -> Event {
    by(0, step, Ask::Inspect { rows: 9 })
}

/// Later sessions have lower ones. No series is found within other ids.
fn ticket(who: u64, number: u32) -> Ticket {
    let spread = 0x7edc_ba98_7654_3211_0123_4567_89ab_cdef_u128;
    Ticket(spread - (u128::from(who) << 100)).series().ticket(number)
}

fn ask(acquire: Acquire) -> Ask {
    Ask::Acquire { acquire, not_after: None }
}

fn release(who: u64, number: u32) -> Ask {
    Ask::Release { ticket: ticket(who, number), slots: None }
}

fn renew(who: u64) -> Ask {
    let lease = ticket(who, 0).into();
    Ask::RenewAll { lease, ttl: 60 * SECOND, margin: 60 * SECOND, wrong: 0 }
}

/// Both permits.
fn both(who: u64, number: u32) -> Acquire {
    Acquire { permits: Permits::new(2).unwrap(), ..acquire(who, number) }
}

fn waits(who: u64, number: u32) -> Acquire {
    Acquire { enqueue: Enqueue::Yes { max_waiting: None }, ..acquire(who, number) }
}

fn waits_for_both(who: u64) -> Acquire {
    Acquire { permits: both(who, 1).permits, ..waits(who, 1) }
}

fn limit(limit: u32) -> Option<LimitRule> {
    Some(LimitRule { limit: Limit::new(limit).unwrap(), on_mismatch: OnMismatch::Refuse })
}

/// One permit of two.
fn acquire(who: u64, number: u32) -> Acquire {
    Acquire {
        ticket: ticket(who, number),
        kind: Kind::Semaphore,
        permits: Permits::ONE,
        wishes: seinpaal_proto::SlotNames::none(),
        limit: limit(2),
        enqueue: Enqueue::No,
        priority: Priority::default(),
        lease: ticket(who, 0).into(),
        ttl: 60 * SECOND,
        margin: 60 * SECOND,
        waiter_lease: LeaseId(u128::from(300 + who) << 64),
        waiter_ttl: 60 * SECOND,
        not_after: None,
        about: String::new(),
    }
}
