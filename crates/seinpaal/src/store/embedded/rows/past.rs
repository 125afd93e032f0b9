//! Remembered tickets as rows.

use rusqlite::{OptionalExtension, Result, Row};
use seinpaal_proto::{Cause, Past, Ticket};

use super::{Rows, bytes, damaged, int, micros, must_be_one, must_stand_there};
use crate::store::embedded::wire::{cause_code, cause_of};

fn read(row: &Row<'_>) -> Result<Past> {
    let past = Past {
        ticket: Ticket(u128::from_be_bytes(row.get(0)?)),
        cause: cause_of(row.get(1)?).unwrap_or(Cause::Expired),
        until: micros(row, 2)?,
    };
    if past.is_sound() { Ok(past) } else { Err(damaged()) }
}

impl Rows<'_> {
    pub(super) fn find_past(&self, ticket: Ticket) -> Result<Option<Past>> {
        let mut find = self.db.prepare_cached(
            "SELECT ticket, cause, until FROM past WHERE name = ?1 AND ticket = ?2",
        )?;
        find.query_row((self.id(), bytes(ticket.0)), read).optional()
    }

    pub(super) fn write_past(&mut self, past: &Past) -> Result<()> {
        let name = self.own_id()?;
        let mut write = self.db.prepare_cached("REPLACE INTO past VALUES (?1, ?2, ?3, ?4)")?;
        write.execute((name, bytes(past.ticket.0), cause_code(past.cause), int(past.until)))?;
        Ok(())
    }

    pub(super) fn delete_past(&mut self, ticket: Ticket) -> Result<()> {
        let mut delete =
            self.db.prepare_cached("DELETE FROM past WHERE name = ?1 AND ticket = ?2")?;
        must_be_one(delete.execute((self.id(), bytes(ticket.0)))?)
    }

    pub(super) fn find_first_past(&self) -> Result<Option<Past>> {
        let mut find = self.db.prepare_cached(
            "SELECT ticket, cause, until, until IS NOT place
             FROM (SELECT ticket AS first, until AS place FROM past WHERE name = ?1
                   ORDER BY until, ticket LIMIT 1)
             LEFT JOIN past ON name = ?1 AND ticket = first",
        )?;
        let read_first = |row: &Row<'_>| {
            must_stand_there(row, 3)?;
            read(row)
        };
        find.query_row([self.id()], read_first).optional()
    }
}
