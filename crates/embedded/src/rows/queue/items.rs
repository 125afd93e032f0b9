//! Items and payloads as rows, and the orders in which items stand.

use rusqlite::{OptionalExtension, Params, Result, Row, named_params};
use seinpaal_proto::{
    Fence, Inbox, Name, Priority,
    queue::{DeliveryHistory, Item, ItemId, ItemPosition, Standing, Work},
};

use super::{
    super::{bytes, damaged, int, must_be_one},
    QueueRows, inbox_of, micros, optional_name,
};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, priority, of_group, most, bytes, dedup, about, pushed, rank, attempt, history, open, due, ",
            "died, fence, worker, worker_about, since, ttl, ends, ends_wall FROM item WHERE queue = ?1 ",
            $rest
        )
    };
}

pub(super) const BY_ID: &str = select!("AND id = ?2");
pub(super) const FIRST_OPEN: &str = select!("AND open = 1 ORDER BY rank, id LIMIT 1");
pub(super) const FIRST_OF_GROUP: &str =
    select!("AND of_group = ?2 AND open IS NOT NULL ORDER BY rank, id LIMIT 1");
pub(super) const FIRST_DELAYED: &str = select!("AND due IS NOT NULL ORDER BY due, id LIMIT 1");
pub(super) const FIRST_BY_END: &str = select!("AND ends IS NOT NULL ORDER BY ends, id LIMIT 1");
pub(super) const FIRST_BY_WALL: &str =
    select!("AND ends_wall IS NOT NULL ORDER BY ends_wall, id LIMIT 1");
pub(super) const OPEN: &str =
    select!("AND open = 1 AND (rank, id) > (?2, ?3) ORDER BY rank, id LIMIT ?4");
pub(super) const GROUPED: &str = select!(
    "AND open IS NOT NULL AND of_group IS NOT NULL AND (of_group, rank, id) > (?5, ?2, ?3) ORDER BY of_group, rank, id LIMIT ?4"
);
pub(super) const DELAYED: &str =
    select!("AND due IS NOT NULL AND (due, id) > (?2, ?3) ORDER BY due, id LIMIT ?4");
pub(super) const IN_WORK: &str =
    select!("AND ends IS NOT NULL AND (ends, id) > (?2, ?3) ORDER BY ends, id LIMIT ?4");
pub(super) const DEAD: &str = select!("AND died IS NOT NULL AND id > ?2 ORDER BY id LIMIT ?3");
pub(super) const NEXT_WORKER: &str =
    "SELECT min(worker) FROM item WHERE queue = ?1 AND worker IS NOT NULL AND worker > ?2";
const WRITE: &str = "REPLACE INTO item VALUES (:queue, :id, :priority, :of_group, :most, :bytes, :dedup, :about,
    :pushed, :rank, :attempt, :history, :open, :due, :died, :fence, :worker, :worker_about, :since, :ttl, :ends,
    :ends_wall)";
pub(super) const PAYLOAD: &str = "SELECT bytes FROM payload WHERE queue = ?1 AND id = ?2";
pub(super) const DELETE: &str = "DELETE FROM item WHERE queue = ?1 AND id = ?2";
pub(super) const DELETE_PAYLOAD: &str = "DELETE FROM payload WHERE queue = ?1 AND id = ?2";

fn read(row: &Row<'_>) -> Result<Item> {
    let item = Item {
        id: ItemId(micros(row, 0)?),
        priority: Priority::new(row.get(1)?).map_err(|_| damaged())?,
        group: optional_name(row, 2)?,
        most: row.get(3)?,
        bytes: row.get(4)?,
        key: optional_name(row, 5)?,
        about: row.get(6)?,
        pushed: micros(row, 7)?,
        rank: row.get(8)?,
        attempt: row.get(9)?,
        history: DeliveryHistory::decode(row.get_ref(10)?.as_str()?),
        standing: read_standing(row)?,
    };
    if item.is_sound() { Ok(item) } else { Err(damaged()) }
}

fn read_standing(row: &Row<'_>) -> Result<Standing> {
    let (open, due, died): (Option<bool>, Option<i64>, Option<i64>) =
        (row.get(11)?, row.get(12)?, row.get(13)?);
    let by: Option<[u8; 16]> = row.get(15)?;
    match (open, due, died, by) {
        (Some(open), None, None, None) => Ok(Standing::Ready { open }),
        (None, Some(_), None, None) => Ok(Standing::Delayed { due: micros(row, 12)? }),
        (None, None, Some(_), None) => Ok(Standing::Dead { at: micros(row, 13)? }),
        (None, None, None, Some(by)) => Ok(Standing::InWork(read_work(row, inbox_of(by))?)),
        _ => Err(damaged()),
    }
}

fn read_work(row: &Row<'_>, by: Inbox) -> Result<Work> {
    Ok(Work {
        fence: Fence(micros(row, 14)?),
        by,
        about: row.get(16)?,
        since: micros(row, 17)?,
        ttl: micros(row, 18)?,
        ends: micros(row, 19)?,
        ends_wall: micros(row, 20)?,
    })
}

impl QueueRows<'_> {
    pub(super) fn find_item(&self, id: ItemId) -> Result<Option<Item>> {
        self.find(BY_ID, (self.id(), int(id.0)))
    }

    fn find(&self, sql: &str, values: impl Params) -> Result<Option<Item>> {
        self.db.prepare_cached(sql)?.query_row(values, read).optional()
    }

    /// Finds an item, which must have the standing of the index. Otherwise the index contradicts
    /// the table.
    fn find_as(
        &self,
        sql: &str,
        values: impl Params,
        fits: impl FnOnce(&Standing) -> bool,
    ) -> Result<Option<Item>> {
        match self.find(sql, values)? {
            Some(item) if !fits(&item.standing) => Err(damaged()),
            found => Ok(found),
        }
    }

    pub(super) fn find_first_open(&self) -> Result<Option<Item>> {
        let is_open = |it: &Standing| *it == (Standing::Ready { open: true });
        self.find_as(FIRST_OPEN, [self.id()], is_open)
    }

    pub(super) fn find_first_of_group(&self, group: &Name) -> Result<Option<Item>> {
        let is_ready = |it: &Standing| matches!(it, Standing::Ready { .. });
        self.find_as(FIRST_OF_GROUP, (self.id(), group.as_str()), is_ready)
    }

    pub(super) fn find_first_delayed(&self) -> Result<Option<Item>> {
        let is_delayed = |it: &Standing| matches!(it, Standing::Delayed { .. });
        self.find_as(FIRST_DELAYED, [self.id()], is_delayed)
    }

    pub(super) fn find_first_work(&self, sql: &str) -> Result<Option<Item>> {
        self.find_as(sql, [self.id()], |it| matches!(it, Standing::InWork(_)))
    }

    /// Lists items, which must have the standing of the index, as the first items must.
    pub(super) fn list_items(&self, after: &ItemPosition, rows: u32) -> Result<Vec<Item>> {
        let queue = self.id();
        let list = |sql, key, id: &ItemId| self.list(sql, (queue, key, int(id.0), rows));
        let items = match after {
            ItemPosition::Open(rank, id) => list(OPEN, *rank, id),
            ItemPosition::Grouped(group, rank, id) => {
                let group = group.as_deref().unwrap_or_default();
                self.list(GROUPED, (queue, rank, int(id.0), rows, group))
            }
            ItemPosition::Delayed(due, id) => list(DELAYED, int(*due), id),
            ItemPosition::InWork(ends, id) => list(IN_WORK, int(*ends), id),
            ItemPosition::Dead(id) => self.list(DEAD, (queue, int(id.0), rows)),
        }?;
        let is_listed = |item: &Item| item.standing.state() == after.state();
        if items.iter().all(is_listed) { Ok(items) } else { Err(damaged()) }
    }

    fn list(&self, sql: &str, values: impl Params) -> Result<Vec<Item>> {
        self.db.prepare_cached(sql)?.query_map(values, read)?.collect()
    }

    /// Returns up to `most` distinct clients that work here, of those after this one. Each takes
    /// one step in the index.
    pub fn workers(&self, after: Option<Inbox>, most: usize) -> Result<Vec<Inbox>> {
        let mut next = self.db.prepare_cached(NEXT_WORKER)?;
        let mut found: Vec<Inbox> = Vec::new();
        while found.len() < most {
            let last = found.last().copied().or(after);
            let last = last.map_or(Vec::new(), |inbox| bytes(inbox.0).to_vec());
            let worker: Option<[u8; 16]> = next.query_row((self.id(), last), |row| row.get(0))?;
            let Some(worker) = worker else { break };
            found.push(inbox_of(worker));
        }
        Ok(found)
    }

    pub(super) fn write_item(&mut self, item: &Item) -> Result<()> {
        let queue = self.own_id()?;
        let (mut open, mut due, mut died) = (None, None, None);
        match &item.standing {
            Standing::Ready { open: is_open } => open = Some(*is_open),
            Standing::Delayed { due: at } => due = Some(int(*at)),
            Standing::Dead { at } => died = Some(int(*at)),
            Standing::InWork(_) => {}
        }
        let work = item.work();
        self.db.prepare_cached(WRITE)?.execute(named_params! {
            ":queue": queue,
            ":id": int(item.id.0),
            ":priority": item.priority.get(),
            ":of_group": item.group.as_deref(),
            ":most": item.most,
            ":bytes": item.bytes,
            ":dedup": item.key.as_deref(),
            ":about": item.about,
            ":pushed": int(item.pushed),
            ":rank": item.rank,
            ":attempt": item.attempt,
            ":history": item.history.encode(),
            ":open": open,
            ":due": due,
            ":died": died,
            ":fence": work.map(|work| int(work.fence.0)),
            ":worker": work.map(|work| bytes(work.by.0)),
            ":worker_about": work.map(|work| work.about.as_str()),
            ":since": work.map(|work| int(work.since)),
            ":ttl": work.map(|work| int(work.ttl)),
            ":ends": work.map(|work| int(work.ends)),
            ":ends_wall": work.map(|work| int(work.ends_wall)),
        })?;
        Ok(())
    }

    pub(super) fn delete_item(&mut self, id: ItemId) -> Result<()> {
        for sql in [DELETE, DELETE_PAYLOAD] {
            must_be_one(self.db.prepare_cached(sql)?.execute((self.id(), int(id.0)))?)?;
        }
        Ok(())
    }

    /// Reads the payload of an item. Every item has one, even if it is empty.
    pub(super) fn find_payload(&self, id: ItemId) -> Result<Vec<u8>> {
        let mut find = self.db.prepare_cached(PAYLOAD)?;
        let found = find.query_row((self.id(), int(id.0)), |row| row.get(0)).optional()?;
        found.ok_or_else(damaged)
    }

    pub(super) fn write_payload(&mut self, id: ItemId, payload: &[u8]) -> Result<()> {
        let queue = self.own_id()?;
        let mut write = self.db.prepare_cached("INSERT INTO payload VALUES (?1, ?2, ?3)")?;
        write.execute((queue, int(id.0), payload))?;
        Ok(())
    }
}
