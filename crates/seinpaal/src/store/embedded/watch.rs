//! Whose death this client waits for: the ones who hold where its waiter is among the first.

use std::{
    collections::BTreeMap,
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    event::{PollFd, PollFlags},
    io::Errno,
};
use seinpaal_proto::{
    Inbox, Name,
    planted::{Bug, planted},
};

use super::{presence::Presences, rows::Rows, turn::MOST_HOLDERS};

/// The most pipes that are kept open for this. Those beyond it are looked at once a second.
const MOST_PIPES: usize = 256;

/// In line so far ahead, a client watches the holders.
const WATCHERS: u32 = 3;

/// The holders that are watched.
#[derive(Debug, Default)]
pub(super) struct Watches {
    wanted: BTreeMap<Name, Vec<Inbox>>,
    pipes: BTreeMap<Inbox, OwnedFd>,
}

impl Watches {
    /// Watches the holders of a name, and no others on its account; none at all forgets the name.
    /// Returns those that turn out to be dead already.
    pub(super) fn set(
        &mut self,
        name: &Name,
        holders: Vec<Inbox>,
        presences: &Presences,
    ) -> Vec<Inbox> {
        let before = self.wanted.get(name).map_or(&[][..], Vec::as_slice);
        if before == holders {
            return Vec::new();
        }
        let dead = holders.iter().filter(|inbox| self.open(**inbox, presences)).copied().collect();
        if holders.is_empty() {
            self.wanted.remove(name);
        } else {
            self.wanted.insert(name.clone(), holders);
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
            Ok(pipe) => self.pipes.insert(inbox, pipe).is_some(),
            Err(_) if planted(Bug::EmbeddedDeathUnseen) => false,
            Err(error) => matches!(error, Errno::NOENT | Errno::NXIO),
        }
    }

    /// What to poll, in the order of `dead`'s argument. The error that matters is always reported.
    pub(super) fn poll_fds(&self) -> impl Iterator<Item = PollFd<'_>> {
        self.pipes.values().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::empty()))
    }

    /// Takes out those whose pipes were reported.
    pub(super) fn take_dead(&mut self, reported: &[bool]) -> Vec<Inbox> {
        let inboxes = self.pipes.keys().zip(reported);
        let dead: Vec<Inbox> = inboxes.filter(|(_, is)| **is).map(|(inbox, _)| *inbox).collect();
        for inbox in &dead {
            self.pipes.remove(inbox);
            self.wanted.values_mut().for_each(|holders| holders.retain(|holder| holder != inbox));
        }
        dead
    }
}

/// The clients that hold at a name, if this one is among the first in line there.
pub(super) fn holders_to_watch(
    db: &rusqlite::Connection,
    name: &Name,
    me: Inbox,
) -> rusqlite::Result<Vec<Inbox>> {
    let rows = Rows::open(db, name)?;
    if !rows.first_waiting(WATCHERS)?.contains(&me) {
        return Ok(Vec::new());
    }
    let mut holders = rows.holding(MOST_HOLDERS)?;
    holders.retain(|inbox| *inbox != me);
    Ok(holders)
}
