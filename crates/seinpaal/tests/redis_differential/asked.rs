//! Histories in which the answer to an attach is lost, and the ticket's holder is asked to hand
//! over before the attach is sent again or given up.

use fastrand::Rng;
use seinpaal_proto::{
    Attach, LeaseId, Ticket,
    time::{MILLISECOND, SECOND},
};

use super::history::{self, Event, FenceSeen, SMALL, Sketch, inbox};

/// Adds such calls to a history with much contention.
pub(super) fn history(seed: u64) -> Vec<Event> {
    let mut rng = Rng::with_seed(seed);
    let mut events = history::history(seed, SMALL);
    for _ in 0..20 {
        let at = rng.usize(..events.len());
        let Some(ticket) = events[..at].iter().rev().find_map(wanted) else { continue };
        let sketches = attached_and_asked_for(&mut rng, ticket);
        let (step, inbox) = (rng.u64(..40 * MILLISECOND) as i64, Some(inbox(rng.u64(..4))));
        events.insert(at, Event::Call { step, inbox, fence: FenceSeen::None, sketches });
    }
    events
}

/// A ticket for which this call asks, and which may hold then.
fn wanted(event: &Event) -> Option<Ticket> {
    let Event::Call { sketches, .. } = event else { return None };
    sketches.iter().find_map(|sketch| match sketch {
        Sketch::Acquire { acquire, .. } => Some(acquire.ticket),
        _ => None,
    })
}

fn attached_and_asked_for(rng: &mut Rng, ticket: Ticket) -> Vec<Sketch> {
    let [own, apart] = [(0xa77ac4, 12), (0xa5c, 2)]
        .map(|(from, n)| LeaseId(u128::from(from + rng.u64(..n)) << 32));
    // An ask gives such a number to a lease, and no client of ours draws it.
    let own = if rng.u64(..4) == 0 { LeaseId(own.0 | 0x8000_0000) } else { own };
    let (ttl, margin) = (SECOND, SECOND / 4);
    let about = String::from("another");
    let attach = Attach { ticket, lease: own, ttl, margin, not_after: None, about };
    let askers = ["eve", "bob"].into_iter().take(rng.usize(..3));
    let mut sketches = vec![Sketch::Attach { attach, not_after: None }];
    sketches.extend(askers.map(|by| Sketch::HandOver { ticket, lease: apart, by }));
    sketches.push(match rng.bool() {
        true => Sketch::Cancel { ticket, remember: ttl, attach: Some(own) },
        false => sketches[0].clone(),
    });
    sketches
}
