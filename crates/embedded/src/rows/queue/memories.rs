//! The memories of a queue as rows: the last batches of sessions, and deduplication keys.

use rusqlite::{OptionalExtension, Result, Row, params};
use seinpaal_proto::{
    Inbox, Name,
    queue::{Dedupped, ItemId, Reply, SessionRecord},
    time::Micros,
};

use super::{
    super::{bytes, damaged, int, must_be_one},
    QueueRows, inbox, micros, name,
};

pub(super) const SESSION: &str =
    "SELECT inbox, number, until, replies FROM session WHERE queue = ?1 AND inbox = ?2";
pub(super) const FIRST_SESSION: &str =
    "SELECT until, inbox FROM session WHERE queue = ?1 ORDER BY until, inbox LIMIT 1";
pub(super) const KEY: &str = "SELECT key, id, until FROM dedup WHERE queue = ?1 AND key = ?2";
pub(super) const FIRST_KEY: &str =
    "SELECT key, id, until FROM dedup WHERE queue = ?1 ORDER BY until, key LIMIT 1";

fn read_session(row: &Row<'_>) -> Result<SessionRecord> {
    let lines = row.get_ref(3)?.as_str()?.lines();
    let replies = lines.map(|line| Reply::from_line(line).map_err(|_| damaged()));
    Ok(SessionRecord {
        session: inbox(row, 0)?,
        number: micros(row, 1)?,
        until: micros(row, 2)?,
        replies: replies.collect::<Result<_>>()?,
    })
}

fn read_key(row: &Row<'_>) -> Result<Dedupped> {
    let key = name(row.get_ref(0)?.as_str()?)?;
    Ok(Dedupped { key, id: ItemId(micros(row, 1)?), until: micros(row, 2)? })
}

impl QueueRows<'_> {
    pub(super) fn find_session(&self, session: Inbox) -> Result<Option<SessionRecord>> {
        let mut find = self.db.prepare_cached(SESSION)?;
        find.query_row((self.id(), bytes(session.0)), read_session).optional()
    }

    pub(super) fn find_first_session(&self) -> Result<Option<(Micros, Inbox)>> {
        let mut find = self.db.prepare_cached(FIRST_SESSION)?;
        find.query_row([self.id()], |row| Ok((micros(row, 0)?, inbox(row, 1)?))).optional()
    }

    pub(super) fn write_session(&mut self, record: &SessionRecord) -> Result<()> {
        let queue = self.own_id()?;
        let lines: Vec<_> = record.replies.iter().map(Reply::to_line).collect();
        let mut write =
            self.db.prepare_cached("REPLACE INTO session VALUES (?1, ?2, ?3, ?4, ?5)")?;
        let (inbox, number, until) =
            (bytes(record.session.0), int(record.number), int(record.until));
        write.execute(params![queue, inbox, number, until, lines.join("\n")])?;
        Ok(())
    }

    pub(super) fn delete_session(&mut self, session: Inbox) -> Result<()> {
        let sql = "DELETE FROM session WHERE queue = ?1 AND inbox = ?2";
        must_be_one(self.db.prepare_cached(sql)?.execute((self.id(), bytes(session.0)))?)
    }

    pub(super) fn find_key(&self, key: &Name) -> Result<Option<Dedupped>> {
        let mut find = self.db.prepare_cached(KEY)?;
        find.query_row((self.id(), key.as_str()), read_key).optional()
    }

    pub(super) fn find_first_key(&self) -> Result<Option<Dedupped>> {
        self.db.prepare_cached(FIRST_KEY)?.query_row([self.id()], read_key).optional()
    }

    pub(super) fn write_key(&mut self, known: &Dedupped) -> Result<()> {
        let queue = self.own_id()?;
        let mut write = self.db.prepare_cached("REPLACE INTO dedup VALUES (?1, ?2, ?3, ?4)")?;
        write.execute(params![queue, known.key.as_str(), int(known.id.0), int(known.until)])?;
        Ok(())
    }

    pub(super) fn delete_key(&mut self, key: &Name) -> Result<()> {
        let sql = "DELETE FROM dedup WHERE queue = ?1 AND key = ?2";
        must_be_one(self.db.prepare_cached(sql)?.execute((self.id(), key.as_str()))?)
    }
}
