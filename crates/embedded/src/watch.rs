//! The clients whose death this client waits for: those that hold where its waiter is among the
//! first, and those that work at a queue where it is among the first idle workers.

use std::{collections::BTreeMap, os::fd::OwnedFd, sync::Arc};

use seinpaal_proto::{Inbox, Name};

use super::{name_state::NameState, presence::Presences, rows::queue::QueueRows};

/// The most connections that are kept for this. Those beyond it are looked at once a second.
const MOST_CONNECTIONS: usize = 256;

/// The most distinct holders of one name that are looked at in one call.
pub(super) const MOST_HOLDERS: usize = 64;
/// In line so far ahead, a client watches the holders.
const WATCHERS: u32 = 3;

/// Where a client stands in line.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum QueuePosition {
    /// For permits of this name. Watched are those who hold some.
    Permits(Name),
    /// For items of this queue. Watched are those who work on some.
    Items(Name),
}

/// The holders that are watched.
#[derive(Debug, Default)]
pub(super) struct HolderWatches {
    wanted: BTreeMap<QueuePosition, Vec<Inbox>>,
    connections: BTreeMap<Inbox, Arc<OwnedFd>>,
}

impl HolderWatches {
    /// Watches the holders at a site, and no others on its account; none at all forgets the site.
    /// Returns those to whom a connection failed. Beyond the most connections none is tried.
    pub(super) fn set(
        &mut self,
        site: &QueuePosition,
        holders: Vec<Inbox>,
        presences: &Presences,
    ) -> Vec<Inbox> {
        let is_missed = |inbox: &Inbox| !self.connect(*inbox, presences);
        let missed = holders.iter().copied().filter(is_missed).collect();
        if holders.is_empty() {
            self.wanted.remove(site);
        } else {
            self.wanted.insert(site.clone(), holders);
        }
        let wanted = &self.wanted;
        // Another site may still want a client that is not wanted here any more.
        self.connections.retain(|inbox, _| wanted.values().any(|holders| holders.contains(inbox)));
        missed
    }

    /// Returns whether a holder is watched, or there are too many to watch.
    fn connect(&mut self, inbox: Inbox, presences: &Presences) -> bool {
        if self.connections.contains_key(&inbox) || self.connections.len() >= MOST_CONNECTIONS {
            return true;
        }
        let connection = presences.watch(inbox);
        connection.is_ok_and(|it| self.connections.insert(inbox, Arc::new(it)).is_none())
    }

    /// Returns whether anybody at this site is watched.
    pub(super) fn has(&self, site: &QueuePosition) -> bool {
        self.wanted.get(site).is_some_and(|holders| !holders.is_empty())
    }

    /// The connections to poll. One becomes readable when it is hung up.
    pub(super) fn connections(&self) -> Vec<(Inbox, Arc<OwnedFd>)> {
        self.connections.iter().map(|(inbox, it)| (*inbox, Arc::clone(it))).collect()
    }

    /// Lets go of those that hung up. Returns the sites where they were watched.
    pub(super) fn take_hung_up(&mut self, hung_up: &[Inbox]) -> Vec<QueuePosition> {
        hung_up.iter().for_each(|inbox| drop(self.connections.remove(inbox)));
        let of_them = |holders: &[Inbox]| holders.iter().any(|inbox| hung_up.contains(inbox));
        let sites = self.wanted.iter().filter(|(_, holders)| of_them(holders));
        sites.map(|(site, _)| site.clone()).collect()
    }
}

/// The clients that hold or work at a site, if this one is among the first in line there.
pub(super) fn holders_to_watch(
    db: &rusqlite::Connection,
    site: &QueuePosition,
    me: Inbox,
) -> rusqlite::Result<Vec<Inbox>> {
    let (line, mut holders) = match site {
        QueuePosition::Permits(name) => {
            let rows = NameState::open(db, name)?;
            (rows.first_waiting(WATCHERS)?, rows.holding(MOST_HOLDERS)?)
        }
        QueuePosition::Items(name) => {
            let rows = QueueRows::open(db, name)?;
            (rows.first_idle(WATCHERS)?, rows.workers(MOST_HOLDERS)?)
        }
    };
    if !line.contains(&me) {
        return Ok(Vec::new());
    }
    holders.retain(|inbox| *inbox != me);
    Ok(holders)
}
