//! One name's state as rows, on which the ledger runs inside a transaction. Every method finds its
//! row by an index.

mod entries;
mod head;
mod leases;
mod memories;
pub mod queue;
#[cfg(test)]
pub(super) mod tests;
mod whole;

use rusqlite::{Connection, Error, OptionalExtension, Result, Row, types::Type};
use seinpaal_proto::{
    Entry, Head, Inbox, Lease, LeaseId, Memory, Name, Series, State, Ticket, time::Micros,
};

use self::head::HeadRow;
pub use self::head::head_columns;
pub(super) use self::head::{SCHEMA, schema_large};
use super::tables;

/// The state of one name. SQLite's numbers are signed; all of ours are below 2^53.
pub struct Rows<'a> {
    db: &'a Connection,
    name: &'a str,
    /// `None` until the name has a row.
    id: Option<i64>,
}

impl<'a> Rows<'a> {
    pub fn open(db: &'a Connection, name: &'a Name) -> Result<Self> {
        if !tables::are_all_there(db)? {
            return Ok(Self { db, name: name.as_str(), id: None });
        }
        let mut find = db.prepare_cached("SELECT id FROM name WHERE name = ?1")?;
        let id = find.query_row([name.as_str()], |row| row.get(0)).optional()?;
        Ok(Self { db, name: name.as_str(), id })
    }

    pub(super) fn is_there(&self) -> bool {
        self.id.is_some()
    }

    pub(super) fn db(&self) -> &'a Connection {
        self.db
    }

    /// Returns the number of the row, for reading. Nothing is stored under 0, so a name without a
    /// row reads as empty.
    pub(super) fn id(&self) -> i64 {
        self.id.unwrap_or(0)
    }

    fn read_head(&self) -> Result<Head> {
        let Some(id) = self.id else { return Ok(Head::default()) };
        self.db.prepare_cached(&head::NAME.read)?.query_row([id], read_head)
    }

    /// Returns the number of the row, for writing. Makes the row if there is none.
    fn own_id(&mut self) -> Result<i64> {
        if let Some(id) = self.id {
            return Ok(id);
        }
        tables::make_all(self.db)?;
        let id = head::NAME.insert(self.db, self.name, &Head::default().fields())?;
        self.id = Some(id);
        Ok(id)
    }
}

fn read_head(row: &Row<'_>) -> Result<Head> {
    let head = Head::read(&mut HeadRow::new(row))?;
    if head.is_sound() { Ok(head) } else { Err(damaged()) }
}

/// Fails unless one row was deleted. A row that was found a moment ago must be there. Otherwise an
/// index contradicts its table, and would find the row for ever.
fn must_be_one(deleted: usize) -> Result<()> {
    if deleted == 1 { Ok(()) } else { Err(damaged()) }
}

/// Fails if the table has the row elsewhere than the index. The ledger works off the first rows of
/// an index, and would find this one again whatever it writes.
fn must_stand_there(row: &Row<'_>, stands_elsewhere: usize) -> Result<()> {
    if row.get(stands_elsewhere)? { Err(damaged()) } else { Ok(()) }
}

/// Reads the name in a column of text.
pub(super) fn read_name(row: &Row<'_>, column: usize) -> Result<Name> {
    let text: String = row.get(column)?;
    Name::new(&text).map_err(|bad| Error::FromSqlConversionFailure(column, Type::Text, bad.into()))
}

/// Makes the error for a row that the ledger did not write.
pub(super) fn damaged() -> Error {
    Error::FromSqlConversionFailure(0, Type::Null, "out of range".into())
}

fn micros(row: &Row<'_>, column: usize) -> Result<Micros> {
    Ok(row.get::<_, i64>(column)?.unsigned_abs())
}

fn int(micros: Micros) -> i64 {
    i64::try_from(micros).unwrap_or(i64::MAX)
}

/// Returns the first `most` distinct clients.
pub(super) fn first_distinct(
    inboxes: impl Iterator<Item = Result<Inbox>>,
    most: usize,
) -> Result<Vec<Inbox>> {
    let mut first = Vec::new();
    for inbox in inboxes {
        let inbox = inbox?;
        if !first.contains(&inbox) {
            first.push(inbox);
        }
        if first.len() == most {
            break;
        }
    }
    Ok(first)
}

/// Returns the sixteen bytes of an id, whose order is that of the numbers.
pub(super) fn bytes(id: u128) -> [u8; 16] {
    id.to_be_bytes()
}

impl State for Rows<'_> {
    type Error = Error;

    fn head(&mut self) -> Result<Head> {
        self.read_head()
    }

    fn set_head(&mut self, head: &Head) -> Result<()> {
        let id = self.own_id()?;
        head::NAME.update(self.db, id, &head.fields())
    }

    fn clear(&mut self) -> Result<()> {
        self.clear_free_slots()?;
        if let Some(id) = self.id.take() {
            self.db.prepare_cached("DELETE FROM name WHERE id = ?1")?.execute([id])?;
        }
        Ok(())
    }

    fn lease(&mut self, id: LeaseId) -> Result<Option<Lease>> {
        self.find_lease(id)
    }

    fn put_lease(&mut self, lease: &Lease) -> Result<()> {
        self.write_lease(lease)
    }

    fn remove_lease(&mut self, id: LeaseId) -> Result<()> {
        self.delete_lease(id)
    }

    fn first_lease_by_end(&mut self) -> Result<Option<Lease>> {
        self.find_first_lease_by_end()
    }

    fn first_lease_by_wall(&mut self) -> Result<Option<Lease>> {
        self.find_first_lease_by_wall()
    }

    fn entry(&mut self, ticket: Ticket) -> Result<Option<Entry>> {
        self.find_entry(ticket)
    }

    fn put_entry(&mut self, entry: &Entry) -> Result<()> {
        self.write_entry(entry)
    }

    fn remove_entry(&mut self, ticket: Ticket) -> Result<()> {
        self.delete_entry(ticket)
    }

    fn first_member(&mut self, lease: LeaseId) -> Result<Option<Entry>> {
        self.find_first_member(lease)
    }

    fn first_waiter(&mut self) -> Result<Option<Entry>> {
        self.find_first_waiter()
    }

    fn holders(&mut self, rows: u32) -> Result<Vec<Entry>> {
        self.list_holders(rows)
    }

    fn waiters(&mut self, rows: u32) -> Result<Vec<Entry>> {
        self.list_waiters(rows)
    }

    fn position(&mut self, waiter: &Entry) -> Result<u32> {
        self.position_of(waiter)
    }

    fn memory(&mut self, series: Series) -> Result<Option<Memory>> {
        self.find_memory(series)
    }

    fn put_memory(&mut self, memory: &Memory) -> Result<()> {
        self.write_memory(memory)
    }

    fn remove_memory(&mut self, series: Series) -> Result<()> {
        self.delete_memory(series)
    }

    fn first_memory(&mut self) -> Result<Option<Memory>> {
        self.find_first_memory()
    }

    fn pop_free_slots(&mut self) -> Result<Option<(u32, u32)>> {
        let mut pop = self.db.prepare_cached(
            "DELETE FROM free WHERE name = ?1 AND first =
                    (SELECT min(first) FROM free WHERE name = ?1) RETURNING first, last",
        )?;
        let range = pop.query_row([self.id()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let is_sound = range.is_none_or(|(first, last)| first <= last && last < u32::MAX);
        if is_sound { Ok(range) } else { Err(damaged()) }
    }

    fn push_free_slots(&mut self, first: u32, last: u32) -> Result<()> {
        let id = self.own_id()?;
        self.db
            .prepare_cached("INSERT INTO free VALUES (?1, ?2, ?3)")?
            .execute((id, first, last))?;
        Ok(())
    }

    fn free_slots_below(&mut self, slot: u32) -> Result<Vec<(u32, u32)>> {
        let sql = "SELECT first, last FROM free WHERE name = ?1 AND first < ?2 ORDER BY first";
        let mut find = self.db.prepare_cached(sql)?;
        let ranges = find.query_map((self.id(), slot), |row| Ok((row.get(0)?, row.get(1)?)))?;
        let ranges: Vec<(u32, u32)> = ranges.collect::<Result<_>>()?;
        let is_sound = ranges.iter().all(|(first, last)| first <= last && *last < u32::MAX);
        if is_sound { Ok(ranges) } else { Err(damaged()) }
    }

    fn remove_free_slots(&mut self, first: u32, _: u32) -> Result<()> {
        let sql = "DELETE FROM free WHERE name = ?1 AND first = ?2";
        must_be_one(self.db.prepare_cached(sql)?.execute((self.id(), first))?)
    }

    fn clear_free_slots(&mut self) -> Result<()> {
        self.db.prepare_cached("DELETE FROM free WHERE name = ?1")?.execute([self.id()])?;
        Ok(())
    }
}
