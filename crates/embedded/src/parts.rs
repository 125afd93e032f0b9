//! The parts of an open store, and the way into a call: through the gate, in one transaction.

mod found;

use std::{cell::Cell, path::Path, sync::Arc, time::Duration};

use rusqlite::{Connection, ErrorCode};
use seinpaal_proto::{Batch, Inbox, Replies, time::Micros};

use super::{
    boot::StoreClock,
    database::{self, Database, run},
    directory::Directory,
    gate::{Gate, GateWait},
    glance::Bystander,
    hangup::Watchers,
    inbox::InboxSocket,
    pages::PageMarks,
    presence::Presences,
    stay::Stay,
    trouble,
    turn::{Tell, Turn, TurnParts},
    wire,
};
use found::FoundParts;
pub(super) use found::Signs;
use seinpaal_store::{Certainty, Reading, StoreError, StoreErrorKind, boottime, clock::Clock};

/// Everything that the store's thread works with.
#[derive(Debug)]
pub(super) struct Parts {
    gate: Gate,
    database: Database,
    pub(super) presences: Presences,
    /// The connections of clients that watch this one.
    pub(super) watchers: Watchers,
    pub(super) socket: InboxSocket,
    clock: StoreClock,
    pub(super) me: Inbox,
    /// Whether the index was kept, so that the log was not read.
    pub(super) keeps_index: bool,
    stay: Stay,
    /// When a look last found no name that is no longer used, on the store's clock.
    pub(super) found_nothing_at: Cell<Option<Micros>>,
    /// When a look last found no queue that is no longer used, on the store's clock.
    pub(super) found_no_queue_at: Cell<Option<Micros>>,
    /// The pages at which the looks at holders and workers have stopped.
    pub(super) marks: PageMarks,
}

impl Parts {
    /// Opens all parts. If something is refused, nothing is left behind. Once the gate is left,
    /// other clients see this one as alive.
    pub(super) fn open(
        path: &Path,
        clock: Clock,
        me: Inbox,
        wait: Arc<GateWait>,
    ) -> Result<(Self, Signs), StoreError> {
        let dir = Directory::open(path)?;
        database::check(&dir)?;
        let gate = Gate::open(&dir, &me.to_string(), wait)?;
        let inside = gate.enter()?;
        let found = FoundParts::inside(&dir, clock, me, database::BUSY_TIMEOUT)?;
        drop(inside);
        Ok(found.at(gate, me, Stay::UntilDropped))
    }

    /// Opens all parts as [`open`](Self::open) does, but without waiting for anybody. `None`:
    /// somebody is in the way, nothing is there yet, or an error came up that [`open`](Self::open)
    /// will show again.
    pub(super) fn try_open(
        path: &Path,
        clock: Clock,
        me: Inbox,
        wait: Arc<GateWait>,
        stay: Stay,
    ) -> Option<(Self, Signs)> {
        let dir = Directory::open(path).ok()?;
        database::check(&dir).ok().filter(|is_there| *is_there)?;
        let gate = Gate::open(&dir, &me.to_string(), wait).ok()?;
        let inside = gate.try_enter()?;
        let found = match stay {
            Stay::UntilExit => FoundParts::inside_until_exit(&dir, clock, me, &inside),
            Stay::UntilDropped => FoundParts::inside(&dir, clock, me, Duration::ZERO),
        };
        let found = found.ok()?;
        drop(inside);
        // No foreign program was waited for so far. From now on calls wait for such programs, as
        // they always do.
        found.database.db.busy_timeout(database::BUSY_TIMEOUT).ok()?;
        Some(found.at(gate, me, stay))
    }

    /// Returns the path of the database, without symbolic links.
    pub(super) fn database(&self) -> &Path {
        &self.database.true_path
    }

    pub(super) fn connection(&mut self) -> &mut Connection {
        &mut self.database.db
    }

    pub(super) fn read_clock(&self) -> Reading {
        // The client's clock is read first, so that its instant lies before the reading of the
        // store's clock.
        let asked_at = boottime::now();
        Reading { shows: self.clock.now(), asked_at }
    }

    /// Does `work` as one step that takes effect whole or not at all, and then tells the clients
    /// that it concerns.
    pub(super) fn turn<T>(
        &self,
        mut work: impl FnMut(&mut Turn<'_>) -> rusqlite::Result<T>,
    ) -> Result<(T, Tell), StoreError> {
        let (done, tell) = match self.enter_and_step(&mut work) {
            // On a full disk the log cannot grow. Once it is written back it begins anew in the
            // room that it has, which is enough to renew leases and to give permits back.
            Err(error) if error.kind() == StoreErrorKind::Full => {
                self.write_back();
                self.enter_and_step(&mut work)?
            }
            done => done?,
        };
        self.send(&tell);
        Ok((done, tell))
    }

    /// Does `work` as [`turn`](Self::turn) does, but without waiting. `None`: nothing was done,
    /// because somebody is inside, `work` declined, or an error came up that the next attempt will
    /// show again.
    pub(super) fn try_turn<T>(
        &self,
        work: impl FnOnce(&mut Turn<'_>) -> rusqlite::Result<Option<T>>,
    ) -> Option<Result<(T, Tell), StoreError>> {
        let inside = self.gate.try_enter()?;
        let _no_busy_timeout = NoBusyTimeout::begin(&self.database.db)?;
        let mut turn = Turn::new(&self.database.db, self.around(), self.clock.now());
        self.run("BEGIN IMMEDIATE").ok()?;
        let Ok(Some(done)) = work(&mut turn) else {
            self.roll_back();
            return None;
        };
        if let Err(error) = self.run("COMMIT") {
            let error = self.undo(at_commit(&error), error);
            // If the commit did not take place, the thread executes the batch.
            return (error.certainty() == Certainty::Unknown).then_some(Err(error));
        }
        let tell = turn.tell;
        drop(inside);
        // The news are sent outside the gate, so that nobody waits for that. They are sent after
        // the commit, because the clients that get them may look for its effects at once.
        self.send(&tell);
        Some(Ok((done, tell)))
    }

    fn enter_and_step<T>(
        &self,
        work: &mut impl FnMut(&mut Turn<'_>) -> rusqlite::Result<T>,
    ) -> Result<(T, Tell), StoreError> {
        let _inside = self.gate.enter()?;
        self.step(work)
    }

    /// Does `work` in one transaction inside the gate.
    fn step<T>(
        &self,
        work: &mut impl FnMut(&mut Turn<'_>) -> rusqlite::Result<T>,
    ) -> Result<(T, Tell), StoreError> {
        let mut turn = Turn::new(&self.database.db, self.around(), self.clock.now());
        // `IMMEDIATE`, because a transaction that has only read cannot go on to write once a
        // foreign program has written.
        self.run("BEGIN IMMEDIATE").map_err(|error| self.undo(Certainty::NotExecuted, error))?;
        let done = work(&mut turn).map_err(|error| self.undo(Certainty::NotExecuted, error))?;
        self.run("COMMIT").map_err(|error| self.undo(at_commit(&error), error))?;
        Ok((done, turn.tell))
    }

    fn around(&self) -> TurnParts<'_> {
        let Self { presences, socket, found_nothing_at, found_no_queue_at, marks, .. } = self;
        let (me, stay) = (self.me, self.stay);
        TurnParts { presences, socket, me, stay, found_nothing_at, found_no_queue_at, marks }
    }

    /// Reads without waiting at the gate. The result may be out of date by the time it is used.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        work(&self.database.db).map_err(|error| self.trouble(Certainty::NotExecuted, error))
    }

    /// Looks at each name without waiting at the gate, and writes nothing. `None`: only an
    /// inspection can tell.
    pub(super) fn glance(&self, batches: &[Batch]) -> Result<Vec<Option<Replies>>, StoreError> {
        let (now, mut bystander) = (self.clock.now(), Bystander::new(&self.presences, self.me));
        let seen = self.read(|db| {
            // One transaction shows all names as they are at one moment.
            run(db, "BEGIN")?;
            batches.iter().map(|batch| bystander.glance(db, now, batch)).collect()
        });
        self.roll_back();
        seen
    }

    /// Returns how many pages the log had when this client last committed.
    pub(super) fn log_pages(&self) -> u32 {
        self.database.log_pages()
    }

    /// Writes the log back into the database, as far as no other client is in the way. Never call
    /// it inside the gate, because it waits for the disk.
    fn write_back(&self) {
        if let Err(error) = self.run("PRAGMA wal_checkpoint(PASSIVE)") {
            tracing::debug!(target: crate::TARGET, %error, "the log could not be written back");
        }
    }

    /// Sends the news of a turn to other clients, by datagram.
    fn send(&self, tell: &Tell) {
        for (inbox, name, wakeups) in tell.by_inbox(self.me) {
            self.socket.send(inbox, &wire::encode_wakeups(name, &wakeups));
        }
        for (inbox, name, wakeups) in tell.queues_by_inbox(self.me) {
            self.socket.send(inbox, &wire::encode_queue_wakeups(name, &wakeups));
        }
        for (inbox, line_of) in tell.watch.iter().filter(|(inbox, _)| *inbox != self.me) {
            self.socket.send(*inbox, &wire::encode_watch(line_of));
        }
    }

    fn undo(&self, certainty: Certainty, error: rusqlite::Error) -> StoreError {
        let trouble = self.trouble(certainty, error);
        self.roll_back();
        trouble
    }

    fn roll_back(&self) {
        // Some errors have already rolled back. Then there is nothing to undo.
        if !self.database.db.is_autocommit() {
            let _ = self.run("ROLLBACK");
        }
    }

    fn run(&self, sql: &str) -> rusqlite::Result<()> {
        run(&self.database.db, sql)
    }

    fn trouble(&self, certainty: Certainty, error: rusqlite::Error) -> StoreError {
        trouble::sql(&self.database.path, certainty, error)
    }
}

/// A connection that does not wait for foreign programs that have the database locked.
struct NoBusyTimeout<'a>(&'a Connection);

impl<'a> NoBusyTimeout<'a> {
    fn begin(db: &'a Connection) -> Option<Self> {
        db.busy_timeout(Duration::ZERO).ok().map(|()| Self(db))
    }
}

impl Drop for NoBusyTimeout<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.0.busy_timeout(database::BUSY_TIMEOUT) {
            tracing::debug!(target: crate::TARGET, %error, "a connection stays without its busy timeout");
        }
    }
}

/// Returns whether it is certain that a failed commit did not take place. The last page of a commit
/// in the log says that all pages before it count. SQLite reports `FULL` if a page did not fit, so
/// the last page was not written.
fn at_commit(error: &rusqlite::Error) -> Certainty {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Certainty::NotExecuted,
        _ => Certainty::Unknown,
    }
}
