//! The first item of an order. If the head counts no items, the ledger does not ask the store,
//! since each question costs a statement or a call.

use super::Ledger;
use crate::{
    id::Inbox,
    ledger::Contacts,
    queue::{
        item::Item,
        state::{Dedupped, Place, State},
    },
    time::Micros,
};

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    pub(super) fn first_delayed(&mut self) -> Result<Option<Item>, S::Error> {
        if self.head.delayed == 0 { Ok(None) } else { self.state.first_delayed() }
    }

    pub(super) fn first_work_by_end(&mut self) -> Result<Option<Item>, S::Error> {
        if self.head.in_work == 0 { Ok(None) } else { self.state.first_work_by_end() }
    }

    pub(super) fn first_work_by_wall(&mut self) -> Result<Option<Item>, S::Error> {
        if self.head.in_work == 0 { Ok(None) } else { self.state.first_work_by_wall() }
    }

    pub(super) fn first_in_line(&mut self) -> Result<Option<Place>, S::Error> {
        if self.head.idle == 0 { Ok(None) } else { self.state.first_in_line() }
    }

    pub(super) fn first_called(&mut self) -> Result<Option<Place>, S::Error> {
        if self.head.called == 0 { Ok(None) } else { self.state.first_called() }
    }

    pub(super) fn first_session(&mut self) -> Result<Option<(Micros, Inbox)>, S::Error> {
        if self.head.sessions == 0 { Ok(None) } else { self.state.first_session() }
    }

    pub(super) fn first_key(&mut self) -> Result<Option<Dedupped>, S::Error> {
        if self.head.keys == 0 { Ok(None) } else { self.state.first_key() }
    }
}
