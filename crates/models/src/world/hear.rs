//! Judges each event that a client's program hears: no event may be untrue.

use std::sync::Arc;

use seinpaal_proto::{
    Cause, Ticket,
    session::{AcquireRefusal, Event},
};

use super::{Broken, PermitInProgram, World};

impl World {
    pub(super) fn listen(&mut self, who: usize) {
        while let Some(event) = Arc::make_mut(&mut self.clients[who].session).poll_event() {
            self.hear(who, event);
        }
    }

    fn hear(&mut self, who: usize, event: Event) {
        let now = self.now;
        if self.ghost.is_calm && self.is_alarm(who, &event) {
            self.ghost.broken = Some(Broken::Alarm);
        }
        let client = &mut self.clients[who];
        match event {
            Event::Acquired { ticket, slots, valid_until, fence, .. } => {
                if let Some(at) = client.wanted.iter().position(|wanted| *wanted == ticket) {
                    client.wanted.remove(at);
                    let (permits, until) = (slots.count(), valid_until);
                    client.held.push(PermitInProgram { ticket, fence: fence.0, permits, until });
                } else {
                    Arc::make_mut(&mut client.session).release(now, ticket, None);
                }
            }
            Event::Renumbered { from, to } => {
                let wanted = client.wanted.iter_mut().find(|wanted| **wanted == from);
                wanted.into_iter().for_each(|wanted| *wanted = to);
                self.ghost.naming.iter_mut().for_each(|naming| naming.renumber(from, to));
            }
            Event::Renewed { ticket, valid_until } => {
                let held = client.held.iter_mut().find(|held| held.ticket == ticket);
                held.into_iter().for_each(|held| held.until = valid_until);
            }
            Event::Lost { ticket, .. } => client.held.retain(|held| held.ticket != ticket),
            Event::Refused { ticket, .. } => client.wanted.retain(|wanted| *wanted != ticket),
            _ => {}
        }
    }
    /// Returns whether no client may hear this event where nothing fails (rule 19). In such a
    /// history answers come before time passes.
    fn is_alarm(&self, who: usize, event: &Event) -> bool {
        let client = &self.clients[who];
        match event {
            Event::Danger { .. } => true,
            Event::Lost { ticket, .. } => {
                let mut held = client.held.iter().filter(|held| held.ticket == *ticket);
                held.any(|held| self.ended_at(who, held).is_none())
            }
            Event::Refused { ticket, refusal } => !self.has_reason(who, *ticket, refusal),
            Event::Acquired { valid_until: Some(until), .. } => {
                until.saturating_sub(self.now) < client.session.config().ttl / 3 * 2
            }
            _ => false,
        }
    }

    /// Returns whether a refusal has a reason: another client has ended the grant, another limit is
    /// in force, no slot has the name, or an attach found no ticket or was not the only attach.
    fn has_reason(&self, who: usize, ticket: Ticket, refusal: &AcquireRefusal) -> bool {
        let is_ended = self.ghost.ended.keys().any(|(whose, of, _)| (*whose, *of) == (who, ticket));
        let is_about_the_limit = matches!(
            refusal,
            AcquireRefusal::OtherLimit { .. }
                | AcquireRefusal::TooMany { .. }
                | AcquireRefusal::Ended(Cause::TooMany)
        );
        let is_about_names = matches!(
            refusal,
            AcquireRefusal::NoSuchSlot { .. }
                | AcquireRefusal::TooMany { .. }
                | AcquireRefusal::Ended(Cause::TooMany)
        );
        let attaches = self.ghost.attached.contains(&(who, ticket));
        let is_alone = self.ghost.attached.len() == 1 && self.is_held(ticket);
        is_ended
            || (is_about_the_limit && self.ghost.terms.is_some())
            || (is_about_names && self.ghost.naming.is_some())
            || (attaches && !is_alone)
    }

    fn is_held(&self, ticket: Ticket) -> bool {
        self.holders().any(|entry| entry.ticket == ticket)
    }
}
