//! Stores with a clock or a disk that a test chooses, or that look only when they are told, and a
//! check of every statement that a store runs. They exist only with the feature `rigged`, which no
//! released build has.

use std::{
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rusqlite::{
    Connection, StatementStatus,
    trace::{TraceEvent, TraceEventCodes},
};
use seinpaal_proto::Inbox;
use seinpaal_store::{NewsSender, StoreError, clock::Clock};

use crate::{EmbeddedStore, disk::WatchedDisk};

impl EmbeddedStore {
    /// Opens the store as [`open`](Self::open) does, with a clock that a test moves.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn open_with_clock(
        dir: &Path,
        clock: Clock,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_with(dir, clock, inbox, news, None)
    }

    /// Opens the store as [`open`](Self::open) does, with a disk that a test watches. The store
    /// calls `sync` where it would wait for the disk, and where it would write the log back.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn open_with_disk(
        dir: &Path,
        sync: impl FnMut() -> io::Result<()> + Send + 'static,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_with(dir, Clock::System, inbox, news, Some(Box::new(WatchedDisk(sync))))
    }
}

static LOOKS_ONLY_WHEN_TOLD: AtomicBool = AtomicBool::new(false);

impl EmbeddedStore {
    /// From now on no client of this process looks once a second whether the holders are alive. So
    /// a test that sees a death noticed knows that the client was told of it.
    pub fn look_only_when_told() {
        LOOKS_ONLY_WHEN_TOLD.store(true, Ordering::Relaxed);
    }
}

pub(crate) fn looks_only_when_told() -> bool {
    LOOKS_ONLY_WHEN_TOLD.load(Ordering::Relaxed)
}

/// The verbs of the statements that are checked. Statements that make tables sort them for their
/// indexes, but the tables are empty then.
const VERBS: [&str; 4] = ["SELECT", "INSERT", "UPDATE", "DELETE"];
/// The statements that end all leases after a reboot. They look through everything, but only once.
const AT_BOOT: [&str; 7] = [
    "SELECT coalesce(max(most), 0)",
    "SELECT id, state FROM small",
    "DELETE FROM name WHERE pinned IS NULL",
    "UPDATE name SET held = 0",
    "DELETE FROM queue WHERE ready = 0",
    "UPDATE queue SET idle = 0",
    "UPDATE item SET worker = zeroblob(16)",
];

/// Ends the process if a statement sorts rows or scans a table, because the cost of a call would
/// then grow with the size of the store (rule 18). SQLite calls this from C, so a panic would not
/// come through.
pub(crate) fn forbid_scans(db: &mut Connection) -> rusqlite::Result<()> {
    db.trace_v2(TraceEventCodes::SQLITE_TRACE_PROFILE, Some(refuse_scan))
}

fn refuse_scan(event: TraceEvent<'_>) {
    let TraceEvent::Profile(statement, _) = event else { return };
    let sql = statement.sql();
    let begins_with = |some: &[&str]| some.iter().any(|some| sql.trim_start().starts_with(some));
    let has_done = |what| statement.get_status(what) > 0;
    if begins_with(&VERBS)
        && !begins_with(&AT_BOOT)
        && (has_done(StatementStatus::Sort) || has_done(StatementStatus::FullscanStep))
    {
        eprintln!("this statement has no index to go by: {sql}");
        std::process::abort();
    }
}
