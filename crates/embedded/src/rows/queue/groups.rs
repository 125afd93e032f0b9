//! The counts of groups as rows.

use rusqlite::{OptionalExtension, Result, Row, params};
use seinpaal_proto::{
    Name,
    queue::{Group, ItemId},
};

use super::{
    super::{damaged, int},
    QueueRows, micros, name,
};

pub(super) const BY_NAME: &str =
    "SELECT name, in_work, ready, front FROM item_group WHERE queue = ?1 AND name = ?2";
pub(super) const FULL_AFTER: &str = "SELECT name, in_work, ready, front FROM item_group
    WHERE queue = ?1 AND ready > 0 AND front IS NULL AND name > ?2 ORDER BY name LIMIT 1";
pub(super) const ALL: &str =
    "SELECT name, in_work, ready, front FROM item_group WHERE queue = ?1 ORDER BY name LIMIT ?2";

fn read(row: &Row<'_>) -> Result<(Name, Group)> {
    let front: Option<i64> = row.get(3)?;
    let front = front.map(|_| micros(row, 3)).transpose()?.map(ItemId);
    let counts = Group { in_work: row.get(1)?, ready: row.get(2)?, front };
    let group = name(row.get_ref(0)?.as_str()?)?;
    if counts.is_sound() { Ok((group, counts)) } else { Err(damaged()) }
}

impl QueueRows<'_> {
    pub(super) fn find_group(&self, group: &Name) -> Result<Group> {
        let mut find = self.db.prepare_cached(BY_NAME)?;
        let found = find.query_row((self.id(), group.as_str()), read).optional()?;
        Ok(found.map(|(_, counts)| counts).unwrap_or_default())
    }

    pub(super) fn write_group(&mut self, group: &Name, counts: &Group) -> Result<()> {
        let queue = self.own_id()?;
        if *counts == Group::default() {
            let sql = "DELETE FROM item_group WHERE queue = ?1 AND name = ?2";
            self.db.prepare_cached(sql)?.execute((queue, group.as_str()))?;
            return Ok(());
        }
        let mut write =
            self.db.prepare_cached("REPLACE INTO item_group VALUES (?1, ?2, ?3, ?4, ?5)")?;
        let front = counts.front.map(|front| int(front.0));
        write.execute(params![queue, group.as_str(), counts.in_work, counts.ready, front])?;
        Ok(())
    }

    pub(super) fn find_full_group_after(&self, after: &str) -> Result<Option<(Name, Group)>> {
        let mut find = self.db.prepare_cached(FULL_AFTER)?;
        let found = find.query_row((self.id(), after), read).optional()?;
        match found {
            Some((_, counts)) if counts.ready == 0 || counts.front.is_some() => Err(damaged()),
            found => Ok(found),
        }
    }

    pub(super) fn list_groups(&self, rows: u32) -> Result<Vec<(Name, Group)>> {
        self.db.prepare_cached(ALL)?.query_map((self.id(), rows), read)?.collect()
    }
}
