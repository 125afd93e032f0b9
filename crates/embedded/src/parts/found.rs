//! The parts that are opened inside the gate, before others see this client as alive.

use std::{cell::Cell, os::fd::OwnedFd, sync::Arc, time::Duration};

use seinpaal_proto::Inbox;
use seinpaal_store::{Certainty, StoreError, clock::Clock};

use super::Parts;
use crate::{
    boot::{self, StoreClock},
    database::{self, Database},
    directory::Directory,
    gate::{Gate, InsideGate},
    hangup::Watchers,
    inbox::{InboxAddress, InboxSocket},
    index,
    pages::PageMarks,
    presence::{OwnPresence, Presences},
    stay::Stay,
    trouble,
};

/// The files by which this client shows itself in the directory. They are removed when this is
/// dropped, whatever the store's thread is doing.
#[derive(Debug)]
pub(crate) struct Signs {
    pub(crate) presence: OwnPresence,
    pub(crate) gate: Arc<OwnedFd>,
    _address: InboxAddress,
}

/// The parts that are opened inside the gate.
pub(super) struct FoundParts {
    pub(super) database: Database,
    presences: Presences,
    presence: OwnPresence,
    watchers: Watchers,
    socket: InboxSocket,
    address: InboxAddress,
    clock: StoreClock,
    keeps_index: bool,
}

impl FoundParts {
    pub(super) fn inside(
        dir: &Directory,
        clock: Clock,
        me: Inbox,
        busy_timeout: Duration,
    ) -> Result<Self, StoreError> {
        Self::of_boot(dir, clock, me, busy_timeout, &boot::boot_id()?)
    }

    /// Opens these parts in a process that ends with the store. Then the index of the log need not
    /// be made anew.
    pub(super) fn inside_until_exit(
        dir: &Directory,
        clock: Clock,
        me: Inbox,
        inside: &InsideGate<'_>,
    ) -> Result<Self, StoreError> {
        let boot = boot::boot_id()?;
        let is_known = index::mark(dir, &boot).is_some_and(|mark| inside.has_note(&mark));
        let is_kept = is_known && index::keep(dir);
        let found = Self::of_boot(dir, clock, me, Duration::ZERO, &boot).inspect_err(|_| {
            inside.note(""); // the next client does not keep the index, which may be the cause
        })?;
        let found = Self { keeps_index: is_kept, ..found };
        // By now SQLite has made the index, or another client that has the database open did.
        // Either happened in this boot.
        if !is_kept && let Some(mark) = index::mark(dir, &boot) {
            inside.note(&mark);
        }
        Ok(found)
    }

    /// Opens the parts, and begins a new boot if this is one.
    fn of_boot(
        dir: &Directory,
        clock: Clock,
        me: Inbox,
        busy_timeout: Duration,
        boot: &str,
    ) -> Result<Self, StoreError> {
        let database = database::open(dir, &me.to_string(), busy_timeout)?;
        let place = database.path.parent().unwrap_or(&database.path);
        boot::refuse_other_times(&database.db, place, boot)?;
        let clock = boot::begin(&database.db, boot, clock)
            .map_err(|error| trouble::sql(&database.path, Certainty::NotExecuted, error))?;
        let presences = Presences::open(dir)?;
        let presence = presences.show(me)?;
        let watchers = Watchers::new(presence.listener());
        let (socket, address) = InboxSocket::open(dir, me)?;
        let keeps_index = false;
        Ok(Self { database, presences, presence, watchers, socket, address, clock, keeps_index })
    }

    pub(super) fn at(self, gate: Gate, me: Inbox, stay: Stay) -> (Parts, Signs) {
        let Self { database, presences, presence, watchers, socket, address, clock, keeps_index } =
            self;
        let gate_fd = gate.fd();
        let parts = Parts {
            gate,
            database,
            presences,
            watchers,
            socket,
            clock,
            me,
            keeps_index,
            stay,
            found_nothing_at: Cell::new(None),
            found_no_queue_at: Cell::new(None),
            marks: PageMarks::default(),
        };
        (parts, Signs { presence, gate: gate_fd, _address: address })
    }
}
