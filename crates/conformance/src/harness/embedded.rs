//! The embedded store under test, in a directory of its own.

use std::{
    io::{self, Write},
    process,
    sync::{Arc, atomic::AtomicU64},
};

use rusqlite::{
    Connection, StatementStatus,
    trace::{TraceEvent, TraceEventCodes},
};
use seinpaal::store::{
    BoxFuture, NewsSender, Store,
    clock::Clock,
    embedded::{EmbeddedStore, OpenOptions},
};
use seinpaal_proto::{Contact, Inbox};
use tempfile::TempDir;

use super::{Ability, Harness, memory::BEGINNING};

/// A directory of its own, with a clock that the case sets.
#[derive(Debug)]
pub struct EmbeddedHarness {
    dir: TempDir,
    clock: Arc<AtomicU64>,
}

impl EmbeddedHarness {
    /// Makes a new directory.
    ///
    /// # Panics
    /// If no directory can be made.
    #[must_use]
    pub fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        Self { dir, clock: Arc::new(AtomicU64::new(BEGINNING)) }
    }
}

impl Default for EmbeddedHarness {
    fn default() -> Self {
        Self::new()
    }
}

impl Harness for EmbeddedHarness {
    fn open(&self, inbox: Inbox, news: NewsSender) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(async move {
            let options = OpenOptions {
                on_connection: Some(forbid_scans),
                ..OpenOptions::with_clock(Clock::Manual(Arc::clone(&self.clock)))
            };
            let store = EmbeddedStore::open_with(self.dir.path(), options, inbox, news);
            store.unwrap_or_else(|error| panic!("{error}")) as Arc<dyn Store>
        })
    }

    fn clock(&self) -> &AtomicU64 {
        &self.clock
    }

    fn contact(&self) -> Contact {
        Contact::Alive
    }

    fn lacks(&self, ability: Ability) -> Option<&'static str> {
        match ability {
            Ability::EndsLivingLeases => {
                Some("the kernel vouches for the holder: its lease lasts for as long as it lives")
            }
            Ability::LosesSubscriptions => {
                Some("there is no subscription: a client that is present in the directory is heard")
            }
            _ => None,
        }
    }
}

/// The verbs of the statements that are checked. Statements that make tables sort them for their
/// indexes, but the tables are empty then.
const VERBS: [&str; 4] = ["SELECT", "INSERT", "UPDATE", "DELETE"];

/// Ends the process if a statement of this connection sorts rows or scans a table, because the cost
/// of a call would then grow with the size of the store (rule 18). For `OpenOptions::on_connection`.
///
/// # Panics
/// If SQLite refuses to report its statements.
pub fn forbid_scans(db: &mut Connection) {
    db.trace_v2(TraceEventCodes::SQLITE_TRACE_PROFILE, Some(refuse_scan))
        .expect("SQLite reports its statements");
}

fn refuse_scan(event: TraceEvent<'_>) {
    let TraceEvent::Profile(statement, _) = event else { return };
    let sql = statement.sql();
    let is_checked = VERBS.iter().any(|verb| sql.trim_start().starts_with(verb));
    let has_done = |what| statement.get_status(what) > 0;
    if is_checked && (has_done(StatementStatus::Sort) || has_done(StatementStatus::FullscanStep)) {
        // SQLite calls this from C, so a panic would not come through. `eprintln!` would be lost
        // with the output that the test harness has captured.
        let _ = writeln!(io::stderr(), "this statement has no index to go by: {sql}");
        process::abort();
    }
}
