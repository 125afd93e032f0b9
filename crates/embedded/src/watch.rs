//! Whose death this client waits for: the ones who hold where its waiter is among the first, and the ones who
//! work at a queue where it is among the first idle workers.

use std::{collections::BTreeMap, os::fd::OwnedFd, sync::Arc};

use rustix::io::Errno;
use seinpaal_proto::{
    Inbox, Name,
    planted::{Bug, planted},
};

use super::{name_state::NameState, presence::Presences, rows::queue::QueueRows};

/// The most pipes that are kept open for this. Those beyond it are looked at once a second.
const MOST_PIPES: usize = 256;

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
pub(super) struct Watches {
    wanted: BTreeMap<QueuePosition, Vec<Inbox>>,
    pipes: BTreeMap<Inbox, Arc<OwnedFd>>,
}

impl Watches {
    /// Watches the holders at a site, and no others on its account; none at all forgets the site.
    /// Returns those that turn out to be dead already.
    pub(super) fn set(
        &mut self,
        site: &QueuePosition,
        holders: Vec<Inbox>,
        presences: &Presences,
    ) -> Vec<Inbox> {
        let before = self.wanted.get(site).map_or(&[][..], Vec::as_slice);
        if before == holders {
            return Vec::new();
        }
        let dead = holders.iter().filter(|inbox| self.open(**inbox, presences)).copied().collect();
        if holders.is_empty() {
            self.wanted.remove(site);
        } else {
            self.wanted.insert(site.clone(), holders);
        }
        let wanted = &self.wanted;
        self.pipes.retain(|inbox, _| wanted.values().any(|holders| holders.contains(inbox)));
        dead
    }

    /// Opens the pipe of a holder. Whether it has no reader any more.
    fn open(&mut self, inbox: Inbox, presences: &Presences) -> bool {
        if self.pipes.contains_key(&inbox) || self.pipes.len() >= MOST_PIPES {
            return false;
        }
        match presences.writer(inbox) {
            Ok(pipe) => self.pipes.insert(inbox, Arc::new(pipe)).is_some(),
            Err(_) if planted(Bug::EmbeddedDeathUnseen) => false,
            Err(error) => matches!(error, Errno::NOENT | Errno::NXIO),
        }
    }

    /// Whether anybody at this site is watched.
    pub(super) fn has(&self, site: &QueuePosition) -> bool {
        self.wanted.get(site).is_some_and(|holders| !holders.is_empty())
    }

    /// What to poll. The error that matters is always reported.
    pub(super) fn pipes(&self) -> Vec<(Inbox, Arc<OwnedFd>)> {
        self.pipes.iter().map(|(inbox, pipe)| (*inbox, Arc::clone(pipe))).collect()
    }

    /// Takes out those whose pipes were reported.
    pub(super) fn take_dead(&mut self, dead: &[Inbox]) {
        for inbox in dead {
            self.pipes.remove(inbox);
            self.wanted.values_mut().for_each(|holders| holders.retain(|holder| holder != inbox));
        }
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
