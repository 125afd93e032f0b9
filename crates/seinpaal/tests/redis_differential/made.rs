//! Histories that are made for one thing each.
//!
//! Leases last a second and their margins are a quarter of it, where nothing else is said. All ask for a limit of 5.

use seinpaal_proto::{
    Acquire, Configure, Enqueue, Kind, LeaseId, Limit, LimitRule, OnMismatch, Permits, Priority,
    Ticket,
    time::{MILLISECOND, SECOND},
};

use super::history::{Ask, Event, FenceSeen, inbox};

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
        asked_to_hand_over(1, 1),
        asked_to_hand_over(2, 3),
        asked_to_hand_over(60, 70),
        called_otherwise_while_held(),
        called_nothing_any_more(),
        held_for_many_lengths(),
        held_for_days(),
    ]
    .into_iter()
    .chain(super::made_line::all())
    .collect()
}

/// While somebody holds, slots may get further names, and none that only begins as the old one does.
fn called_otherwise_while_held() -> Vec<Event> {
    let of = |number, wishes: &str| {
        ask(Acquire { wishes: wishes.parse().unwrap(), limit: None, ..acquire(number) })
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

/// The names go with the limit, while somebody holds and when nobody does, and come again in another order.
fn called_nothing_any_more() -> Vec<Event> {
    let of =
        |number, wishes: &str| ask(Acquire { wishes: wishes.parse().unwrap(), ..acquire(number) });
    vec![
        name_slots("a,b"),
        call(1, [of(1, "b")]),
        call(1, [Ask::Configure(Configure::Unpin)]),
        call(1, [release(1)]),
        call(1, [Ask::Configure(Configure::Unpin)]),
        look(1),
        call(1, [of(2, "b")]),
        call(1, [ask(acquire(3))]),
        call(1, [release(3)]),
        name_slots("b,a"),
        call(1, [of(4, "b")]),
        look(1),
    ]
}

/// At lengths around which the code of a hold changes, up to hours.
fn held_for_many_lengths() -> Vec<Event> {
    let around = |length: i64| [length - 1, length, length + length / 4, length + length / 2];
    let lengths = [0, 1].into_iter().chain((8..34).flat_map(|doublings| around(1 << doublings)));
    let held = |(number, length)| {
        let (ttl, margin) = (60 * 60 * 6 * SECOND, 60 * 60 * 6 * SECOND);
        [
            call(1, [ask(Acquire { ttl, margin, ..acquire(number) })]),
            call(length, [release(number)]),
            look(1),
        ]
    };
    (1..).zip(lengths).flat_map(held).collect()
}

/// For as long as has the highest code, and for longer.
fn held_for_days() -> Vec<Event> {
    let (ttl, margin) = (86_400 * SECOND, 86_400 * SECOND);
    let day = || {
        call(
            80_000 * SECOND as i64,
            [Ask::RenewAll { lease: ticket(0).into(), ttl, margin, wrong: 0 }],
        )
    };
    let held = |number, days| {
        let taken = call(1, [ask(Acquire { ttl, margin, ..acquire(number) })]);
        let renewed = (0..days).map(move |_| day());
        [taken].into_iter().chain(renewed).chain([call(1, [release(number)]), look(1)])
    };
    held(1, 9).chain(held(2, 11)).chain(held(3, 16)).collect()
}

fn name_slots(names: &str) -> Event {
    call(1, [Ask::Configure(Configure::Slots(names.parse().unwrap()))])
}

/// An operator pins a limit, a session takes two permits without stating one, the limit is unpinned, and one permit is
/// given back: then the limit is 1 for everybody.
fn held_with_no_limit_stated() -> Vec<Event> {
    let more = |number| ask(Acquire { limit: None, ..acquire(number) });
    let configure = |change| call(1, [Ask::Configure(change)]);
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

/// Somebody states a limit and leaves; who comes next states none.
fn one_after_the_other() -> Vec<Event> {
    let of_a_lease_of_its_own = |number, limit| {
        let lease = LeaseId(u128::from(number));
        ask(Acquire { lease, limit, ..acquire(number) })
    };
    let first = of_a_lease_of_its_own(1, acquire(1).limit);
    vec![call(1, [first]), call(1, [release(1)]), call(1, [of_a_lease_of_its_own(2, None)])]
}

/// The same in one call, as a session that drops a permit and asks for another, twice.
fn one_with_the_other() -> Vec<Event> {
    let more = |number| ask(Acquire { limit: None, ..acquire(number) });
    vec![call(1, [ask(acquire(1))]), call(1, [release(1), more(2), more(3)])]
}

/// A permit is renewed for longer than its ticket would be remembered without it, and asked for once more.
fn held_for_longer_than_remembered() -> Vec<Event> {
    let mut events = vec![call(1, [ask(acquire(1))]), call(1, [renew(60 * SECOND)])];
    events.extend((0..8).map(|_| look(250 * MILLISECOND)));
    events.push(call(1, [ask(acquire(1))]));
    events
}

/// The same beside a second session that holds a permit all the time, so that the name is never one value; or without
/// the renewal, so that the first lease runs out.
fn held_beside_another(is_renewed: bool) -> Vec<Event> {
    let mut events = held_for_longer_than_remembered();
    if !is_renewed {
        events.remove(1);
    }
    let other = Acquire { ttl: 60 * SECOND, ..another() };
    events.insert(0, by(1, 1, vec![ask(other)]));
    events
}

/// In one call a permit with a short margin is dropped and one with a long margin taken: the short one bounds the
/// clock until the end of the call's effects, as the ledger has it.
fn dropped_for_one_with_a_longer_margin() -> Vec<Event> {
    let longer = Acquire { margin: 10 * SECOND, ttl: 20 * SECOND, ..acquire(2) };
    vec![call(1, [ask(acquire(1))]), call(1, [release(1), ask(longer)]), look(5 * SECOND)]
}

/// The store's clock was set back, so that the lease lasts for longer there.
fn ended_by_the_clock_though_not_by_the_wall() -> Vec<Event> {
    let bold = |number| ask(Acquire { margin: SECOND, ..acquire(number) });
    let back = call(-400 * MILLISECOND as i64, [Ask::Inspect { rows: 9 }]);
    let before = [call(1, [bold(1)]), call(1, [bold(2)]), back, call(1, [bold(3)])];
    before.into_iter().chain([call(1_050_000, [bold(4)]), look(1)]).collect()
}

/// What has been over for long enough is forgotten by whoever comes first.
fn forgotten_when_another_comes() -> Vec<Event> {
    let again = call(1, [ask(acquire(1))]);
    let comes = |step| by(1, step, vec![ask(another())]);
    vec![again.clone(), call(1, [release(1)]), comes(1_500_000), again]
}

/// The first of two tickets is given back, where it is remembered why others ended.
fn released_before_others_and_after_causes() -> Vec<Event> {
    let evict = Ask::Evict { ticket: ticket(1) };
    let asks = [ask(acquire(1)), evict, ask(acquire(2)), ask(acquire(3)), release(2)];
    let again = [ask(acquire(1)), ask(acquire(4))];
    asks.into_iter().chain(again).map(|ask| call(1, [ask])).collect()
}

fn refused_for_its_limit() -> Vec<Event> {
    let other = Some(LimitRule { limit: Limit::new(6).unwrap(), on_mismatch: OnMismatch::Refuse });
    let asks = [ask(acquire(1)), ask(acquire(2)), ask(Acquire { limit: other, ..acquire(3) })];
    asks.into_iter().map(|ask| call(1, [ask])).collect()
}

/// Both have the same inbox, as after a change of hands.
fn two_sessions_in_one_call() -> Vec<Event> {
    let later = Acquire { ticket: another().ticket.series().ticket(9), ..another() };
    let both = [ask(acquire(2)), ask(later)];
    vec![call(1, [ask(acquire(1))]), call(1, both), look(1), call(1, [release(1)]), look(1)]
}

fn more_causes_than_one_value_has_room_for() -> Vec<Event> {
    let taken_and_lost = (1..=50).flat_map(|number| {
        let lost = Ask::Evict { ticket: ticket(number) };
        [call(1, [ask(acquire(number))]), call(1, [lost])]
    });
    let again = [ask(acquire(51)), release(51), ask(acquire(7)), ask(acquire(52))];
    taken_and_lost.chain(again.map(|ask| call(1, [ask]))).collect()
}

/// So many rows that they are listed. The bound at which the lease is listed passes in every fifth call.
fn many_of_one_lease_renewed_again_and_again() -> Vec<Event> {
    let renewed = (0..12).flat_map(|_| [call(240_000, [renew(SECOND)]), look(1)]);
    let longer = [call(1, [renew(20 * SECOND)]), call(240_000, [renew(SECOND)]), look(1)];
    let given_back = [call(1, [release(3), release(70)]), look(1)];
    many().into_iter().chain(renewed).chain(longer).chain(given_back).collect()
}

/// Whoever renews finds it over, before and after the moment at which its own lease is to be looked at.
fn many_renewed_beside_a_lease_that_ends() -> Vec<Event> {
    let other = |ttl| by(1, 1, vec![ask(Acquire { ttl, limit: None, ..another() })]);
    let renewed = || (0..6).map(|_| call(200_000, [renew(SECOND)]));
    let after = many().into_iter().chain([other(SECOND)]).chain(renewed()).chain([look(1)]);
    let again = [call(1, [renew(300 * MILLISECOND)]), other(600 * MILLISECOND)];
    after.chain(again).chain(renewed()).chain([look(1)]).collect()
}

/// Whoever renews too late finds its own lease over.
fn many_renewed_too_late() -> Vec<Event> {
    let looks = (0..4).map(|_| look(240_000));
    many().into_iter().chain(looks).chain([call(200_000, [renew(SECOND)]), look(1)]).collect()
}

fn many_renewed_otherwise_than_they_are() -> Vec<Event> {
    let of = |wrong, ttl, margin| Ask::RenewAll { lease: ticket(0).into(), ttl, margin, wrong };
    let asks =
        [of(1, SECOND, 1), of(2, SECOND, 1), of(0, 100 * MILLISECOND, 1), of(0, SECOND, 9_000)];
    let renewed = asks.into_iter().flat_map(|ask| [call(100_000, [ask]), look(1)]);
    let others = by(1, 1, vec![renew(SECOND)]);
    let end = [others, look(1), call(2 * SECOND as i64, [renew(SECOND)]), look(1)];
    many().into_iter().chain(renewed).chain(end).collect()
}

/// What is left fits into one value, but what is listed has not gone yet.
fn few_left_of_many_and_then_many_again() -> Vec<Event> {
    let back = [4..52, 52..101].map(|some| by(0, 1, some.map(release).collect()));
    let twice = call(1, [renew(SECOND), renew(SECOND)]);
    let other = by(1, 1, vec![ask(Acquire { limit: None, ..another() })]);
    let end = [twice, look(1), other, taken(101), taken(151), look(1)];
    many().into_iter().chain(back).chain(end).collect()
}

/// Three tickets with a free slot before each, in one record, once the other session is forgotten.
fn alone_with_gaps_that_another_left() -> Vec<Event> {
    let theirs = |number| another().ticket.series().ticket(number);
    let other = |number| {
        let ticket = theirs(number);
        by(
            1,
            1,
            vec![ask(Acquire {
                ticket,
                ttl: 100 * MILLISECOND,
                limit: many_at_once(),
                ..another()
            })],
        )
    };
    let ours = |number| call(1, [ask(Acquire { limit: many_at_once(), ..acquire(number) })]);
    let taken = (1..4).flat_map(|number| [other(number), ours(number)]);
    let left = (1..4).map(|n| by(1, 1, vec![Ask::Release { ticket: theirs(n), slots: None }]));
    let twice = || call(1, [renew(SECOND), renew(SECOND)]);
    let end = [look(240_000), twice(), twice(), ours(4), ours(5), look(1)];
    taken.chain(left).chain(end).collect()
}

fn more_is_due_than_one_call_ends() -> Vec<Event> {
    let looks = (0..6).map(|_| look(240_000));
    [1, 51, 101].map(taken).into_iter().chain(looks).collect()
}

/// The first who waited is not there when its turn comes, so that the second has it and the third waits on.
fn one_parked_and_one_in_line() -> Vec<Event> {
    let (permits, ttl) = (Permits::new(5).unwrap(), 60 * SECOND);
    let all = |acquire| Acquire { permits, ttl, waiter_ttl: ttl, ..acquire };
    let waits = |who: u64| {
        let series = Ticket(u128::from(who) << 64).series();
        let (ticket, lease) = (series.ticket(1), series.ticket(0).into());
        let (enqueue, waiter_lease) =
            (Enqueue::Yes { max_waiting: None }, LeaseId(200 + u128::from(who)));
        by(who, 1, vec![ask(Acquire { ticket, lease, enqueue, waiter_lease, ..all(acquire(1)) })])
    };
    let here = [0, 2, 3].map(|who| Event::Listen(inbox(who)));
    let taken = call(1, [ask(all(acquire(1)))]);
    let calls = [taken, waits(1), waits(2), waits(3), call(1, [release(1)]), look(1)];
    here.into_iter().chain(calls).collect()
}

/// The holder of many tickets, or of few, is asked for one: once, again, by others, and for one that it gave back. It
/// hears of that from a renewal by ticket, as often as it asks.
fn asked_to_hand_over(few: u32, most: u32) -> Vec<Event> {
    let apart = LeaseId(77 << 64);
    let asked = |number, by| {
        let asks = vec![Ask::HandOver { ticket: ticket(number), lease: apart, by }];
        Event::Call { step: 1, inbox: None, fence: FenceSeen::None, asks }
    };
    let by_ticket = |numbers: &[u32]| {
        let tickets = numbers.iter().copied().map(ticket).collect();
        let (lease, ttl) = (ticket(0).into(), SECOND);
        [call(1, [Ask::RenewTickets { lease, ttl, margin: SECOND / 4, tickets }]), look(1)]
    };
    let taken = (1..=most).map(|n| call(1, [ask(Acquire { limit: many_at_once(), ..acquire(n) })]));
    let waits = Acquire { permits: Permits::new(150).unwrap(), limit: many_at_once(), ..another() };
    let waits = ask(Acquire { enqueue: Enqueue::Yes { max_waiting: None }, ..waits });
    let asks = [asked(few, "eve"), call(1, [renew(SECOND)]), asked(few, "eve"), asked(few, "bob")];
    let nine = ["a", "b", "c", "d", "e", "f", "g", "h", "i"].map(|by| asked(few, by));
    let line = [by(1, 1, vec![waits]), call(240_000, [renew(SECOND)])];
    let end = [asked(99, "eve"), call(1, [release(few)]), asked(few, "eve"), look(1)];
    let hear = by_ticket(&[1, few, most, 99])
        .into_iter()
        .chain(by_ticket(&[few]))
        .chain([call(240_000, [renew(SECOND)])]);
    let here = [Event::Listen(inbox(0))];
    let begun = here.into_iter().chain(taken).chain(asks).chain(hear).chain(line);
    begun.chain(nine).chain(by_ticket(&[few, 99])).chain(end).collect()
}

fn many() -> Vec<Event> {
    [1, 51].map(taken).to_vec()
}

fn many_at_once() -> Option<LimitRule> {
    Some(LimitRule { limit: Limit::new(200).unwrap(), on_mismatch: OnMismatch::Refuse })
}

/// Fifty tickets, of which this is the number of the first.
fn taken(from: u32) -> Event {
    let limit = many_at_once();
    by(0, 1, (from..from + 50).map(|number| ask(Acquire { limit, ..acquire(number) })).collect())
}

fn call<const N: usize>(step: i64, asks: [Ask; N]) -> Event {
    by(0, step, asks.to_vec())
}

fn by(who: u64, step: i64, asks: Vec<Ask>) -> Event {
    Event::Call { step, inbox: Some(inbox(who)), fence: FenceSeen::None, asks }
}

fn look(step: u64) -> Event {
    call(step as i64, [Ask::Inspect { rows: 9 }])
}

fn ticket(number: u32) -> Ticket {
    Ticket(0).series().ticket(number)
}

fn ask(acquire: Acquire) -> Ask {
    Ask::Acquire { acquire, not_after: None }
}

fn release(number: u32) -> Ask {
    Ask::Release { ticket: ticket(number), slots: None }
}

fn renew(ttl: u64) -> Ask {
    Ask::RenewAll { lease: ticket(0).into(), ttl, margin: SECOND / 4, wrong: 0 }
}

fn acquire(number: u32) -> Acquire {
    Acquire {
        ticket: ticket(number),
        kind: Kind::Semaphore,
        permits: Permits::ONE,
        wishes: seinpaal_proto::SlotNames::none(),
        limit: Some(LimitRule { limit: Limit::new(5).unwrap(), on_mismatch: OnMismatch::Refuse }),
        enqueue: Enqueue::No,
        priority: Priority::default(),
        lease: ticket(0).into(),
        ttl: SECOND,
        margin: SECOND / 4,
        waiter_lease: LeaseId(100 + u128::from(number)),
        waiter_ttl: SECOND,
        not_after: None,
        about: String::new(),
    }
}

/// The first of another session's.
fn another() -> Acquire {
    let series = Ticket(1 << 64).series();
    Acquire { ticket: series.ticket(1), lease: series.ticket(0).into(), ..acquire(1) }
}
