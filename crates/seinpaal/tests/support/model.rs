//! The ledger that the scripts are compared with, and the inboxes that are listened at.
#![allow(dead_code, missing_docs, unreachable_pub, missing_debug_implementations)]

use std::collections::HashSet;

use seinpaal_proto::{
    Batch, Contact, Contacts, Fence, Inbox, MemoryState, Name, Renew, Request, Standing, State,
    Whom,
};

use super::history::{FenceSeen, Sketch};

/// The ledger, and the inboxes that are listened at.
#[derive(Default)]
pub struct Model {
    pub state: MemoryState,
    pub listening: HashSet<Inbox>,
    pub guard: Option<Guard>,
}

/// The marker of the restart guard (docs/decisions/restart-guard.md): the rest of the guard, and when that was noted.
pub struct Guard {
    pub length: u64,
    pub kept: Option<(u64, u64)>,
}

impl Guard {
    pub fn left_at(&mut self, now: u64) -> Option<u64> {
        let (left, then) = self.kept.unwrap_or((self.length, now));
        let left = left.saturating_sub(now.saturating_sub(then).min(self.length / 5));
        self.kept = Some((left, now));
        (left > 0).then_some(left)
    }
}

pub struct Listening<'a>(pub &'a HashSet<Inbox>, pub Option<u64>);

impl Contacts for Listening<'_> {
    fn contact(&mut self, inbox: Inbox) -> Contact {
        if self.0.contains(&inbox) { Contact::Listening } else { Contact::Silent }
    }

    fn guarded_for(&mut self) -> Option<u64> {
        self.1
    }
}

impl Model {
    pub fn batch(
        &mut self,
        now: u64,
        inbox: Option<Inbox>,
        fence: FenceSeen,
        sketches: &[Sketch],
    ) -> Batch {
        let fence_seen = match fence {
            FenceSeen::None => 0,
            FenceSeen::Near(by) => now.saturating_add_signed(by),
            FenceSeen::Absurd => u64::MAX,
        };
        let requests = sketches.iter().map(|sketch| self.request(now, sketch)).collect();
        Batch { name: Name::new("a name").unwrap(), inbox, fence_seen, requests }
    }

    fn request(&mut self, now: u64, sketch: &Sketch) -> Request {
        match sketch.clone() {
            Sketch::Acquire { mut acquire, not_after } => {
                acquire.not_after = not_after.map(|by| now.saturating_add_signed(by));
                Request::Acquire(acquire)
            }
            Sketch::RenewAll { lease, ttl, margin, wrong } => {
                let Ok(kept) = self.state.lease(lease);
                let (members, digest) = kept.map_or((1, 1), |kept| (kept.members, kept.digest));
                let whom = match wrong {
                    1 => Whom::All { members: members + 1, digest },
                    2 => Whom::All { members, digest: digest ^ 1 },
                    3 => Whom::All { members: 0, digest: 0 },
                    _ => Whom::All { members, digest },
                };
                Request::Renew(Renew { lease, ttl, margin, whom })
            }
            Sketch::RenewTickets { lease, ttl, margin, tickets } => {
                Request::Renew(Renew { lease, ttl, margin, whom: Whom::Tickets(tickets) })
            }
            Sketch::Release { ticket, slots } => Request::Release { ticket, slots },
            Sketch::Attach { mut attach, not_after } => {
                attach.not_after = not_after.map(|by| now.saturating_add_signed(by));
                Request::Attach(attach)
            }
            Sketch::Detach { ticket, is_late, ttl, margin } => {
                let Ok(entry) = self.state.entry(ticket);
                let fence = entry.and_then(|entry| match entry.standing {
                    Standing::Holding { fence, .. } => Some(fence.0 - u64::from(is_late)),
                    Standing::Waiting { .. } => None,
                });
                Request::Detach { ticket, fence: Fence(fence.unwrap_or_default()), ttl, margin }
            }
            Sketch::Cancel { ticket, remember, attach } => {
                Request::Cancel { ticket, remember, attach }
            }
            Sketch::Evict { ticket } => Request::Evict { ticket },
            Sketch::Configure(change) => Request::Configure(change),
            Sketch::Inspect { rows } => Request::Inspect { rows },
        }
    }
}
