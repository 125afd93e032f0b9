//! The settings of a name: its limit, the names of its slots, a pause.

use super::Ledger;
use crate::{
    Contacts, kind::Kind, reply::Reply, request::Configure, slot_names::SlotNames, state::State,
};

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    pub(super) fn configure(&mut self, change: &Configure) -> Result<Reply, S::Error> {
        // The last holder may have left in this batch, and the kind that it stated with it.
        self.drop_terms();
        if let Some(refusal) = self.may_not(change) {
            return Ok(refusal);
        }
        match change {
            Configure::Limit(limit) => self.pin(limit.get(), SlotNames::none()),
            Configure::Slots(names) => self.pin(names.count(), names.clone()),
            Configure::Unpin => {
                // There is a name for each slot of the pinned limit, so the names go with it.
                (self.head.pinned, self.head.names) = (None, SlotNames::none());
            }
            Configure::Pause(reason) => self.head.paused = Some(reason.clone()),
            Configure::Resume => self.head.paused = None,
        }
        // A higher limit, the end of a pinned one and a resume may each let waiters in (rule 6).
        self.serve()?;
        Ok(Reply::Configured { limit: self.limit() })
    }

    /// Returns the refusal if this change is not possible now. The limit of a mutex or a
    /// readers-writer lock is fixed, and slots that are in use keep their names.
    fn may_not(&self, change: &Configure) -> Option<Reply> {
        let is_pin = matches!(change, Configure::Limit(_) | Configure::Slots(_));
        let fixed = self.head.kind.filter(|kind| is_pin && kind.limit().is_some());
        if let Some(stored) = fixed {
            return Some(Reply::OtherKind { ticket: None, stored, stated: Kind::Semaphore });
        }
        let names = match change {
            Configure::Slots(names) => names.clone(),
            Configure::Limit(_) | Configure::Unpin => SlotNames::none(),
            Configure::Pause(_) | Configure::Resume => return None,
        };
        let names_in_force = || Reply::SlotsInUse { names: self.head.names.clone() };
        (!self.may_be_called(&names)).then(names_in_force)
    }

    fn pin(&mut self, limit: u32, names: SlotNames) {
        // Only a semaphore's limit can be pinned, so the pin says the kind as well.
        self.head.kind = Some(Kind::Semaphore);
        (self.head.pinned, self.head.names) = (Some(limit), names);
    }
}
