//! Turns about queues: they execute the ledger of queues, and give back the items of dead workers.

use rusqlite::{OptionalExtension, Result};
use seinpaal_proto::{
    Contact, Contacts, Inbox, Name,
    queue::{Batch, Replies, Reply, Request, execute},
    time::{Micros, SECOND},
};

use super::{MOST_CALLS, MOST_HOLDERS, Turn, read_name};
use crate::{
    line::LineOf,
    rows::{bytes, queue::QueueRows},
    tables,
};

/// A queue of which only sessions are remembered is looked at this long after its last use. With
/// the usual patience, a session's last batch is remembered for a shorter time.
const SESSIONS_LINGER: Micros = 60 * SECOND;
/// A queue of which only deduplication keys are remembered, which can last a week, is looked at
/// this long after its last use.
const KEYS_LINGER: Micros = 3600 * SECOND;
/// The most idle workers of one queue that are looked at if a request depends on their number.
const MOST_IDLE: u32 = 256;
/// The most queues of either kind that one call looks at. There are more than one, so that their
/// number falls.
const MOST_USED_UP: u32 = 2;

const OF_SESSIONS: &str = "SELECT name FROM queue INDEXED BY queue_of_sessions
    WHERE ready = 0 AND delayed = 0 AND in_work = 0 AND dead = 0 AND idle = 0 AND called = 0
        AND sessions > 0 AND wall <= ?1 ORDER BY wall LIMIT ?2";
const OF_KEYS: &str = "SELECT name FROM queue INDEXED BY queue_of_keys
    WHERE ready = 0 AND delayed = 0 AND in_work = 0 AND dead = 0 AND idle = 0 AND called = 0
        AND sessions = 0 AND keys > 0 AND wall <= ?1 ORDER BY wall LIMIT ?2";
const OF_WORKER: &str = "SELECT id, name FROM queue WHERE in_work > 0 AND EXISTS
    (SELECT 1 FROM item WHERE queue = queue.id AND worker = ?1)";
const OF_PLACES: &str =
    "SELECT name FROM queue WHERE id IN (SELECT queue FROM place WHERE inbox = ?1)";

impl Turn<'_> {
    /// Executes a batch, and removes memories that a few other queues need no more.
    pub(in super::super) fn call_queue(&mut self, batch: &Batch) -> Result<Replies> {
        tables::make_all(self.db)?;
        let replies = self.call_queue_alone(batch)?;
        let looked_at = self.known.around.found_no_queue_at;
        if !self.was_just_now(looked_at) && self.forget_queues(MOST_USED_UP)? == 0 {
            looked_at.set(Some(self.now));
        }
        Ok(replies)
    }

    /// Executes a batch. Before a worker is told that there are fewer items than it wanted, the
    /// workers that have items are looked at: the items of a dead one become available.
    fn call_queue_alone(&mut self, batch: &Batch) -> Result<Replies> {
        let replies = self.execute_queue(batch)?;
        let mut pairs = batch.requests.iter().zip(&replies.replies);
        let mut dead = Vec::new();
        if pairs.any(|(request, reply)| depends_on_workers(request, reply)) {
            dead = self.dead_workers(&batch.name)?;
        }
        if replies.replies.iter().any(|reply| matches!(reply, Reply::Snapshot(_))) {
            dead.extend(self.dead_idle(&batch.name)?);
        }
        if dead.is_empty() {
            return Ok(replies);
        }
        // As with names, some answers depended on the dead.
        self.start_again()?;
        for inbox in dead {
            self.bury(inbox)?;
        }
        self.execute_queue(batch)
    }

    /// Executes a batch about a queue. If it delivers items, the first idle worker is told to watch
    /// the new workers.
    fn execute_queue(&mut self, batch: &Batch) -> Result<Replies> {
        let mut rows = QueueRows::open(self.db, &batch.name)?;
        let outcome = execute(&mut rows, &mut self.known, self.now, batch)?;
        if outcome.replies.replies.iter().any(delivers) {
            let first = rows.first_idle(1)?;
            let line_of = |inbox| (inbox, LineOf::Items(batch.name.clone()));
            self.tell.watch.extend(first.into_iter().map(line_of));
        }
        self.tell.queue_wakeups.extend(outcome.wakeups);
        Ok(outcome.replies)
    }

    fn dead_workers(&mut self, name: &Name) -> Result<Vec<Inbox>> {
        let rows = QueueRows::open(self.db, name)?;
        let (line_of, around) = (LineOf::Items(name.clone()), self.known.around);
        let list = |after, most| rows.workers(after, most);
        let mut page = around.marks.turn_page(&line_of, around.me, MOST_HOLDERS, list)?;
        page.clients.retain(|inbox| self.known.contact(*inbox) == Contact::Dead);
        Ok(page.clients)
    }

    fn dead_idle(&mut self, name: &Name) -> Result<Vec<Inbox>> {
        let mut idle = QueueRows::open(self.db, name)?.idle(MOST_IDLE)?;
        idle.retain(|inbox| self.known.contact(*inbox) == Contact::Dead);
        Ok(idle)
    }

    /// Gives the items of a dead worker back to the queues, and ends its places in their lines.
    pub(super) fn bury_worker(&mut self, inbox: Inbox) -> Result<()> {
        if !tables::are_all_there(self.db)? {
            return Ok(());
        }
        for (queue, name) in self.queues_worked_at(inbox)? {
            let sql = "UPDATE item SET ends = 0, ends_wall = 0 WHERE queue = ?1 AND worker = ?2";
            self.db.prepare_cached(sql)?.execute((queue, bytes(inbox.0)))?;
            self.settle_queue(nothing(name))?;
        }
        for name in self.queues(OF_PLACES, [bytes(inbox.0)])? {
            let requests = vec![Request::Leave];
            self.settle_queue(Batch { session: inbox, requests, ..nothing(name) })?;
        }
        Ok(())
    }

    fn queues_worked_at(&self, inbox: Inbox) -> Result<Vec<(i64, Name)>> {
        let mut find = self.db.prepare_cached(OF_WORKER)?;
        let queues =
            find.query_map([bytes(inbox.0)], |row| Ok((row.get(0)?, read_name(row, 1)?)))?;
        queues.collect()
    }

    fn queues(&self, sql: &str, values: impl rusqlite::Params) -> Result<Vec<Name>> {
        let mut find = self.db.prepare_cached(sql)?;
        let names = find.query_map(values, |row| read_name(row, 0))?;
        names.collect()
    }

    /// Removes queues of which only memories are left (rule 12), even if nobody uses them again. A
    /// queue that is looked at moves to the end of its list. Returns how many queues were looked
    /// at.
    ///
    /// No index finds queues of which only the last number is left, ahead of the clock. The clock
    /// of this store is not set back within a boot, so its numbers are not ahead of it for longer
    /// than a session is remembered. At the next boot such a queue is removed anyway.
    pub(in super::super) fn forget_queues(&mut self, most: u32) -> Result<usize> {
        if !tables::are_all_there(self.db)? {
            return Ok(0);
        }
        let mut found = 0;
        for (sql, linger) in [(OF_SESSIONS, SESSIONS_LINGER), (OF_KEYS, KEYS_LINGER)] {
            let before = self.now.saturating_sub(linger) as i64;
            for name in self.queues(sql, (before, most))? {
                self.forget_queue(name)?;
                found += 1;
            }
        }
        Ok(found)
    }

    /// Forgets the memories of a queue. One call forgets a few, so the call is repeated until it
    /// forgets none.
    fn forget_queue(&mut self, name: Name) -> Result<()> {
        let mut left = self.memories(&name)?;
        for _ in 0..MOST_CALLS {
            self.execute_queue(&nothing(name.clone()))?;
            let before = std::mem::replace(&mut left, self.memories(&name)?);
            if left >= before {
                break;
            }
        }
        Ok(())
    }

    fn memories(&self, name: &Name) -> Result<u32> {
        let sql = "SELECT sessions + keys FROM queue WHERE name = ?1";
        let mut find = self.db.prepare_cached(sql)?;
        Ok(find.query_row([name.as_str()], |row| row.get(0)).optional()?.unwrap_or(0))
    }

    fn settle_queue(&mut self, batch: Batch) -> Result<()> {
        for _ in 0..MOST_CALLS {
            if !self.execute_queue(&batch)?.backlog {
                break;
            }
        }
        Ok(())
    }
}

/// Returns a batch of no session that settles what is due at a queue.
fn nothing(name: Name) -> Batch {
    let requests = Vec::new();
    Batch { name, session: Inbox(0), number: 0, not_after: Micros::MAX, seen: 0, requests }
}

fn delivers(reply: &Reply) -> bool {
    matches!(reply, Reply::Popped { items, .. } if !items.is_empty())
}

fn depends_on_workers(request: &Request, reply: &Reply) -> bool {
    match (request, reply) {
        (Request::Pop(pop), Reply::Popped { items, .. }) => items.len() < pop.items as usize,
        (_, reply) => matches!(reply, Reply::Snapshot(_)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_up_queues_and_those_of_the_dead_are_found_by_an_index() {
        let db = rusqlite::Connection::open_in_memory().unwrap();
        db.execute_batch(&crate::tables::schema()).unwrap();
        for sql in [OF_SESSIONS, OF_KEYS, OF_WORKER, OF_PLACES] {
            let mut explain = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let mut rows = explain.raw_query();
            let mut plan = String::new();
            while let Some(row) = rows.next().unwrap() {
                plan = format!("{plan}{}; ", row.get::<_, String>(3).unwrap());
            }
            let scans_table = plan.contains("SCAN queue;");
            assert!(!scans_table && !plan.contains("TEMP B-TREE"), "{sql}\n{plan}");
        }
    }
}
