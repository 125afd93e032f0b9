//! The clients whose death this client waits for: the holders of names at which its waiter is among
//! the first, and the workers of queues at which it is among the first idle workers. Where it
//! stands further back, it only looks whether those first ones live.

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

/// The most connections that are kept for watching. Further holders are looked at once a second.
const MOST_CONNECTIONS: usize = 256;

/// The most distinct holders of one name that are looked at in one call. The next call looks at the
/// next ones.
pub(super) const MOST_HOLDERS: usize = 256;
/// The number of clients at the head of a line that watch the holders. The clients behind them look
/// whether these few live.
pub(super) const WATCHERS: usize = 3;

/// The part of a line that a client sees.
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
    /// Reads which clients are first in line, and the next page of the clients that hold or work
    /// there.
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

    /// Watches the holders of a page at a line_of. It ends the watches at this site of other
    /// clients that the page covers. Returns the holders to which a connection failed. If there are
    /// too many connections, no more are tried.
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

    /// Ends all watches at other lines than these.
    pub(super) fn retain(&mut self, is_kept: impl Fn(&LineOf) -> bool) {
        self.wanted.retain(|line_of, _| is_kept(line_of));
        self.let_go();
    }

    /// Closes connections that no line_of needs. Another line_of may still want a client that one
    /// line_of does not want any more.
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

    /// Returns the connections to poll. A connection becomes readable when it is hung up.
    pub(super) fn connections(&self) -> Vec<(Inbox, Arc<OwnedFd>)> {
        self.connections.iter().map(|(inbox, it)| (*inbox, Arc::clone(it))).collect()
    }

    /// Drops the connections that hung up. Returns the lines at which those clients were watched.
    pub(super) fn take_hung_up(&mut self, hung_up: &[Inbox]) -> Vec<LineOf> {
        hung_up.iter().for_each(|inbox| drop(self.connections.remove(inbox)));
        let of_them = |holders: &BTreeSet<Inbox>| hung_up.iter().any(|it| holders.contains(it));
        let lines = self.wanted.iter().filter(|(_, holders)| of_them(holders));
        lines.map(|(line_of, _)| line_of.clone()).collect()
    }
}
