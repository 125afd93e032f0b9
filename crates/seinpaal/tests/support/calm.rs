//! Histories in which clients behave like sessions, so that scripts mostly take their plain path.

use fastrand::Rng;
use seinpaal_proto::{
    Acquire, Configure, Enqueue, Kind, LeaseId, Limit, LimitRule, OnMismatch, Permits, Priority,
    Ticket,
    time::{MILLISECOND, SECOND},
};

use super::{Event, FenceSeen, Scale, Sketch, inbox};

/// Each client has a series, under one lease, and draws its numbers in order.
pub(super) fn history(rng: &mut Rng, scale: Scale) -> Vec<Event> {
    let mut events: Vec<Event> = (0..4).map(|i| Event::Listen(inbox(i))).collect();
    let mut drawn = vec![0_u32; scale.leases as usize];
    // In every other history nearly nothing expires, and in every fourth an operator has set the
    // limit before the first client comes.
    let kind = rng.u64(..8);
    let (is_brief, mut is_pinned) = (kind.is_multiple_of(2), kind > 5);
    let pause = if is_brief { 20 } else { 90 };
    if is_pinned {
        let (inbox, sketches) = (None, vec![Sketch::Configure(Configure::Limit(Limit::ONE))]);
        events.push(Event::Call { step: 0, inbox, fence: FenceSeen::None, sketches });
    }
    for _ in 0..scale.events {
        let client = rng.u64(..scale.leases);
        let drawn = &mut drawn[client as usize];
        let requests = if rng.u64(..3) == 0 { rng.u64(1..=scale.most_requests) } else { 1 };
        events.push(Event::Call {
            step: if rng.u64(..pause) == 0 { 3 * SECOND } else { rng.u64(..30 * MILLISECOND) }
                as i64,
            inbox: Some(inbox(if rng.u64(..12) == 0 { rng.u64(..4) } else { client % 4 })),
            fence: FenceSeen::None,
            sketches: (0..requests)
                .map(|_| {
                    let (drawn, is_pinned) = (&mut *drawn, &mut is_pinned);
                    sketch(rng, scale, client, drawn, is_brief, is_pinned)
                })
                .collect(),
        });
    }
    events
}

/// Where an operator has set the limit, clients state none.
fn sketch(
    rng: &mut Rng,
    scale: Scale,
    client: u64,
    drawn: &mut u32,
    is_brief: bool,
    is_pinned: &mut bool,
) -> Sketch {
    let series =
        Ticket(u128::from(client + 1).wrapping_mul(0xfedc_ba98_7654_3211_0123_4567_89ab_cdef))
            .series();
    let lease = LeaseId::from(series.ticket(0));
    let ttl = rng.choice([10, 60]).unwrap() * SECOND;
    let margin = ttl / 4;
    let recent = |rng: &mut Rng, drawn: u32| {
        series.ticket(drawn.saturating_sub(rng.u64(..scale.tickets) as u32).max(1))
    };
    let unpins = if *is_pinned { 2 } else { 8 };
    match rng.u64(..16) {
        0..7 => {
            *drawn += 1;
            acquire(rng, scale, client, series.ticket(*drawn), is_brief, *is_pinned)
        }
        7 if rng.bool() => {
            let again = recent(rng, *drawn);
            acquire(rng, scale, client, again, is_brief, *is_pinned)
        }
        7..12 => Sketch::Release { ticket: recent(rng, *drawn), slots: None },
        12 | 13 => {
            let wrong = u64::from(rng.u64(..8) == 0);
            Sketch::RenewAll { lease, ttl, margin, wrong }
        }
        14 => {
            let tickets = (0..rng.u64(1..=2)).map(|_| recent(rng, *drawn)).collect();
            Sketch::RenewTickets { lease, ttl, margin, tickets }
        }
        _ if rng.u64(..3) == 0 => {
            Sketch::Cancel { ticket: recent(rng, *drawn), remember: ttl, attach: None }
        }
        _ if rng.u64(..unpins) == 0 => {
            *is_pinned = !*is_pinned;
            Sketch::Configure(match *is_pinned {
                true => Configure::Limit(Limit::new(rng.u32(1..=3)).unwrap()),
                false => Configure::Unpin,
            })
        }
        _ => Sketch::Inspect { rows: 1000 },
    }
}

fn acquire(
    rng: &mut Rng,
    scale: Scale,
    client: u64,
    ticket: Ticket,
    is_brief: bool,
    is_pinned: bool,
) -> Sketch {
    let ttl = if is_brief { SECOND } else { 10 * SECOND };
    let rule = LimitRule {
        limit: Limit::new(if scale.leases > 4 { 50 } else { 3 }).unwrap(),
        on_mismatch: OnMismatch::Refuse,
    };
    let acquire = Acquire {
        ticket,
        kind: Kind::Semaphore,
        permits: Permits::new(rng.u32(1..=scale.most_permits)).unwrap(),
        wishes: seinpaal_proto::SlotNames::none(),
        limit: (!is_pinned && rng.u64(..8) != 0).then_some(rule),
        enqueue: Enqueue::Yes { max_waiting: None },
        priority: Priority::new(rng.choice([0, 0, 0, 1]).unwrap()).unwrap(),
        lease: ticket.series().ticket(0).into(),
        ttl,
        margin: ttl / 4,
        waiter_lease: LeaseId(u128::from(0x3a17 + client) << 64),
        waiter_ttl: rng.choice([4, 6]).unwrap() * SECOND,
        not_after: None,
        about: rng.choice(["", "me", "two words"]).unwrap().to_owned(),
    };
    Sketch::Acquire { acquire, not_after: None }
}
