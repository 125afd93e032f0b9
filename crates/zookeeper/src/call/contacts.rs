//! Tells the ledger what a call knows of clients while it executes a batch.

use std::collections::BTreeSet;

use seinpaal_proto::{Contact, Contacts, Inbox};

/// The facts about clients while a batch is executed: which are gone, and which were asked about.
pub(super) struct KnownContacts<'a> {
    pub(super) gone: &'a BTreeSet<Inbox>,
    pub(super) asked: BTreeSet<Inbox>,
}

impl Contacts for KnownContacts<'_> {
    fn contact(&mut self, inbox: Inbox) -> Contact {
        if self.gone.contains(&inbox) {
            return Contact::Dead;
        }
        // It is taken to live. `settle_doubts` finds out, and executes again if it is gone.
        self.asked.insert(inbox);
        Contact::Listening
    }
}
