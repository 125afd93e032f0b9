//! Carries out changes. Each change gets its entry in the audit, even if the client leaves or this
//! program ends.

use std::{io, sync::Arc};

use crate::{
    access::Visitor,
    audit::{self, AuditEntry},
    deed::{Done, Undone, WebDeed},
    shared::HandlerState,
};

/// Makes the change, and writes down who made it and why, or why it was not made.
///
/// A separate task does both. So no change lacks its entry if the client breaks off, or if the
/// request takes too long.
pub(crate) async fn carry_out(
    deed: WebDeed,
    inner: &Arc<HandlerState>,
    visitor: &Visitor,
    name: &str,
    reason: &str,
) -> Result<Done, Undone> {
    let (entry, visitor) =
        (EntryToWrite::new(&deed, inner, visitor, name, reason), visitor.clone());
    let change = tokio::spawn(async move {
        let of = &entry.entry;
        let done = deed.make(&entry.inner, &visitor, &of.name, &of.reason).await;
        let noted = entry.write(&done);
        // If the change was not made, that error matters more than a failure to write the entry.
        let done = done?;
        noted.map(|()| done).map_err(Undone::Unwritten)
    });
    change.await.unwrap_or(Err(Undone::BrokenOff))
}

/// The entry of a change that is under way. It is written in any case. If the change is dropped
/// with the runtime, the entry says that the outcome is unknown.
struct EntryToWrite {
    inner: Arc<HandlerState>,
    entry: AuditEntry,
    is_written: bool,
}

impl EntryToWrite {
    fn new(
        deed: &WebDeed,
        inner: &Arc<HandlerState>,
        visitor: &Visitor,
        name: &str,
        reason: &str,
    ) -> Self {
        inner.changes.begin();
        let entry = AuditEntry {
            at: String::new(),
            who: visitor.who.clone(),
            kind: deed.kind(),
            name: name.to_owned(),
            what: deed.to_string(),
            reason: reason.to_owned(),
            // This stands if the change is dropped before `write` knows its outcome.
            result: Undone::BrokenOff.to_string(),
        };
        Self { inner: Arc::clone(inner), entry, is_written: false }
    }

    fn write(mut self, done: &Result<Done, Undone>) -> io::Result<()> {
        self.entry.result = done.as_ref().err().map_or_else(String::new, ToString::to_string);
        if let Ok(Some(items)) = done {
            let unit = if *items == 1 { "item" } else { "items" };
            self.entry.what += &format!(": {items} {unit}");
        }
        self.note()
    }

    fn note(&mut self) -> io::Result<()> {
        self.is_written = true;
        self.inner.audit.note(AuditEntry { at: audit::now(), ..self.entry.clone() })
    }
}

impl Drop for EntryToWrite {
    fn drop(&mut self) {
        if !self.is_written {
            // A failure cannot be reported, because the request has ended.
            let _ = self.note();
        }
        self.inner.changes.end();
    }
}
