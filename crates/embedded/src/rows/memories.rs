//! The memories of series, as rows.

use rusqlite::{OptionalExtension, Result, Row};
use seinpaal_proto::{Cause, Memory, Series};

use super::{Rows, bytes, damaged, int, micros, must_be_one, must_stand_there};
use crate::wire::{cause_code, cause_of};

/// The bytes of each end in a memory: its number, big-endian, and the code of its cause.
const END: usize = 5;

pub(super) const ALL: &str = "SELECT series, last, until, open, ends FROM memory WHERE name = ?1";

pub(super) fn read(row: &Row<'_>) -> Result<Memory> {
    let memory = Memory {
        series: Series(u128::from_be_bytes(row.get(0)?)),
        last: row.get(1)?,
        until: micros(row, 2)?,
        open: row.get(3)?,
        ends: read_ends(&row.get::<_, Vec<u8>>(4)?).ok_or_else(damaged)?,
    };
    if memory.is_sound() { Ok(memory) } else { Err(damaged()) }
}

fn read_ends(bytes: &[u8]) -> Option<Vec<(u32, Cause)>> {
    let (ends, rest) = bytes.as_chunks::<END>();
    let end = |[a, b, c, d, cause]: &[u8; END]| {
        Some((u32::from_be_bytes([*a, *b, *c, *d]), cause_of(*cause)?))
    };
    rest.is_empty().then(|| ends.iter().map(end).collect())?
}

fn write_ends(ends: &[(u32, Cause)]) -> Vec<u8> {
    let end = |(number, cause): &(u32, Cause)| {
        let [a, b, c, d] = number.to_be_bytes();
        [a, b, c, d, cause_code(*cause)]
    };
    ends.iter().flat_map(end).collect()
}

impl Rows<'_> {
    pub(super) fn find_memory(&self, series: Series) -> Result<Option<Memory>> {
        let mut find = self.db.prepare_cached(
            "SELECT series, last, until, open, ends FROM memory WHERE name = ?1 AND series = ?2",
        )?;
        find.query_row((self.id(), bytes(series.0)), read).optional()
    }

    pub(super) fn write_memory(&mut self, memory: &Memory) -> Result<()> {
        let name = self.own_id()?;
        let Memory { series, last, until, open, ends } = memory;
        let mut write =
            self.db.prepare_cached("REPLACE INTO memory VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
        write.execute((name, bytes(series.0), last, int(*until), open, write_ends(ends)))?;
        Ok(())
    }

    pub(super) fn delete_memory(&mut self, series: Series) -> Result<()> {
        let mut delete =
            self.db.prepare_cached("DELETE FROM memory WHERE name = ?1 AND series = ?2")?;
        must_be_one(delete.execute((self.id(), bytes(series.0)))?)
    }

    pub(super) fn find_first_memory(&self) -> Result<Option<Memory>> {
        let mut find = self.db.prepare_cached(
            "SELECT series, last, until, open, ends, until IS NOT place OR open IS NOT 0
             FROM (SELECT series AS first, until AS place FROM memory
                   WHERE name = ?1 AND open = 0 ORDER BY until, series LIMIT 1)
             LEFT JOIN memory ON name = ?1 AND series = first",
        )?;
        let read_first = |row: &Row<'_>| {
            must_stand_there(row, 5)?;
            read(row)
        };
        find.query_row([self.id()], read_first).optional()
    }
}
