//! The terms of a name, which its requests state: the limit, and the kind of lock.

use super::super::{Contacts, Ledger};
use crate::{
    id::Ticket,
    reply::Reply,
    request::{Acquire, OnMismatch},
    state::State,
};

/// A refusal, because the stored limit is not the one that the caller stated.
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
    /// Returns the limit that this request newly states, if it may state one (rule 11).
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

    /// Stores the kind and the limit that a request states. The implied limit of 1 is stored like a
    /// stated one, but not while a pinned limit is in force: no caller has then said which limit is
    /// to follow the pinned one.
    pub(super) fn store_terms(&mut self, want: &Acquire, stating: Option<u32>, limit: u32) {
        self.head.kind = Some(want.kind);
        if stating.is_some() {
            self.head.stated = stating;
        } else if self.head.pinned.is_none() {
            self.head.stated = Some(limit);
        }
    }
}
