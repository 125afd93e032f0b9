//! The clients that live, as far as a turn can see.

use std::{cell::Cell, collections::BTreeMap};

use seinpaal_proto::{Contact, Contacts, Inbox, time::Micros};

use crate::{inbox::InboxSocket, pages::PageMarks, presence::Presences, stay::Stay};

/// The parts of the store that a turn uses besides its database.
#[derive(Clone, Copy)]
pub(crate) struct TurnParts<'a> {
    pub(crate) presences: &'a Presences,
    pub(crate) socket: &'a InboxSocket,
    pub(crate) me: Inbox,
    pub(crate) stay: Stay,
    /// When a look last found no name that is no longer used, on the store's clock.
    pub(crate) found_nothing_at: &'a Cell<Option<Micros>>,
    /// When a look last found no queue that is no longer used, on the store's clock.
    pub(crate) found_no_queue_at: &'a Cell<Option<Micros>>,
    /// The pages at which the looks at holders and workers have stopped.
    pub(crate) marks: &'a PageMarks,
}

/// The state of clients, as this turn has found it out. Inside the gate a dead client stays dead,
/// and a living one was alive a moment ago.
pub(super) struct KnownContacts<'a> {
    pub(super) around: TurnParts<'a>,
    contacts: BTreeMap<Inbox, Contact>,
}

impl<'a> KnownContacts<'a> {
    pub(super) fn new(around: TurnParts<'a>) -> Self {
        Self { around, contacts: BTreeMap::new() }
    }
}

impl Contacts for KnownContacts<'_> {
    fn contact(&mut self, inbox: Inbox) -> Contact {
        if inbox == self.around.me {
            return Contact::Alive;
        }
        *self.contacts.entry(inbox).or_insert_with(|| self.around.ask_kernel(inbox))
    }
}

impl TurnParts<'_> {
    fn ask_kernel(self, inbox: Inbox) -> Contact {
        if !self.presences.is_dead(inbox) {
            return Contact::Alive;
        }
        self.presences.clear_away(inbox);
        self.socket.clear_away(inbox);
        Contact::Dead
    }
}
