//! Leases as rows.

use rusqlite::{OptionalExtension, Result, Row, params};
use seinpaal_proto::{Inbox, Lease, LeaseId};

use super::{Rows, bytes, damaged, int, micros, must_be_one, must_stand_there};

const BY_ID: &str = "SELECT id, inbox, ttl, ends, ends_wall, members, digest, parked FROM lease \
                     WHERE name = ?1 AND id = ?2";

pub(super) const ALL: &str =
    "SELECT id, inbox, ttl, ends, ends_wall, members, digest, parked FROM lease WHERE name = ?1";

/// The query for the first lease in an order. Its last column says whether the table has the lease
/// elsewhere.
macro_rules! first_by {
    ($column:literal) => {
        concat!(
            "SELECT lease.id, inbox, ttl, ends, ends_wall, members, digest, parked,
                    ",
            $column,
            " IS NOT place
             FROM (SELECT id AS first, ",
            $column,
            " AS place FROM lease WHERE name = ?1 ORDER BY ",
            $column,
            ", id LIMIT 1)
             LEFT JOIN lease ON name = ?1 AND id = first"
        )
    };
}

pub(super) fn read(row: &Row<'_>) -> Result<Lease> {
    let lease = Lease {
        id: LeaseId(u128::from_be_bytes(row.get(0)?)),
        inbox: row.get::<_, Option<[u8; 16]>>(1)?.map(|id| Inbox(u128::from_be_bytes(id))),
        ttl: micros(row, 2)?,
        ends: micros(row, 3)?,
        ends_wall: micros(row, 4)?,
        members: row.get(5)?,
        digest: micros(row, 6)?,
        parked: row.get(7)?,
    };
    if lease.is_sound() { Ok(lease) } else { Err(damaged()) }
}

fn read_first(row: &Row<'_>) -> Result<Lease> {
    must_stand_there(row, 8)?;
    read(row)
}

impl Rows<'_> {
    pub(super) fn find_lease(&self, id: LeaseId) -> Result<Option<Lease>> {
        let mut find = self.db.prepare_cached(BY_ID)?;
        find.query_row((self.id(), bytes(id.0)), read).optional()
    }

    pub(super) fn find_first_lease_by_end(&self) -> Result<Option<Lease>> {
        let mut find = self.db.prepare_cached(first_by!("ends"))?;
        find.query_row([self.id()], read_first).optional()
    }

    pub(super) fn find_first_lease_by_wall(&self) -> Result<Option<Lease>> {
        let mut find = self.db.prepare_cached(first_by!("ends_wall"))?;
        find.query_row([self.id()], read_first).optional()
    }

    pub(super) fn write_lease(&mut self, lease: &Lease) -> Result<()> {
        let name = self.own_id()?;
        let mut write = self
            .db
            .prepare_cached("REPLACE INTO lease VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?;
        let (ttl, ends, wall) = (int(lease.ttl), int(lease.ends), int(lease.ends_wall));
        let inbox = lease.inbox.map(|inbox| bytes(inbox.0));
        write.execute(params![
            name,
            bytes(lease.id.0),
            inbox,
            ttl,
            ends,
            wall,
            lease.members,
            int(lease.digest),
            lease.parked,
        ])?;
        Ok(())
    }

    pub(super) fn delete_lease(&mut self, id: LeaseId) -> Result<()> {
        let mut delete = self.db.prepare_cached("DELETE FROM lease WHERE name = ?1 AND id = ?2")?;
        must_be_one(delete.execute((self.id(), bytes(id.0)))?)
    }
}
