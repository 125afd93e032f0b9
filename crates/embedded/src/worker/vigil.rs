//! The wait of a store's thread: for its callers, for hints, and for the death of the clients that
//! it watches. The wait needs no part of the worker, so a caller may enter meanwhile.

use std::{
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixDatagram,
    },
    sync::Arc,
    time::Instant,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    time::Timespec,
};
use seinpaal_proto::Inbox;

use super::Bell;

/// The descriptors that the thread waits for.
pub(super) struct PolledDescriptors {
    pub(super) bell: Arc<Bell>,
    pub(super) socket: Arc<UnixDatagram>,
    pub(super) connections: Vec<(Inbox, Arc<OwnedFd>)>,
    pub(super) until: Option<Instant>,
}

/// The result of `poll`.
#[derive(Debug, Default)]
pub(super) struct Ready {
    pub(super) hints: bool,
    pub(super) hung_up: Vec<Inbox>,
}

impl PolledDescriptors {
    /// Waits. If a signal interrupts the wait, it finds nothing, and everything is looked at again.
    pub(super) fn keep(self) -> Ready {
        let Self { bell, socket, connections, until } = self;
        let mut fds = vec![
            PollFd::from_borrowed_fd(bell.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN),
        ];
        let watched = |it| PollFd::from_borrowed_fd(it, PollFlags::IN);
        fds.extend(connections.iter().map(|(_, it)| watched(it.as_fd())));
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        if poll(&mut fds, timeout.as_ref()).is_err() {
            return Ready::default();
        }
        let reported: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        if reported[0] {
            bell.hear();
        }
        let connections = connections.iter().zip(&reported[2..]);
        let hung_up = connections.filter(|(_, is)| **is).map(|((inbox, _), _)| *inbox).collect();
        Ready { hints: reported[1], hung_up }
    }
}
