//! Holders and waiters as rows, and the order in which they are served.

use rusqlite::{
    Error, OptionalExtension, Result, Row, params,
    types::{Type, ValueRef},
};
use seinpaal_proto::{Entry, Fence, Inbox, LeaseId, Slots, Standing, Ticket};

use super::{Rows, bytes, damaged, first_distinct, int, micros, must_be_one, must_stand_there};

/// The most places of one line that are read to find its first clients.
const MOST_PLACES: u32 = 256;

macro_rules! columns {
    ($rest:literal) => {
        concat!(
            "SELECT ticket, lease, inbox, permits, ttl, since, about, fence, slots, rank, priority, ",
            "next_lease, margin, parked",
            $rest
        )
    };
}

macro_rules! select {
    ($rest:literal) => {
        concat!(columns!(" FROM entry WHERE name = ?1 "), $rest)
    };
}

fn read(row: &Row<'_>) -> Result<Entry> {
    let entry = Entry {
        ticket: Ticket(u128::from_be_bytes(row.get(0)?)),
        lease: LeaseId(u128::from_be_bytes(row.get(1)?)),
        inbox: read_inbox(row, 2)?,
        permits: row.get(3)?,
        ttl: micros(row, 4)?,
        since: micros(row, 5)?,
        about: row.get(6)?,
        standing: read_standing(row)?,
    };
    if entry.is_sound() { Ok(entry) } else { Err(damaged()) }
}

fn read_first(row: &Row<'_>) -> Result<Entry> {
    must_stand_there(row, 14)?;
    read(row)
}

fn read_inbox(row: &Row<'_>, column: usize) -> Result<Option<Inbox>> {
    let inbox: Option<[u8; 16]> = row.get(column)?;
    Ok(inbox.map(|inbox| Inbox(u128::from_be_bytes(inbox))))
}

fn read_standing(row: &Row<'_>) -> Result<Standing> {
    if let Some(fence) = row.get::<_, Option<i64>>(7)? {
        return Ok(Standing::Holding { fence: Fence(fence.unsigned_abs()), slots: slots(row)? });
    }
    Ok(Standing::Waiting {
        rank: row.get(9)?,
        priority: row.get(10)?,
        lease: LeaseId(u128::from_be_bytes(row.get(11)?)),
        margin: micros(row, 12)?,
        wishes: wishes(row)?,
        parked: row.get(13)?,
    })
}

fn slots(row: &Row<'_>) -> Result<Slots> {
    let text: String = row.get(8)?;
    text.parse().map_err(|bad: String| Error::FromSqlConversionFailure(8, Type::Text, bad.into()))
}

/// Reads the slots of a waiter, which are those that it wishes for.
fn wishes(row: &Row<'_>) -> Result<Slots> {
    match row.get_ref(8)? {
        ValueRef::Null => Ok(Slots::none()),
        _ => slots(row),
    }
}

impl Rows<'_> {
    pub(super) fn find_entry(&self, ticket: Ticket) -> Result<Option<Entry>> {
        let mut find = self.db.prepare_cached(select!("AND ticket = ?2"))?;
        find.query_row((self.id(), bytes(ticket.0)), read).optional()
    }

    pub(super) fn find_first_member(&self, lease: LeaseId) -> Result<Option<Entry>> {
        let sql = columns!(
            ", lease IS NOT ?2
             FROM (SELECT ticket AS first FROM entry WHERE name = ?1 AND lease = ?2
                   ORDER BY ticket LIMIT 1)
             LEFT JOIN entry ON name = ?1 AND ticket = first"
        );
        let mut find = self.db.prepare_cached(sql)?;
        find.query_row((self.id(), bytes(lease.0)), read_first).optional()
    }

    pub(super) fn find_first_waiter(&self) -> Result<Option<Entry>> {
        let sql = columns!(
            ", rank IS NOT place OR parked IS NOT 0
             FROM (SELECT ticket AS first, rank AS place FROM entry
                   WHERE name = ?1 AND rank IS NOT NULL AND parked = 0
                   ORDER BY rank, ticket LIMIT 1)
             LEFT JOIN entry ON name = ?1 AND ticket = first"
        );
        self.db.prepare_cached(sql)?.query_row([self.id()], read_first).optional()
    }

    pub(super) fn list_holders(&self, rows: u32) -> Result<Vec<Entry>> {
        self.list(select!("AND fence IS NOT NULL ORDER BY fence, ticket LIMIT ?2"), rows)
    }

    pub(super) fn list_waiters(&self, rows: u32) -> Result<Vec<Entry>> {
        self.list(select!("AND rank IS NOT NULL ORDER BY parked, rank, ticket LIMIT ?2"), rows)
    }

    pub(super) fn position_of(&self, waiter: &Entry) -> Result<u32> {
        let Standing::Waiting { rank, .. } = waiter.standing else { return Ok(0) };
        let sql = "SELECT count(*) + 1 FROM entry
                   WHERE name = ?1 AND parked = 0 AND (rank, ticket) < (?2, ?3)";
        let before = (self.id(), rank, waiter.ticket.0.to_be_bytes());
        self.db.prepare_cached(sql)?.query_row(before, |row| row.get(0))
    }

    fn list(&self, sql: &str, rows: u32) -> Result<Vec<Entry>> {
        self.db.prepare_cached(sql)?.query_map((self.id(), rows), read)?.collect()
    }

    /// Returns the first `most` distinct clients in line, in the order of service. If one client
    /// has very many places at the head of the line, the clients behind it are not read.
    pub fn first_waiting(&self, most: usize) -> Result<Vec<Inbox>> {
        let sql = "SELECT inbox FROM entry WHERE name = ?1 AND rank IS NOT NULL AND parked = 0
                   ORDER BY rank, ticket LIMIT ?2";
        let mut find = self.db.prepare_cached(sql)?;
        let inboxes = find.query_map((self.id(), MOST_PLACES), |row| read_inbox(row, 0))?;
        first_distinct(inboxes.filter_map(Result::transpose), most)
    }

    /// Returns the clients of up to `most` waiters, those that were passed over among them.
    pub(in super::super) fn waiting(&self, most: u32) -> Result<Vec<Inbox>> {
        // No waiter is passed over in this store, because the kernel knows which clients live. The
        // order names `parked` only because the index begins with it.
        let sql = "SELECT inbox FROM entry WHERE name = ?1 AND rank IS NOT NULL
                   ORDER BY parked, rank, ticket LIMIT ?2";
        let mut find = self.db.prepare_cached(sql)?;
        let inboxes = find.query_map((self.id(), most), |row| read_inbox(row, 0))?;
        inboxes.filter_map(Result::transpose).collect()
    }

    /// Returns up to `most` distinct clients that hold here, of those after this one. Each takes
    /// one step in the index.
    pub fn holding(&self, after: Option<Inbox>, most: usize) -> Result<Vec<Inbox>> {
        let sql = "SELECT min(inbox) FROM entry WHERE name = ?1 AND fence IS NOT NULL
                   AND inbox IS NOT NULL AND inbox > ?2";
        let mut next = self.db.prepare_cached(sql)?;
        let mut found: Vec<Inbox> = Vec::new();
        while found.len() < most {
            let last = found.last().copied().or(after);
            let last = last.map_or(Vec::new(), |inbox| bytes(inbox.0).to_vec());
            let inbox = next.query_row((self.id(), last), |row| read_inbox(row, 0))?;
            let Some(inbox) = inbox else { break };
            found.push(inbox);
        }
        Ok(found)
    }

    pub(super) fn write_entry(&mut self, entry: &Entry) -> Result<()> {
        match &entry.standing {
            Standing::Holding { fence, slots } => self.write_holder(entry, *fence, slots),
            Standing::Waiting { .. } => self.write_waiter(entry),
        }
    }

    fn write_holder(&mut self, entry: &Entry, fence: Fence, slots: &Slots) -> Result<()> {
        let name = self.own_id()?;
        let mut write = self.db.prepare_cached(
            "REPLACE INTO entry (name, ticket, lease, inbox, permits, ttl, since, about, fence, slots)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?;
        let (ticket, lease) = (bytes(entry.ticket.0), bytes(entry.lease.0));
        let inbox = entry.inbox.map(|inbox| bytes(inbox.0));
        let (permits, about) = (entry.permits, &entry.about);
        let (ttl, since) = (int(entry.ttl), int(entry.since));
        let (fence, slots) = (int(fence.0), slots.to_string());
        write.execute(params![
            name, ticket, lease, inbox, permits, ttl, since, about, fence, slots
        ])?;
        Ok(())
    }

    fn write_waiter(&mut self, entry: &Entry) -> Result<()> {
        let Standing::Waiting { rank, priority, lease: next, margin, wishes, parked } =
            &entry.standing
        else {
            return Ok(());
        };
        let name = self.own_id()?;
        let mut write = self.db.prepare_cached(
            "REPLACE INTO entry (name, ticket, lease, inbox, permits, ttl, since, about,
                                 rank, priority, next_lease, margin, parked, slots)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        )?;
        let (ticket, lease) = (bytes(entry.ticket.0), bytes(entry.lease.0));
        let inbox = entry.inbox.map(|inbox| bytes(inbox.0));
        let (permits, about) = (entry.permits, &entry.about);
        let (ttl, since) = (int(entry.ttl), int(entry.since));
        let (next, margin) = (bytes(next.0), int(*margin));
        let wishes = (!wishes.is_empty()).then(|| wishes.to_string());
        write.execute(params![
            name, ticket, lease, inbox, permits, ttl, since, about, rank, priority, next, margin,
            parked, wishes
        ])?;
        Ok(())
    }

    pub(super) fn delete_entry(&mut self, ticket: Ticket) -> Result<()> {
        let sql = "DELETE FROM entry WHERE name = ?1 AND ticket = ?2";
        must_be_one(self.db.prepare_cached(sql)?.execute((self.id(), bytes(ticket.0)))?)
    }
}
