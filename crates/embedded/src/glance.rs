//! Many names at a glance, for a list. It shows what an inspection of each name would show, and
//! writes nothing.
//!
//! An inspection settles first, and keeps the time of that in the name's record. A list of many
//! names would write each of them, in a commit of its own. Here the ledger works on a copy that is
//! dropped. Where settling would tell somebody something or leave work over, where somebody seems
//! to have died, or where the name is kept in rows, the name is left to an inspection.

use std::collections::BTreeMap;

use rusqlite::{Connection, Result};
use seinpaal_proto::{Batch, Contact, Contacts, Inbox, Replies, execute, time::Micros};

use super::{
    name_state::{holding, waiting},
    presence::Presences,
    small::SmallName,
    turn::MOST_WAITERS,
    watch::MOST_HOLDERS,
};

/// Which clients live. A client that seems dead is left to an inspection: only inside the gate is a
/// death certain, and only there is it followed by a burial.
pub(super) struct Bystander<'a> {
    presences: &'a Presences,
    me: Inbox,
    contacts: BTreeMap<Inbox, Contact>,
}

impl<'a> Bystander<'a> {
    pub(super) fn new(presences: &'a Presences, me: Inbox) -> Self {
        Self { presences, me, contacts: BTreeMap::new() }
    }

    /// The answer to a batch that only looks. `None`: only an inspection can tell.
    pub(super) fn glance(
        &mut self,
        db: &Connection,
        now: Micros,
        batch: &Batch,
    ) -> Result<Option<Replies>> {
        let Some(mut small) = SmallName::find(db, &batch.name)? else { return Ok(None) };
        let Ok(outcome) = execute(&mut small.state, self, now, batch);
        let mut here = holding(&small.state, None, MOST_HOLDERS);
        here.extend(waiting(&small.state, MOST_WAITERS));
        let is_clear = outcome.wakeups.is_empty() && !outcome.replies.backlog;
        let all_live = here.into_iter().all(|inbox| self.contact(inbox) != Contact::Dead);
        Ok((is_clear && all_live).then_some(outcome.replies))
    }
}

impl Contacts for Bystander<'_> {
    fn contact(&mut self, inbox: Inbox) -> Contact {
        if inbox == self.me {
            return Contact::Alive;
        }
        let look = || if self.presences.is_dead(inbox) { Contact::Dead } else { Contact::Alive };
        *self.contacts.entry(inbox).or_insert_with(look)
    }
}
