//! The places of idle workers as rows, and the line in which they stand.

use rusqlite::{OptionalExtension, Params, Result, Row, params};
use seinpaal_proto::{
    Inbox,
    queue::{Place, WorkerCall},
};

use super::{
    super::{bytes, damaged, int, must_be_one},
    QueueRows, inbox, micros,
};

pub(super) const BY_INBOX: &str =
    "SELECT inbox, want, drains, until, called FROM place WHERE queue = ?1 AND inbox = ?2";
pub(super) const IN_LINE: &str = "SELECT inbox, want, drains, until, called FROM place
    WHERE queue = ?1 AND called IS NULL ORDER BY drains DESC, until, inbox LIMIT ?2";
pub(super) const FIRST_CALLED: &str = "SELECT inbox, want, drains, until, called FROM place
    WHERE queue = ?1 AND called IS NOT NULL ORDER BY called, inbox LIMIT 1";

fn read(row: &Row<'_>) -> Result<Place> {
    let called: Option<i64> = row.get(4)?;
    let place = Place {
        inbox: inbox(row, 0)?,
        want: row.get(1)?,
        drains: row.get(2)?,
        until: micros(row, 3)?,
        call: match called {
            None => WorkerCall::InLine,
            Some(_) => WorkerCall::Since(micros(row, 4)?),
        },
    };
    if place.is_sound() { Ok(place) } else { Err(damaged()) }
}

impl QueueRows<'_> {
    pub(super) fn find_place(&self, inbox: Inbox) -> Result<Option<Place>> {
        self.one(BY_INBOX, (self.id(), bytes(inbox.0)))
    }

    pub(super) fn find_first_in_line(&self) -> Result<Option<Place>> {
        match self.one(IN_LINE, (self.id(), 1))? {
            Some(Place { call: WorkerCall::Since(_), .. }) => Err(damaged()),
            found => Ok(found),
        }
    }

    pub(super) fn find_first_called(&self) -> Result<Option<Place>> {
        match self.one(FIRST_CALLED, [self.id()])? {
            Some(Place { call: WorkerCall::InLine, .. }) => Err(damaged()),
            found => Ok(found),
        }
    }

    fn one(&self, sql: &str, values: impl Params) -> Result<Option<Place>> {
        self.db.prepare_cached(sql)?.query_row(values, read).optional()
    }

    /// Returns the clients of up to `most` idle workers, in the order of the line.
    pub fn first_idle(&self, most: usize) -> Result<Vec<Inbox>> {
        let mut find = self.db.prepare_cached(IN_LINE)?;
        let inboxes = find.query_map((self.id(), most as u32), |row| inbox(row, 0))?;
        inboxes.collect()
    }

    /// Returns up to `most` clients with a place here, called or not.
    pub(in super::super::super) fn idle(&self, most: u32) -> Result<Vec<Inbox>> {
        let sql = "SELECT inbox FROM place WHERE queue = ?1 LIMIT ?2";
        let mut find = self.db.prepare_cached(sql)?;
        let inboxes = find.query_map((self.id(), most), |row| inbox(row, 0))?;
        inboxes.collect()
    }

    pub(super) fn write_place(&mut self, place: &Place) -> Result<()> {
        let queue = self.own_id()?;
        let called = match place.call {
            WorkerCall::InLine => None,
            WorkerCall::Since(at) => Some(int(at)),
        };
        let mut write =
            self.db.prepare_cached("REPLACE INTO place VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
        let (inbox, until) = (bytes(place.inbox.0), int(place.until));
        write.execute(params![queue, inbox, place.want, place.drains, until, called])?;
        Ok(())
    }

    pub(super) fn delete_place(&mut self, inbox: Inbox) -> Result<()> {
        let sql = "DELETE FROM place WHERE queue = ?1 AND inbox = ?2";
        must_be_one(self.db.prepare_cached(sql)?.execute((self.id(), bytes(inbox.0)))?)
    }
}
