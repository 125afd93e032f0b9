//! Examining everything that is stored, for `doctor`.

use seinpaal_proto::Name;
use seinpaal_store::{Examination, StoreError};

use super::StoreThread;
use crate::list;

impl StoreThread {
    pub(super) fn examine(&mut self, most: usize) -> Result<Examination, StoreError> {
        let mut examination = Examination::default();
        for name in self.parts.read(|db| list::names(db, ""))? {
            if examination.is_full(most) {
                return Ok(examination);
            }
            let looked = self.found_at(&name);
            examination.take(&name, None, looked)?;
        }
        for name in self.parts.read(|db| list::queues(db, ""))? {
            if examination.is_full(most) {
                break;
            }
            let looked = self.found_at_queue(&name);
            examination.take_queue(&name, looked)?;
        }
        Ok(examination)
    }

    fn found_at(&mut self, name: &Name) -> Result<Vec<String>, StoreError> {
        let (found, tell) = self.turn(|turn| turn.examine(name))?;
        self.pass_on(tell);
        Ok(found)
    }

    fn found_at_queue(&mut self, name: &Name) -> Result<Vec<String>, StoreError> {
        let (found, tell) = self.turn(|turn| turn.examine_queue(name))?;
        self.pass_on(tell);
        Ok(found)
    }
}
