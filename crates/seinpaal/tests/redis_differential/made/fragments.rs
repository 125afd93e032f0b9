//! Free slots that are many ranges of one.

use seinpaal_proto::{
    Acquire, Configure, Limit, LimitRule, OnMismatch, Permits, SlotNames, Slots, Ticket,
    time::SECOND,
};

use super::{
    super::history::{Event, Sketch},
    calls::{acquire, by, call, look, release, sketch},
};

/// A session takes single permits and gives back every second one, so that so many free ranges are
/// left. Another session takes all that is free in one request, gives back a part of it, and then
/// the rest. If the slots have names, the limit is the number of these.
pub(in super::super) fn taken_in_one_request(ranges: u32, has_names: bool) -> Vec<Event> {
    let one = |number| one_of(ranges, has_names, number);
    let numbers: Vec<u32> = (1..=2 * ranges).collect();
    let taken = numbers.chunks(50).map(|some| by(0, 1, some.iter().copied().map(one).collect()));
    let odd: Vec<u32> = numbers.iter().copied().step_by(2).collect();
    let back = odd.chunks(50).map(|some| by(0, 1, some.iter().copied().map(release).collect()));
    let series = Ticket(1 << 64).series();
    let all = Acquire {
        ticket: series.ticket(1),
        lease: series.ticket(0).into(),
        permits: Permits::new(ranges).unwrap(),
        ..of_many(ranges, has_names)
    };
    let ticket = all.ticket;
    let mut part = Slots::none();
    (0..ranges).step_by(3).for_each(|slot| part.insert(slot, slot));
    let given = [Some(part), None].map(|slots| by(1, 1, vec![Sketch::Release { ticket, slots }]));
    let named =
        has_names.then(|| call(1, [Sketch::Configure(Configure::Slots(names(2 * ranges)))]));
    let begun = named.into_iter().chain(taken).chain(back).chain([by(1, 1, vec![sketch(all)])]);
    begun.chain(given).chain([call(1, [one(2 * ranges + 1)]), look(1)]).collect()
}

fn names(count: u32) -> SlotNames {
    let names: Vec<String> = (0..count).map(|slot| format!("s{slot}")).collect();
    names.join(",").parse().unwrap()
}

fn one_of(ranges: u32, has_names: bool, number: u32) -> Sketch {
    let Acquire { ticket, .. } = acquire(number);
    sketch(Acquire { ticket, ..of_many(ranges, has_names) })
}

fn of_many(ranges: u32, has_names: bool) -> Acquire {
    let limit = Limit::new(2 * ranges).unwrap();
    let rule = LimitRule { limit, on_mismatch: OnMismatch::Refuse };
    let limit = (!has_names).then_some(rule);
    Acquire { limit, ttl: 60 * SECOND, margin: 60 * SECOND, ..acquire(1) }
}
