//! The audit: a record of each change, with its author and its reason. The last changes are in
//! memory. If the options name a file, all changes are in it.

use std::{
    collections::VecDeque,
    fs::{File, OpenOptions},
    io::Write,
    path::Path,
    sync::{Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use seinpaal_words::{calendar::instant, text::plain};
use serde::Serialize;

use crate::options::BadOption;

/// How many changes are kept in memory.
const KEPT: usize = 500;

/// A change, or an attempt at one.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct AuditEntry {
    /// The moment of the change, in UTC.
    pub(crate) at: String,
    pub(crate) who: String,
    /// `name` or `queue`.
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    /// The action, and its target.
    pub(crate) what: String,
    pub(crate) reason: String,
    /// The reason why the change failed. Empty: it was made.
    #[serde(rename = "error")]
    pub(crate) result: String,
}

impl AuditEntry {
    /// Returns the entry for a page, without characters that could turn a line around.
    fn shown(&self) -> Self {
        let shown = |text: &str| plain(text).into_owned();
        Self {
            who: shown(&self.who),
            name: shown(&self.name),
            what: shown(&self.what),
            reason: shown(&self.reason),
            result: shown(&self.result),
            ..self.clone()
        }
    }
}

/// All changes of this program.
pub(crate) struct Audit {
    changes: Mutex<VecDeque<AuditEntry>>,
    file: Option<Mutex<File>>,
}

impl Audit {
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, BadOption> {
        let open = |path: &Path| {
            let file = OpenOptions::new().append(true).create(true).open(path);
            file.map(Mutex::new).map_err(|error| BadOption::Audit(path.to_owned(), error))
        };
        Ok(Self { changes: Mutex::default(), file: path.map(open).transpose()? })
    }

    /// Writes a change down, first to the file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn note(&self, change: AuditEntry) -> std::io::Result<()> {
        let written = self.append(&change);
        // The change was made, so it is noted here even if the file could not be written.
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        changes.truncate(KEPT - 1);
        changes.push_front(change);
        written
    }

    fn append(&self, change: &AuditEntry) -> std::io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let mut line = serde_json::to_vec(change)?;
        line.push(b'\n');
        file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line)
    }

    /// Returns the last changes for a page, the newest first: all changes, or those of one name or
    /// queue.
    pub(crate) fn last(&self, of: Option<(&str, &str)>, most: usize) -> Vec<AuditEntry> {
        let changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = changes.iter().filter(|change| {
            of.is_none_or(|(kind, name)| change.kind == kind && change.name == name)
        });
        wanted.take(most).map(AuditEntry::shown).collect()
    }
}

/// Returns this moment, as `2026-11-23T04:12:09Z`.
pub(crate) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    instant(since.as_secs())
}
