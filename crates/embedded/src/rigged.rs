//! Stores under a clock or on a disk that a test chooses, or that look only when they are told, and
//! a check of every statement that a store runs. Only with the feature `rigged`, which no build
//! that is used has.

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
    /// As [`open`](Self::open), with a clock that a test moves.
    ///
    /// # Errors
    /// As there.
    pub fn open_with_clock(
        dir: &Path,
        clock: Clock,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_with(dir, clock, inbox, news, None)
    }

    /// As [`open`](Self::open), with a disk that a test watches: `sync` is called where all that
    /// was written is to be kept, and where the log would be written back.
    ///
    /// # Errors
    /// As there.
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
    /// From now on no client of this process looks once a second whether those who hold are alive.
    /// So a test that sees a death noticed knows that the death was told.
    pub fn look_only_when_told() {
        LOOKS_ONLY_WHEN_TOLD.store(true, Ordering::Relaxed);
    }
}

pub(crate) fn looks_only_when_told() -> bool {
    LOOKS_ONLY_WHEN_TOLD.load(Ordering::Relaxed)
}

/// The verbs of the statements that are looked at. What makes the tables sorts them for their
/// indexes, and they are empty then.
const VERBS: [&str; 4] = ["SELECT", "INSERT", "UPDATE", "DELETE"];
/// After a reboot all leases are ended, once, so everything is looked through.
const AT_BOOT: [&str; 7] = [
    "SELECT coalesce(max(most), 0)",
    "SELECT id, state FROM small",
    "DELETE FROM name WHERE pinned IS NULL",
    "UPDATE name SET held = 0",
    "DELETE FROM queue WHERE ready = 0",
    "UPDATE queue SET idle = 0",
    "UPDATE item SET worker = zeroblob(16)",
];

/// Ends the process if a statement sorts rows or goes through a table: the cost of a call would
/// grow with what is stored (rule 18). SQLite calls this from C, so a panic would not come through.
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
