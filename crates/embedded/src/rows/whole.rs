//! Reading and writing a whole name, when it has become too large for one record or is small again.

use rusqlite::Result;
use seinpaal_proto::{Inbox, MemoryState, State};

use super::{Rows, bytes, leases, memories};

/// With this many holders, waiters and memories left, a name becomes one record again. The number
/// is far below the one at which a name is too large for a record, so that a name does not change
/// its form back and forth.
const FEW: u32 = 4;

impl Rows<'_> {
    /// Writes the rows of a state of which there are none yet.
    pub(in super::super) fn fill(&mut self, state: &mut MemoryState) -> Result<()> {
        let Ok(head) = state.head();
        self.set_head(&head)?;
        state.leases().try_for_each(|lease| self.write_lease(lease))?;
        state.entries().try_for_each(|entry| self.write_entry(entry))?;
        state.memories().try_for_each(|memory| self.write_memory(memory))?;
        state.free_slots().try_for_each(|(first, last)| self.push_free_slots(first, last))
    }

    /// Returns the whole state, if it is small. Rows that contradict each other stay as they are,
    /// and the call that meets them reports it.
    pub(in super::super) fn gather_if_few(&mut self) -> Result<Option<MemoryState>> {
        Ok(self.gather_at_most(FEW)?.filter(|state| state.check().is_ok()))
    }

    /// Returns the whole state, if its head counts no more than `most`. Its parts are not compared
    /// with each other.
    pub(in super::super) fn gather_at_most(&self, most: u32) -> Result<Option<MemoryState>> {
        if self.id.is_none() {
            return Ok(None);
        }
        let head = self.read_head()?;
        if head.holders.saturating_add(head.waiting).saturating_add(head.past) > most {
            return Ok(None);
        }
        let mut state = MemoryState::default();
        let Ok(()) = state.set_head(&head);
        self.gather(&mut state, most)?;
        Ok(Some(state))
    }

    fn gather(&self, state: &mut MemoryState, most: u32) -> Result<()> {
        for lease in self.all(leases::ALL, leases::read)? {
            let Ok(()) = state.put_lease(&lease);
        }
        // One row more is read than the head may count, so that `check` sees a row that the head
        // does not count.
        for entry in self.list_holders(most + 1)?.into_iter().chain(self.list_waiters(most + 1)?) {
            let Ok(()) = state.put_entry(&entry);
        }
        for memory in self.all(memories::ALL, memories::read)? {
            let Ok(()) = state.put_memory(&memory);
        }
        let range = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        for (first, last) in self.all("SELECT first, last FROM free WHERE name = ?1", range)? {
            let Ok(()) = state.push_free_slots(first, last);
        }
        Ok(())
    }

    fn all<T>(&self, sql: &str, read: fn(&rusqlite::Row<'_>) -> Result<T>) -> Result<Vec<T>> {
        self.db.prepare_cached(sql)?.query_map([self.id()], read)?.collect()
    }

    /// Removes every row of the name.
    pub(in super::super) fn delete_all(&mut self) -> Result<()> {
        for sql in [
            "DELETE FROM lease WHERE name = ?1",
            "DELETE FROM entry WHERE name = ?1",
            "DELETE FROM memory WHERE name = ?1",
        ] {
            self.db.prepare_cached(sql)?.execute([self.id()])?;
        }
        self.clear()
    }

    /// Lets the leases of a dead client end in the next settling.
    pub(in super::super) fn end_leases_of(&mut self, inbox: Inbox) -> Result<()> {
        let sql = "UPDATE lease SET ends = 0, ends_wall = 0 WHERE inbox = ?1 AND name = ?2";
        self.db.prepare_cached(sql)?.execute((bytes(inbox.0), self.id()))?;
        Ok(())
    }
}
