//! Free slots that are many ranges of one.

use seinpaal_proto::{Acquire, Limit, LimitRule, OnMismatch, Permits, Slots, Ticket, time::SECOND};

use super::{
    super::history::{Ask, Event},
    calls::{acquire, ask, by, call, look, release},
};

/// How many ranges there are.
pub(in super::super) const FRAGMENTS: u32 = 1_000;

/// A session takes single permits and gives back every second one. Another session takes all that
/// is free in one request, gives back a part of it, and then the rest.
pub(in super::super) fn taken_in_one_request() -> Vec<Event> {
    let numbers: Vec<u32> = (1..=2 * FRAGMENTS).collect();
    let taken = numbers.chunks(50).map(|some| by(0, 1, some.iter().map(one).collect()));
    let odd: Vec<u32> = numbers.iter().copied().step_by(2).collect();
    let back = odd.chunks(50).map(|some| by(0, 1, some.iter().copied().map(release).collect()));
    let series = Ticket(1 << 64).series();
    let all = Acquire {
        ticket: series.ticket(1),
        lease: series.ticket(0).into(),
        permits: Permits::new(FRAGMENTS).unwrap(),
        ..many()
    };
    let ticket = all.ticket;
    let mut part = Slots::none();
    (0..FRAGMENTS).step_by(3).for_each(|slot| part.insert(slot, slot));
    let given = [Some(part), None].map(|slots| by(1, 1, vec![Ask::Release { ticket, slots }]));
    let begun = taken.chain(back).chain([by(1, 1, vec![ask(all)])]);
    begun.chain(given).chain([call(1, [one(&(2 * FRAGMENTS + 1))]), look(1)]).collect()
}

fn one(number: &u32) -> Ask {
    let Acquire { ticket, .. } = acquire(*number);
    ask(Acquire { ticket, ..many() })
}

fn many() -> Acquire {
    let limit = Limit::new(2 * FRAGMENTS).unwrap();
    let rule = LimitRule { limit, on_mismatch: OnMismatch::Refuse };
    Acquire { limit: Some(rule), ttl: 60 * SECOND, margin: 60 * SECOND, ..acquire(1) }
}
