//! A small name as one record: everything that the ledger keeps of it, packed into one row that is
//! read and written in one go. A commit then writes one page of the log, and not a dozen as for
//! rows with their indexes.
//!
//! Two kinds of names must be found without reading every record. Names that nobody uses any more
//! are found by `look_at`: a time before which the record is not looked at, so that it does not
//! move in an index with each call. Names at which a dead client has something are found by
//! `small_of`, a row for each client and name. A client that comes and goes would write that row
//! each time. So the row stays for a while after the client's last lease, and the record lists the
//! clients that have such a row.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, Result, Row};
use seinpaal_proto::{
    Inbox, Memory, MemoryState, Name, State, Ticket,
    time::{Micros, SECOND, UNBOUNDED},
};

use super::rows::{bytes, damaged, read_name};
use seinpaal_store::packed::{pack, unpack};

/// The longest record: it fits into one page, with its name.
const LONGEST: usize = 3500;
/// The most clients without a lease here that the record lists.
const MOST_PAST_CLIENTS: usize = 8;
/// A name is looked at this long after it was looked at last, until nothing is remembered of it.
const LINGER: Micros = 30 * SECOND;

const FIND: &str = "SELECT id, look_at, state FROM small WHERE name = ?1";
const DUE: &str = "SELECT name FROM small INDEXED BY small_to_look_at WHERE look_at <= ?1
    ORDER BY look_at LIMIT ?2";
const OF_CLIENT: &str =
    "SELECT small.name FROM small_of JOIN small ON small.id = small_of.name WHERE inbox = ?1";

/// The state of one small name.
pub(super) struct SmallName<'a> {
    db: &'a Connection,
    name: &'a str,
    pub(super) state: MemoryState,
    /// The clients to be listed, in addition to those that have a lease.
    listed: BTreeSet<Inbox>,
    row: Option<SmallRow>,
}

/// A row of the table.
struct SmallRow {
    id: i64,
    look_at: Option<i64>,
    record: Vec<u8>,
    listed: BTreeSet<Inbox>,
}

impl<'a> SmallName<'a> {
    /// Reads the record of a name. `None`: there is no such record.
    pub(super) fn find(db: &'a Connection, name: &'a Name) -> Result<Option<Self>> {
        let mut find = db.prepare_cached(FIND)?;
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let found: Option<(i64, Option<i64>, Vec<u8>)> =
            find.query_row([name.as_str()], row).optional()?;
        let Some((id, look_at, record)) = found else { return Ok(None) };
        let (listed, state) = decode(&record).ok_or_else(damaged)?;
        let row = SmallRow { id, look_at, record, listed: listed.clone() };
        Ok(Some(Self { db, name: name.as_str(), state, listed, row: Some(row) }))
    }

    /// Makes a name that has no record yet.
    pub(super) fn new(db: &'a Connection, name: &'a Name, state: MemoryState) -> Self {
        Self { db, name: name.as_str(), state, listed: BTreeSet::new(), row: None }
    }

    pub(super) fn db(&self) -> &'a Connection {
        self.db
    }

    /// Makes the ledger forget the series of this ticket after this time, if nothing of the series
    /// is held.
    pub(super) fn remember_for(&mut self, time: Micros, ticket: Ticket) {
        let (Ok(head), Ok(memory)) = (self.state.head(), self.state.memory(ticket.series()));
        if let Some(memory) = memory.filter(|memory| memory.open == 0) {
            let until = memory.until.min(head.clock.saturating_add(time));
            let Ok(()) = self.state.put_memory(&Memory { until, ..memory });
        }
    }

    /// Lets the leases of a dead client end in the next settling.
    pub(super) fn end_leases_of(&mut self, inbox: Inbox) {
        self.state.end_leases_of(inbox);
        self.listed.remove(&inbox);
    }

    /// Writes the record if it has changed. `false`: it is too long, and nothing was written.
    pub(super) fn write(&mut self, now: Micros) -> Result<bool> {
        if self.state.is_empty() {
            return self.delete().map(|()| true);
        }
        let listed = self.clients_to_list();
        let record = encode(&listed, &mut self.state);
        if record.len() > LONGEST {
            return Ok(false);
        }
        // This is asked before the row is taken, because the time in the row may stay.
        let look_at = self.look_at(now);
        let (id, before) = match self.row.take() {
            None => (self.insert(look_at, &record)?, BTreeSet::new()),
            Some(row) => (self.update(&row, look_at, &record)?, row.listed),
        };
        self.list(id, &before, &listed)?;
        self.listed.clone_from(&listed);
        self.row = Some(SmallRow { id, look_at, record, listed });
        Ok(true)
    }

    fn clients_to_list(&self) -> BTreeSet<Inbox> {
        let with_lease: BTreeSet<Inbox> =
            self.state.leases().filter_map(|lease| lease.inbox).collect();
        let past = self.listed.difference(&with_lease).count();
        // A record has little room, so clients that have gone are listed only while they are few.
        if past > MOST_PAST_CLIENTS { with_lease } else { &with_lease | &self.listed }
    }

    /// Returns when to look at the name even if nobody uses it. A name with settings that an
    /// operator made is not forgotten.
    fn look_at(&mut self, now: Micros) -> Option<i64> {
        let Ok(head) = self.state.head();
        if head.past == 0 && (head.pinned.is_some() || head.paused.is_some()) {
            return None;
        }
        let (from, to) = (now as i64, now.saturating_add(LINGER) as i64);
        // A stored time that is soon enough stays, so that the index is not written.
        let stands = self.row.as_ref().and_then(|row| row.look_at);
        stands.filter(|at| (from + 1..=to).contains(at)).or(Some(to))
    }

    fn insert(&self, look_at: Option<i64>, record: &[u8]) -> Result<i64> {
        let sql = "INSERT INTO small VALUES (NULL, ?1, ?2, ?3)";
        self.db.prepare_cached(sql)?.insert((self.name, look_at, record))
    }

    /// Updates the row, and leaves the index alone if it can.
    fn update(&self, row: &SmallRow, look_at: Option<i64>, record: &[u8]) -> Result<i64> {
        if row.look_at != look_at {
            let sql = "UPDATE small SET state = ?2, look_at = ?3 WHERE id = ?1";
            self.db.prepare_cached(sql)?.execute((row.id, record, look_at))?;
        } else if row.record != record {
            let sql = "UPDATE small SET state = ?2 WHERE id = ?1";
            self.db.prepare_cached(sql)?.execute((row.id, record))?;
        }
        Ok(row.id)
    }

    /// Changes the rows that say at which names a client may have something.
    fn list(&self, id: i64, before: &BTreeSet<Inbox>, after: &BTreeSet<Inbox>) -> Result<()> {
        for inbox in after.difference(before) {
            let sql = "INSERT OR IGNORE INTO small_of VALUES (?1, ?2)";
            self.db.prepare_cached(sql)?.execute((bytes(inbox.0), id))?;
        }
        for inbox in before.difference(after) {
            let sql = "DELETE FROM small_of WHERE inbox = ?1 AND name = ?2";
            self.db.prepare_cached(sql)?.execute((bytes(inbox.0), id))?;
        }
        Ok(())
    }

    /// Removes the record.
    pub(super) fn delete(&mut self) -> Result<()> {
        let Some(row) = self.row.take() else { return Ok(()) };
        self.list(row.id, &row.listed, &BTreeSet::new())?;
        self.db.prepare_cached("DELETE FROM small WHERE id = ?1")?.execute([row.id])?;
        Ok(())
    }
}

/// Returns the names that are due to be looked at. A name that is looked at moves to the end of
/// this list.
pub(super) fn due(db: &Connection, now: Micros, most: u32) -> Result<Vec<Name>> {
    let mut find = db.prepare_cached(DUE)?;
    let names = find.query_map((now as i64, most), |row| read_name(row, 0))?;
    names.collect()
}

/// Returns the small names at which a client may have something.
pub(super) fn names_of(db: &Connection, inbox: Inbox) -> Result<Vec<Name>> {
    let mut find = db.prepare_cached(OF_CLIENT)?;
    let names = find.query_map([bytes(inbox.0)], |row| read_name(row, 0))?;
    names.collect()
}

/// Returns the highest fence or time that any small name has.
pub(super) fn most_given_out(db: &Connection) -> Result<i64> {
    let mut most = 0;
    for (_, mut state) in all(db)? {
        let Ok(head) = state.head();
        most = most.max(head.fence.max(head.wall) as i64);
    }
    Ok(most)
}

/// Voids all leases. Settings that an operator made stay.
pub(super) fn void(db: &Connection) -> Result<()> {
    db.execute("DELETE FROM small_of", [])?;
    for (id, mut state) in all(db)? {
        let Ok(mut head) = state.head();
        if head.pinned.is_none() && head.paused.is_none() {
            db.prepare_cached("DELETE FROM small WHERE id = ?1")?.execute([id])?;
            continue;
        }
        (head.held, head.holders, head.waiting, head.past) = (0, 0, 0, 0);
        (head.top, head.bound) = (0, UNBOUNDED);
        let mut left = MemoryState::default();
        let Ok(()) = left.set_head(&head);
        let record = encode(&BTreeSet::new(), &mut left);
        let sql = "UPDATE small SET state = ?2, look_at = NULL WHERE id = ?1";
        db.prepare_cached(sql)?.execute((id, record))?;
    }
    Ok(())
}

fn all(db: &Connection) -> Result<Vec<(i64, MemoryState)>> {
    let mut find = db.prepare("SELECT id, state FROM small")?;
    let read = |row: &Row<'_>| {
        let record: Vec<u8> = row.get(1)?;
        let (_, state) = decode(&record).ok_or_else(damaged)?;
        Ok((row.get(0)?, state))
    };
    find.query_map([], read)?.collect()
}

/// The length of a record's header: the checksum of the rest, and the number of listed clients.
const HEAD: usize = 9;
const ID: usize = 16;

fn encode(listed: &BTreeSet<Inbox>, state: &mut MemoryState) -> Vec<u8> {
    let mut record = vec![0; HEAD];
    // A record with more clients than a byte can count would be too long to be written.
    record[HEAD - 1] = u8::try_from(listed.len()).unwrap_or(u8::MAX);
    let listed = listed.iter().take(usize::from(u8::MAX));
    listed.for_each(|inbox| record.extend(bytes(inbox.0)));
    record.extend(pack(state));
    let sum = sum(&record[HEAD - 1..]);
    record[..HEAD - 1].copy_from_slice(&sum);
    record
}

fn decode(record: &[u8]) -> Option<(BTreeSet<Inbox>, MemoryState)> {
    let (sum_of_rest, rest) = record.split_at_checked(HEAD - 1)?;
    if sum_of_rest != sum(rest) {
        return None;
    }
    let (listed, rest) = rest.split_first()?;
    let (listed, packed) = rest.split_at_checked(usize::from(*listed) * ID)?;
    let inbox = |id: &[u8; ID]| Inbox(u128::from_be_bytes(*id));
    let listed = listed.as_chunks().0.iter().map(inbox).collect();
    Some((listed, unpack(packed).ok()?))
}

/// Returns the checksum of a record, by FNV-1a. It finds damage, since a damaged record that can be
/// read may still contradict itself.
fn sum(bytes: &[u8]) -> [u8; 8] {
    let mix = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix).to_be_bytes()
}

#[cfg(test)]
mod tests;
