//! Finds the contradictions in a stored ledger. The ledger is checked as it is stored, before
//! anything is executed on it, so that a ledger in disorder is not changed.

use rusqlite::Result;
use seinpaal_proto::Name;
use seinpaal_store::examination::{ROWS, found, found_in_queue, look_at, look_at_queue};

use super::Turn;
use crate::name_state::NameState;

impl Turn<'_> {
    pub(in super::super) fn examine(&mut self, name: &Name) -> Result<Vec<String>> {
        let as_it_stands = NameState::open(self.db, name)?.contradictions(ROWS)?;
        if !as_it_stands.is_empty() {
            return Ok(as_it_stands);
        }
        Ok(found(&self.call_alone(&look_at(name))?))
    }

    pub(in super::super) fn examine_queue(&mut self, name: &Name) -> Result<Vec<String>> {
        Ok(found_in_queue(&self.call_queue(&look_at_queue(name))?))
    }
}
