//! The clients whose death this client waits for: those that hold where its waiter is among the
//! first, and those that work at a queue where it is among the first idle workers. Where it stands
//! further back, it only looks whether those first ones live.

use std::{
    collections::{BTreeMap, BTreeSet},
    os::fd::OwnedFd,
    sync::Arc,
};

use seinpaal_proto::Inbox;

use super::{
    line::LineOf,
    name_state::NameState,
    pages::{ClientPage, PageMarks},
    presence::Presences,
    rows::queue::QueueRows,
};

/// The most connections that are kept for this. Those beyond it are looked at once a second.
const MOST_CONNECTIONS: usize = 256;

/// The most distinct holders of one name that are looked at in one call. The next call looks at the
/// next ones.
pub(super) const MOST_HOLDERS: usize = 256;
/// So many clients at the head of a line watch the holders, and are looked at by those behind.
pub(super) const WATCHERS: usize = 3;

/// What a client sees of a line.
#[derive(Debug)]
pub(super) struct LineInView {
    /// The first clients in line.
    pub(super) first: Vec<Inbox>,
    /// Some of the clients that hold or work.
    pub(super) holders: ClientPage,
}

/// The holders that are watched.
#[derive(Debug, Default)]
pub(super) struct HolderWatches {
    wanted: BTreeMap<LineOf, BTreeSet<Inbox>>,
    connections: BTreeMap<Inbox, Arc<OwnedFd>>,
    marks: PageMarks,
}

impl HolderWatches {
    /// Looks who is first in line, and at the next page of those who hold or work there.
    pub(super) fn look(
        &self,
        db: &rusqlite::Connection,
        line_of: &LineOf,
        me: Inbox,
    ) -> rusqlite::Result<LineInView> {
        match line_of {
            LineOf::Permits(name) => {
                let rows = NameState::open(db, name)?;
                let list = |after, most| rows.holding(after, most);
                let holders = self.marks.turn_page(line_of, me, MOST_CONNECTIONS, list)?;
                Ok(LineInView { first: rows.first_waiting(WATCHERS)?, holders })
            }
            LineOf::Items(name) => {
                let rows = QueueRows::open(db, name)?;
                let list = |after, most| rows.workers(after, most);
                let holders = self.marks.turn_page(line_of, me, MOST_CONNECTIONS, list)?;
                Ok(LineInView { first: rows.first_idle(WATCHERS)?, holders })
            }
        }
    }

    /// Watches the holders of a page at a line_of, and on its account no others that the page covers.
    /// Returns those to whom a connection failed. Beyond the most connections none is tried.
    pub(super) fn set(
        &mut self,
        line_of: &LineOf,
        page: &ClientPage,
        presences: &Presences,
    ) -> Vec<Inbox> {
        let is_missed = |inbox: &Inbox| !self.connect(*inbox, presences);
        let missed = page.clients.iter().copied().filter(is_missed).collect();
        let mut wanted = self.wanted.remove(line_of).unwrap_or_default();
        wanted.retain(|inbox| !page.covers(*inbox));
        let is_watched = |inbox: &Inbox| self.connections.contains_key(inbox);
        wanted.extend(page.clients.iter().copied().filter(is_watched));
        if !wanted.is_empty() {
            self.wanted.insert(line_of.clone(), wanted);
        }
        self.let_go();
        missed
    }

    /// Watches nobody on account of other lines than these.
    pub(super) fn retain(&mut self, is_kept: impl Fn(&LineOf) -> bool) {
        self.wanted.retain(|line_of, _| is_kept(line_of));
        self.let_go();
    }

    /// Another line_of may still want a client that is not wanted at one any more.
    fn let_go(&mut self) {
        let wanted = &self.wanted;
        self.connections.retain(|inbox, _| wanted.values().any(|holders| holders.contains(inbox)));
    }

    /// Returns whether a holder is watched, or there are too many to watch.
    fn connect(&mut self, inbox: Inbox, presences: &Presences) -> bool {
        if self.connections.contains_key(&inbox) || self.connections.len() >= MOST_CONNECTIONS {
            return true;
        }
        let connection = presences.watch(inbox);
        connection.is_ok_and(|it| self.connections.insert(inbox, Arc::new(it)).is_none())
    }

    /// The connections to poll. One becomes readable when it is hung up.
    pub(super) fn connections(&self) -> Vec<(Inbox, Arc<OwnedFd>)> {
        self.connections.iter().map(|(inbox, it)| (*inbox, Arc::clone(it))).collect()
    }

    /// Lets go of those that hung up. Returns the lines where they were watched.
    pub(super) fn take_hung_up(&mut self, hung_up: &[Inbox]) -> Vec<LineOf> {
        hung_up.iter().for_each(|inbox| drop(self.connections.remove(inbox)));
        let of_them = |holders: &BTreeSet<Inbox>| hung_up.iter().any(|it| holders.contains(it));
        let lines = self.wanted.iter().filter(|(_, holders)| of_them(holders));
        lines.map(|(line_of, _)| line_of.clone()).collect()
    }
}
