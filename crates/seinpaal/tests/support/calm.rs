//! Histories in which clients behave like sessions, so that scripts mostly take their plain path.

use seinpaal_draw::Draw;
use seinpaal_proto::{
    Acquire, Configure, Enqueue, Kind, LeaseId, Limit, LimitRule, OnMismatch, Permits, Priority,
    Ticket,
    time::{MILLISECOND, SECOND},
};

use super::{Event, FenceSeen, Scale, Sketch, inbox};

/// Each client has a series, under one lease, and draws its numbers in order.
pub(super) fn history(draw: &mut Draw, scale: Scale) -> Vec<Event> {
    let mut events: Vec<Event> = (0..4).map(|i| Event::Listen(inbox(i))).collect();
    let mut drawn = vec![0_u32; scale.leases as usize];
    // In every other history nearly nothing expires, and in every fourth an operator has set the
    // limit before the first client comes.
    let kind = draw.below(8);
    let (is_brief, mut is_pinned) = (kind.is_multiple_of(2), kind > 5);
    let pause = if is_brief { 20 } else { 90 };
    if is_pinned {
        let (inbox, sketches) = (None, vec![Sketch::Configure(Configure::Limit(Limit::ONE))]);
        events.push(Event::Call { step: 0, inbox, fence: FenceSeen::None, sketches });
    }
    for _ in 0..scale.events {
        let client = draw.below(scale.leases);
        let drawn = &mut drawn[client as usize];
        let requests = if draw.one_in(3) { 1 + draw.below(scale.most_requests) } else { 1 };
        events.push(Event::Call {
            step: if draw.one_in(pause) { 3 * SECOND } else { draw.below(30 * MILLISECOND) } as i64,
            inbox: Some(inbox(if draw.one_in(12) { draw.below(4) } else { client % 4 })),
            fence: FenceSeen::None,
            sketches: (0..requests)
                .map(|_| {
                    let (drawn, is_pinned) = (&mut *drawn, &mut is_pinned);
                    sketch(draw, scale, client, drawn, is_brief, is_pinned)
                })
                .collect(),
        });
    }
    events
}

/// Where an operator has set the limit, clients state none.
fn sketch(
    draw: &mut Draw,
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
    let ttl = draw.pick(&[10, 60]) * SECOND;
    let margin = ttl / 4;
    let recent = |draw: &mut Draw, drawn: u32| {
        series.ticket(drawn.saturating_sub(draw.below(scale.tickets) as u32).max(1))
    };
    match draw.below(16) {
        0..7 => {
            *drawn += 1;
            acquire(draw, scale, client, series.ticket(*drawn), is_brief, *is_pinned)
        }
        7 if draw.one_in(2) => {
            let again = recent(draw, *drawn);
            acquire(draw, scale, client, again, is_brief, *is_pinned)
        }
        7..12 => Sketch::Release { ticket: recent(draw, *drawn), slots: None },
        12 | 13 => {
            let wrong = u64::from(draw.one_in(8));
            Sketch::RenewAll { lease, ttl, margin, wrong }
        }
        14 => {
            let tickets = (0..1 + draw.below(2)).map(|_| recent(draw, *drawn)).collect();
            Sketch::RenewTickets { lease, ttl, margin, tickets }
        }
        _ if draw.one_in(3) => {
            Sketch::Cancel { ticket: recent(draw, *drawn), remember: ttl, attach: None }
        }
        _ if draw.one_in(if *is_pinned { 2 } else { 8 }) => {
            *is_pinned = !*is_pinned;
            Sketch::Configure(match *is_pinned {
                true => Configure::Limit(Limit::new(1 + draw.below(3) as u32).unwrap()),
                false => Configure::Unpin,
            })
        }
        _ => Sketch::Inspect { rows: 1000 },
    }
}

fn acquire(
    draw: &mut Draw,
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
        permits: Permits::new(1 + draw.below(scale.most_permits) as u32).unwrap(),
        wishes: seinpaal_proto::SlotNames::none(),
        limit: (!is_pinned && !draw.one_in(8)).then_some(rule),
        enqueue: Enqueue::Yes { max_waiting: None },
        priority: Priority::new(draw.pick(&[0, 0, 0, 1])).unwrap(),
        lease: ticket.series().ticket(0).into(),
        ttl,
        margin: ttl / 4,
        waiter_lease: LeaseId(u128::from(0x3a17 + client) << 64),
        waiter_ttl: draw.pick(&[4, 6]) * SECOND,
        not_after: None,
        about: draw.pick(&["", "me", "two words"]).to_owned(),
    };
    Sketch::Acquire { acquire, not_after: None }
}
