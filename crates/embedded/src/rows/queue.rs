//! One queue's state as rows. Every method finds its rows by an index. A row that the ledger could
//! not have written is damage.

mod groups;
mod items;
mod memories;
mod places;
#[cfg(test)]
mod tests;

use rusqlite::{Connection, OptionalExtension, Result, Row};
use seinpaal_proto::{
    Inbox, Name,
    queue::{Dedupped, Group, Head, Item, ItemId, ItemPosition, Place, SessionRecord, State},
    time::Micros,
};

use super::{
    damaged,
    head::{self, HeadRow},
};

/// The state of one queue.
pub struct QueueRows<'a> {
    db: &'a Connection,
    name: &'a str,
    /// `None` until the queue has a row.
    id: Option<i64>,
    head: Head,
}

impl<'a> QueueRows<'a> {
    pub fn open(db: &'a Connection, name: &'a Name) -> Result<Self> {
        let mut find = db.prepare_cached(&head::QUEUE.find)?;
        let found = find.query_row([name.as_str()], |row| Ok((row.get("id")?, read_head(row)?)));
        let (id, head) = found.optional()?.unzip();
        Ok(Self { db, name: name.as_str(), id, head: head.unwrap_or_default() })
    }

    /// Returns the number of the row, for reading. Nothing is stored under 0, so a queue without a
    /// row reads as empty.
    fn id(&self) -> i64 {
        self.id.unwrap_or(0)
    }

    /// Returns the number of the row, for writing. Makes the row if there is none.
    fn own_id(&mut self) -> Result<i64> {
        if let Some(id) = self.id {
            return Ok(id);
        }
        let id = head::QUEUE.insert(self.db, self.name, &Head::default().fields())?;
        self.id = Some(id);
        Ok(id)
    }
}

fn read_head(row: &Row<'_>) -> Result<Head> {
    let head = Head::read(&mut HeadRow::new(row))?;
    if head.is_sound() { Ok(head) } else { Err(damaged()) }
}

fn inbox_of(bytes: [u8; 16]) -> Inbox {
    Inbox(u128::from_be_bytes(bytes))
}

fn inbox(row: &Row<'_>, column: usize) -> Result<Inbox> {
    row.get(column).map(inbox_of)
}

fn micros(row: &Row<'_>, column: usize) -> Result<Micros> {
    u64::try_from(row.get::<_, i64>(column)?).map_err(|_| damaged())
}

fn name(text: &str) -> Result<Name> {
    Name::new(text).map_err(|_| damaged())
}

fn optional_name(row: &Row<'_>, column: usize) -> Result<Option<Name>> {
    let text: Option<String> = row.get(column)?;
    text.as_deref().map(name).transpose()
}

impl State for QueueRows<'_> {
    type Error = rusqlite::Error;

    fn head(&mut self) -> Result<Head> {
        Ok(self.head.clone())
    }

    fn set_head(&mut self, head: &Head) -> Result<()> {
        let id = self.own_id()?;
        self.head.clone_from(head);
        head::QUEUE.update(self.db, id, &head.fields())
    }

    fn clear(&mut self) -> Result<()> {
        self.head = Head::default();
        let Some(id) = self.id.take() else { return Ok(()) };
        self.db.prepare_cached("DELETE FROM queue WHERE id = ?1")?.execute([id])?;
        Ok(())
    }

    fn item(&mut self, id: ItemId) -> Result<Option<Item>> {
        self.find_item(id)
    }

    fn put_item(&mut self, item: &Item) -> Result<()> {
        self.write_item(item)
    }

    fn remove_item(&mut self, id: ItemId) -> Result<()> {
        self.delete_item(id)
    }

    fn payload(&mut self, id: ItemId) -> Result<Vec<u8>> {
        self.find_payload(id)
    }

    fn put_payload(&mut self, id: ItemId, payload: &[u8]) -> Result<()> {
        self.write_payload(id, payload)
    }

    fn first_open(&mut self) -> Result<Option<Item>> {
        self.find_first_open()
    }

    fn first_of_group(&mut self, group: &Name) -> Result<Option<Item>> {
        self.find_first_of_group(group)
    }

    fn first_delayed(&mut self) -> Result<Option<Item>> {
        self.find_first_delayed()
    }

    fn first_work_by_end(&mut self) -> Result<Option<Item>> {
        self.find_first_work(items::FIRST_BY_END)
    }

    fn first_work_by_wall(&mut self) -> Result<Option<Item>> {
        self.find_first_work(items::FIRST_BY_WALL)
    }

    fn items_after(&mut self, after: &ItemPosition, rows: u32) -> Result<Vec<Item>> {
        self.list_items(after, rows)
    }

    fn group(&mut self, group: &Name) -> Result<Group> {
        self.find_group(group)
    }

    fn put_group(&mut self, group: &Name, counts: &Group) -> Result<()> {
        self.write_group(group, counts)
    }

    fn full_group_after(&mut self, after: &str) -> Result<Option<(Name, Group)>> {
        self.find_full_group_after(after)
    }

    fn groups(&mut self, rows: u32) -> Result<Vec<(Name, Group)>> {
        self.list_groups(rows)
    }

    fn place(&mut self, inbox: Inbox) -> Result<Option<Place>> {
        self.find_place(inbox)
    }

    fn put_place(&mut self, place: &Place) -> Result<()> {
        self.write_place(place)
    }

    fn remove_place(&mut self, inbox: Inbox) -> Result<()> {
        self.delete_place(inbox)
    }

    fn first_in_line(&mut self) -> Result<Option<Place>> {
        self.find_first_in_line()
    }

    fn first_called(&mut self) -> Result<Option<Place>> {
        self.find_first_called()
    }

    fn session(&mut self, session: Inbox) -> Result<Option<SessionRecord>> {
        self.find_session(session)
    }

    fn put_session(&mut self, record: &SessionRecord) -> Result<()> {
        self.write_session(record)
    }

    fn remove_session(&mut self, session: Inbox) -> Result<()> {
        self.delete_session(session)
    }

    fn first_session(&mut self) -> Result<Option<(Micros, Inbox)>> {
        self.find_first_session()
    }

    fn key(&mut self, key: &Name) -> Result<Option<Dedupped>> {
        self.find_key(key)
    }

    fn put_key(&mut self, key: &Dedupped) -> Result<()> {
        self.write_key(key)
    }

    fn remove_key(&mut self, key: &Name) -> Result<()> {
        self.delete_key(key)
    }

    fn first_key(&mut self) -> Result<Option<Dedupped>> {
        self.find_first_key()
    }
}
