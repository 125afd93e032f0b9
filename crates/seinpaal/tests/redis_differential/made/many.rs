//! Histories with more tickets than one value can keep.

use seinpaal_proto::{
    Acquire, LeaseId,
    time::{MILLISECOND, SECOND},
};

use super::{
    super::history::{Event, FenceSeen, Sketch},
    calls::{acquire, another, by, call, look, many_at_once, release, renew, sketch, ticket},
};

/// There are so many rows that they are listed. The bound under which the lease is listed passes in
/// every fifth call.
pub(super) fn many_of_one_lease_renewed_again_and_again() -> Vec<Event> {
    let renewed = (0..12).flat_map(|_| [call(240_000, [renew(SECOND)]), look(1)]);
    let longer = [call(1, [renew(20 * SECOND)]), call(240_000, [renew(SECOND)]), look(1)];
    let given_back = [call(1, [release(3), release(70)]), look(1)];
    many().into_iter().chain(renewed).chain(longer).chain(given_back).collect()
}

/// A session that renews finds the other lease ended, before and after its own lease is due.
pub(super) fn many_renewed_beside_a_lease_that_ends() -> Vec<Event> {
    let other = |ttl| by(1, 1, vec![sketch(Acquire { ttl, limit: None, ..another() })]);
    let renewed = || (0..6).map(|_| call(200_000, [renew(SECOND)]));
    let after = many().into_iter().chain([other(SECOND)]).chain(renewed()).chain([look(1)]);
    let again = [call(1, [renew(300 * MILLISECOND)]), other(600 * MILLISECOND)];
    after.chain(again).chain(renewed()).chain([look(1)]).collect()
}

/// A session that renews too late finds that its own lease has ended.
pub(super) fn many_renewed_too_late() -> Vec<Event> {
    let looks = (0..4).map(|_| look(240_000));
    many().into_iter().chain(looks).chain([call(200_000, [renew(SECOND)]), look(1)]).collect()
}

pub(super) fn many_renewed_otherwise_than_they_are() -> Vec<Event> {
    let of = |wrong, ttl, margin| Sketch::RenewAll { lease: ticket(0).into(), ttl, margin, wrong };
    let sketches =
        [of(1, SECOND, 1), of(2, SECOND, 1), of(0, 100 * MILLISECOND, 1), of(0, SECOND, 9_000)];
    let renewed = sketches.into_iter().flat_map(|sketch| [call(100_000, [sketch]), look(1)]);
    let others = by(1, 1, vec![renew(SECOND)]);
    let end = [others, look(1), call(2 * SECOND as i64, [renew(SECOND)]), look(1)];
    many().into_iter().chain(renewed).chain(end).collect()
}

/// The remaining tickets fit into one value, but the listed rows are not gone yet.
pub(super) fn few_left_of_many_and_then_many_again() -> Vec<Event> {
    let back = [4..52, 52..101].map(|some| by(0, 1, some.map(release).collect()));
    let twice = call(1, [renew(SECOND), renew(SECOND)]);
    let other = by(1, 1, vec![sketch(Acquire { limit: None, ..another() })]);
    let end = [twice, look(1), other, taken(101), taken(151), look(1)];
    many().into_iter().chain(back).chain(end).collect()
}

/// Once the other session is forgotten, one record has three tickets with a free slot before each.
pub(super) fn alone_with_gaps_that_another_left() -> Vec<Event> {
    let theirs = |number| another().ticket.series().ticket(number);
    let other = |number| {
        let ticket = theirs(number);
        by(
            1,
            1,
            vec![sketch(Acquire {
                ticket,
                ttl: 100 * MILLISECOND,
                limit: many_at_once(),
                ..another()
            })],
        )
    };
    let ours = |number| call(1, [sketch(Acquire { limit: many_at_once(), ..acquire(number) })]);
    let taken = (1..4).flat_map(|number| [other(number), ours(number)]);
    let left = (1..4).map(|n| by(1, 1, vec![Sketch::Release { ticket: theirs(n), slots: None }]));
    let twice = || call(1, [renew(SECOND), renew(SECOND)]);
    let end = [look(240_000), twice(), twice(), ours(4), ours(5), look(1)];
    taken.chain(left).chain(end).collect()
}

pub(super) fn more_is_due_than_one_call_ends() -> Vec<Event> {
    let looks = (0..6).map(|_| look(240_000));
    [1, 51, 101].map(taken).into_iter().chain(looks).collect()
}

/// A client releases a permit that another client holds, beside its own permit.
pub(super) fn left_by_somebody_else(most: u32) -> Vec<Event> {
    let taken =
        (1..=most).map(|n| call(1, [sketch(Acquire { limit: many_at_once(), ..acquire(n) })]));
    let other = by(1, 1, vec![sketch(Acquire { limit: many_at_once(), ..another() })]);
    let end = [other, by(1, 1, vec![release(1)]), by(1, 1, vec![release(most)]), look(1)];
    taken.chain(end).collect()
}

/// A ticket without an owner is renewed by hand, together with one that a client keeps for longer.
pub(super) fn renewed_by_hand_beside_one_of_a_client() -> Vec<Event> {
    let by_hand = |sketches| Event::Call { step: 1, inbox: None, fence: FenceSeen::None, sketches };
    let (lease, tickets) = (LeaseId(78 << 64), vec![ticket(1), ticket(2)]);
    let renewed = Sketch::RenewTickets { lease, ttl: SECOND / 2, margin: SECOND / 4, tickets };
    let own = sketch(Acquire { lease, ..acquire(1) });
    vec![by_hand(vec![own]), call(1, [sketch(acquire(2))]), by_hand(vec![renewed]), look(1)]
}

fn many() -> Vec<Event> {
    [1, 51].map(taken).to_vec()
}

/// Fifty tickets are taken, and the first has this number.
pub(super) fn taken(from: u32) -> Event {
    let limit = many_at_once();
    by(0, 1, (from..from + 50).map(|number| sketch(Acquire { limit, ..acquire(number) })).collect())
}
