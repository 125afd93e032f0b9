//! A turn inside the gate: the ledger is executed, and what dead clients had is freed.

mod contacts;
mod examine;
mod queues;
mod tell;

use std::cell::Cell;

use rusqlite::{Connection, Result};
use seinpaal_proto::{
    Batch, Busy, Contact, Contacts, Inbox, Name, Replies, Reply, Ticket, What,
    time::{Micros, SECOND},
};

use contacts::KnownContacts;
pub(super) use contacts::TurnParts;
use seinpaal_store::{Together, together};
pub(super) use tell::Tell;

use super::{
    database::run,
    line::LineOf,
    name_state::NameState,
    rows::{bytes, read_name},
    small,
    stay::Stay,
    tables,
    watch::MOST_HOLDERS,
};

/// The most waiters of one name that are looked at where somebody counts them.
pub(super) const MOST_WAITERS: u32 = 256;
/// The most calls that settle one name or queue in a turn; 128 leases, places and grants each.
const MOST_CALLS: usize = 128;

/// Names nobody uses are looked at this long after their last use, until nothing of them is
/// remembered.
const LINGER: Micros = 30 * SECOND;
/// The most of them that one call looks at. More than one, so that they get fewer.
const MOST_USED_UP: u32 = 2;

/// How long it is remembered that a process that ends with its permit has given it back. It repeats
/// nothing once it has the answer, and its requests are on no way on which they could be late. So
/// this is only for an answer that an error of the disk kept from it. A name that many such
/// processes use stays small.
const A_WHILE: Micros = SECOND / 20;

/// For so long after a look that found no such name, no call looks again.
const LOOK_PAUSE: Micros = SECOND / 20;

/// One stay inside the gate.
pub(super) struct Turn<'a> {
    db: &'a Connection,
    known: KnownContacts<'a>,
    now: Micros,
    pub(super) tell: Tell,
}

impl<'a> Turn<'a> {
    pub(super) fn new(db: &'a Connection, around: TurnParts<'a>, now: Micros) -> Self {
        let known = KnownContacts::new(around);
        Self { db, known, now, tell: Tell::default() }
    }

    /// Executes a batch, and lets go what a few other names need not remember any more.
    pub(super) fn call(&mut self, batch: &Batch) -> Result<Replies> {
        let replies = self.call_alone(batch)?;
        self.let_go()?;
        Ok(replies)
    }

    /// Executes a batch likewise if nobody has to be looked at for that: then it takes one read and
    /// one write. `None`: somebody would queue, or is told that there is no room. What was written
    /// is to be rolled back then.
    pub(super) fn call_plainly(&mut self, batch: &Batch) -> Result<Option<Replies>> {
        let replies = self.execute(batch)?;
        if replies.replies.iter().any(|reply| depends_on_holders(reply) || counts_waiters(reply)) {
            return Ok(None);
        }
        self.let_go()?;
        Ok(Some(replies))
    }

    /// Where a look found nothing, the calls of the next moment do not look: it takes two
    /// statements, and a call six.
    fn let_go(&mut self) -> Result<()> {
        let looked_at = self.known.around.found_nothing_at;
        if self.was_just_now(looked_at) {
            return Ok(());
        }
        // Both lists are read before anything is settled, because settling changes them.
        let (large, small) = (self.used_up_names()?, small::due(self.db, self.now, MOST_USED_UP)?);
        if large.is_empty() && small.is_empty() {
            looked_at.set(Some(self.now));
        }
        for name in large {
            self.settle(&nothing(name))?;
        }
        for name in small {
            self.look_at(&nothing(name))?;
        }
        Ok(())
    }

    fn was_just_now(&self, looked_at: &Cell<Option<Micros>>) -> bool {
        looked_at.get().is_some_and(|at| (at..at + LOOK_PAUSE).contains(&self.now))
    }

    /// Executes a batch. Before anybody is told that there is no room, or how many there are, those
    /// who hold and wait are looked at: a dead one makes room, and is not counted.
    fn call_alone(&mut self, batch: &Batch) -> Result<Replies> {
        let replies = self.execute(batch)?;
        let mut dead = Vec::new();
        if replies.replies.iter().any(depends_on_holders) {
            dead = self.dead_holders(&batch.name)?;
        }
        if replies.replies.iter().any(counts_waiters) {
            dead.extend(self.dead_waiters(&batch.name)?);
        }
        if dead.is_empty() {
            return Ok(replies);
        }
        // Some answers went by the dead. So the batch is executed anew, on what the burial leaves.
        self.start_again()?;
        for inbox in dead {
            self.bury(inbox)?;
        }
        self.execute(batch)
    }

    /// Several names at once. Before they are refused, those who hold are looked at.
    pub(super) fn call_together(&mut self, batches: &[Batch]) -> Result<Together> {
        let together = together::execute(batches, |batch| self.execute(batch))?;
        if matches!(together, Together::Granted(_)) {
            return Ok(together);
        }
        let mut dead = Vec::new();
        for batch in batches {
            dead.extend(self.dead_holders(&batch.name)?);
        }
        if dead.is_empty() {
            return Ok(together);
        }
        // The refusal may be the fault of the dead, so it is asked for again without them.
        self.start_again()?;
        for inbox in dead {
            self.bury(inbox)?;
        }
        together::execute(batches, |batch| self.execute(batch))
    }

    fn execute(&mut self, batch: &Batch) -> Result<Replies> {
        let mut state = NameState::open(self.db, &batch.name)?;
        let replies = self.execute_on(&mut state, batch)?;
        if self.known.around.stay == Stay::UntilExit {
            state.remember_for(A_WHILE, released_in(&replies));
        }
        state.keep(self.now)?;
        Ok(replies)
    }

    fn execute_on(&mut self, state: &mut NameState<'_>, batch: &Batch) -> Result<Replies> {
        let outcome = state.execute(&mut self.known, self.now, batch)?;
        if outcome.wakeups.iter().any(|wakeup| matches!(wakeup.what, What::Granted { .. })) {
            let first = state.first_waiting(1)?;
            let line_of = |inbox| (inbox, LineOf::Permits(batch.name.clone()));
            self.tell.watch.extend(first.into_iter().map(line_of));
        }
        self.tell.wakeups.extend(outcome.wakeups);
        Ok(outcome.replies)
    }

    /// Forgets what this turn has written so far.
    fn start_again(&mut self) -> Result<()> {
        self.tell = Tell::default();
        run(self.db, "ROLLBACK")?;
        run(self.db, "BEGIN IMMEDIATE")
    }

    fn dead_holders(&mut self, name: &Name) -> Result<Vec<Inbox>> {
        let state = NameState::open(self.db, name)?;
        let (line_of, around) = (LineOf::Permits(name.clone()), self.known.around);
        let list = |after, most| state.holding(after, most);
        let mut page = around.marks.turn_page(&line_of, around.me, MOST_HOLDERS, list)?;
        page.clients.retain(|inbox| self.known.contact(*inbox) == Contact::Dead);
        Ok(page.clients)
    }

    fn dead_waiters(&mut self, name: &Name) -> Result<Vec<Inbox>> {
        let mut waiting = NameState::open(self.db, name)?.waiting(MOST_WAITERS)?;
        waiting.retain(|inbox| self.known.contact(*inbox) == Contact::Dead);
        Ok(waiting)
    }

    /// Ends everything that a dead client has anywhere, and serves those who waited for it. Nothing
    /// is done to a client that is not dead.
    pub(super) fn bury(&mut self, inbox: Inbox) -> Result<()> {
        // Callers may go by what they saw outside the gate. What counts is what is seen inside.
        if self.known.contact(inbox) != Contact::Dead {
            return Ok(());
        }
        for name in self.names_of(inbox)? {
            let nothing = nothing(name);
            let mut state = NameState::open(self.db, &nothing.name)?;
            state.end_leases_of(inbox)?;
            self.settle_state(state, &nothing)?;
        }
        self.bury_worker(inbox)
    }

    fn names_of(&self, inbox: Inbox) -> Result<Vec<Name>> {
        let small = small::names_of(self.db, inbox)?;
        // A store that never had a large name or a queue has no such tables.
        if !tables::are_all_there(self.db)? {
            return Ok(small);
        }
        let sql =
            "SELECT name.name FROM name WHERE id IN (SELECT name FROM lease WHERE inbox = ?1)";
        let mut find = self.db.prepare_cached(sql)?;
        let names = find.query_map([bytes(inbox.0)], |row| read_name(row, 0))?;
        names.chain(small.into_iter().map(Ok)).collect()
    }

    /// Being looked at moves a name to the end of this list.
    fn used_up_names(&self) -> Result<Vec<Name>> {
        if !tables::are_all_there(self.db)? {
            return Ok(Vec::new());
        }
        let sql = "SELECT name FROM name INDEXED BY used_up \
            WHERE holders = 0 AND waiting = 0 AND (past > 0 OR pinned IS NULL AND paused IS NULL) \
            AND wall <= ?1 ORDER BY wall LIMIT ?2";
        let mut find = self.db.prepare_cached(sql)?;
        // SQLite's numbers are signed. Micros since 1970 stay far below the largest of them.
        let before = self.now.saturating_sub(LINGER) as i64;
        let names = find.query_map((before, MOST_USED_UP), |row| read_name(row, 0))?;
        names.collect()
    }

    /// Looks whether a small name can be forgotten.
    fn look_at(&mut self, nothing: &Batch) -> Result<()> {
        let state = NameState::open(self.db, &nothing.name)?;
        if state.is_at_rest() { self.settle_state(state, nothing) } else { state.keep(self.now) }
    }

    fn settle(&mut self, nothing: &Batch) -> Result<()> {
        let state = NameState::open(self.db, &nothing.name)?;
        self.settle_state(state, nothing)
    }

    fn settle_state(&mut self, mut state: NameState<'_>, nothing: &Batch) -> Result<()> {
        for _ in 0..MOST_CALLS {
            if !self.execute_on(&mut state, nothing)?.backlog {
                break;
            }
        }
        state.keep(self.now)
    }

    /// Returns whether it is this long since the dead were last cleared away; then it counts as
    /// done now.
    pub(super) fn take_sweep(&mut self, pause: Micros) -> Result<bool> {
        // `swept > ?1`: the clock was set back, and would hold up sweeps until it is there again.
        let sql = "UPDATE boot SET swept = ?1 WHERE swept > ?1 OR swept + ?2 <= ?1";
        Ok(self.db.execute(sql, (self.now as i64, pause as i64))? > 0)
    }
}

/// Does what is due at a name, for nobody.
fn nothing(name: Name) -> Batch {
    // An empty batch still settles the name before it answers.
    Batch { name, inbox: None, fence_seen: 0, requests: Vec::new() }
}

fn released_in(replies: &Replies) -> impl Iterator<Item = Ticket> {
    replies.replies.iter().filter_map(|reply| match reply {
        Reply::Released { ticket, left: 0 } => Some(*ticket),
        _ => None,
    })
}

fn depends_on_holders(reply: &Reply) -> bool {
    matches!(
        reply,
        Reply::Queued { .. }
            | Reply::Busy { why: Busy::Full | Busy::TooManyWaiting, .. }
            | Reply::Snapshot(_)
    )
}

fn counts_waiters(reply: &Reply) -> bool {
    matches!(reply, Reply::Busy { why: Busy::TooManyWaiting, .. } | Reply::Snapshot(_))
}
