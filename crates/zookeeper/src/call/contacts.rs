//! Tells the ledger which clients are alive, as far as a call knows, while it executes a batch.

use std::collections::BTreeSet;

use seinpaal_proto::{Contact, Contacts, Inbox};

/// The facts about clients while a batch is executed: the clients that are gone, and those about
/// which the ledger asked.
pub(super) struct KnownContacts<'a> {
    pub(super) gone: &'a BTreeSet<Inbox>,
    pub(super) asked: BTreeSet<Inbox>,
}

impl Contacts for KnownContacts<'_> {
    fn contact(&mut self, inbox: Inbox) -> Contact {
        if self.gone.contains(&inbox) {
            return Contact::Dead;
        }
        // The client is taken for alive. `settle_doubts` finds out whether it is, and executes the
        // batch again if it is gone.
        self.asked.insert(inbox);
        Contact::Listening
    }
}
