//! The terms of a name, which its requests state: the limit, and which lock it is.

use super::super::{Contacts, Ledger};
use crate::{
    id::Ticket,
    reply::Reply,
    request::{Acquire, OnMismatch},
    state::State,
};

/// The limit that is stored is not the one that the caller stated.
pub(super) struct OtherLimit {
    stored: u32,
    stated: u32,
    is_pinned: bool,
}

impl OtherLimit {
    pub(super) fn into_reply(self, ticket: Ticket) -> Reply {
        let Self { stored, stated, is_pinned } = self;
        Reply::OtherLimit { ticket, stored, stated, is_pinned }
    }
}

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    /// Rule 11: the limit that this request newly states, if it may state one.
    pub(super) fn stating(&self, want: &Acquire) -> Result<Option<u32>, OtherLimit> {
        let Some(rule) = want.limit else { return Ok(None) };
        let (stated, head) = (rule.limit.get(), &self.head);
        let is_exact = rule.on_mismatch == OnMismatch::Exact;
        let refuses = is_exact || (rule.on_mismatch == OnMismatch::Refuse && head.pinned.is_none());
        if let Some(stored) =
            head.pinned.or(head.stated).filter(|stored| refuses && *stored != stated)
        {
            return Err(OtherLimit { stored, stated, is_pinned: head.pinned.is_some() });
        }
        // A caller that adopts or agrees states nothing new, so the first limit stays.
        let is_new = rule.on_mismatch == OnMismatch::Set || head.stated.is_none();
        Ok(is_new.then_some(stated))
    }

    /// The implied limit of 1 is stored like a stated one. It is not stored while a pinned limit is
    /// in force: then nobody has said what is to be in force once the pinned limit is unset.
    pub(super) fn store_terms(&mut self, want: &Acquire, stating: Option<u32>, limit: u32) {
        self.head.kind = Some(want.kind);
        if stating.is_some() {
            self.head.stated = stating;
        } else if self.head.pinned.is_none() {
            self.head.stated = Some(limit);
        }
    }
}
