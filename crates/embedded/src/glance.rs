//! Many names at a glance, for a list. It shows what an inspection of each name would show, and
//! writes nothing.
//!
//! An inspection settles first, and writes the time of that into the name's record. A list of many
//! names would write each of them, in a commit of its own. Here the ledger works on a copy that is
//! dropped. A name is left to an inspection if it is kept in rows, if settling would wake a client
//! or leave work over, or if a client at it seems to have died.

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

/// The clients that live. A client that seems dead is left to an inspection: a death is certain
/// only inside the gate, and only there is the client buried.
pub(super) struct Bystander<'a> {
    presences: &'a Presences,
    me: Inbox,
    contacts: BTreeMap<Inbox, Contact>,
}

impl<'a> Bystander<'a> {
    pub(super) fn new(presences: &'a Presences, me: Inbox) -> Self {
        Self { presences, me, contacts: BTreeMap::new() }
    }

    /// Returns the answer to a batch that only looks. `None`: only an inspection can tell.
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
