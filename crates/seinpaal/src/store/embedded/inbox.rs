//! The socket on which a client is told things, and from which it tells others.

use std::{
    io,
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd},
        unix::net::UnixDatagram,
    },
    path::PathBuf,
};

use rustix::fs::{AtFlags, chmodat};
use seinpaal_proto::Inbox;

use super::{directory::Directory, trouble, wire};
use crate::store::StoreError;

/// A full queue of a socket is this long at least; whoever finds so many may have missed some.
const SHORTEST_QUEUE: usize = 10;

/// This client's inbox.
#[derive(Debug)]
pub(super) struct InboxSocket {
    dir: Directory,
    inbox: Inbox,
    socket: UnixDatagram,
}

impl InboxSocket {
    /// Only inside the gate.
    pub(super) fn open(dir: &Directory, inbox: Inbox) -> Result<Self, StoreError> {
        let dir = dir.folder("inbox")?;
        let file = inbox.to_string();
        let socket = UnixDatagram::bind(short(&dir, inbox)).map_err(trouble::at(&dir.path))?;
        let own = Self { dir, inbox, socket };
        let dir = &own.dir;
        chmodat(dir.fd(), &*file, dir.file_mode(), AtFlags::empty())
            .map_err(trouble::at(&dir.path))?;
        own.socket.set_nonblocking(true).map_err(trouble::at(&dir.path))?;
        Ok(own)
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Never waits: with a full or a missing inbox the hint is lost.
    pub(super) fn send(&self, inbox: Inbox, datagram: &[u8]) {
        if let Err(error) = self.socket.send_to(datagram, short(&self.dir, inbox)) {
            tracing::trace!(%inbox, %error, "a hint was lost");
        }
    }

    /// All that has arrived.
    pub(super) fn receive(&self) -> Vec<wire::Message> {
        let mut messages = Vec::new();
        let mut buffer = vec![0; wire::BUFFER];
        let mut count = 0;
        while let Ok(length) = self.receive_one(&mut buffer) {
            count += 1;
            messages.extend(wire::decode(self.inbox, &buffer[..length]));
        }
        if count >= SHORTEST_QUEUE {
            messages.push(wire::Message::LookAgain);
        }
        messages
    }

    fn receive_one(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.socket.recv(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }

    /// Removes what a dead client left.
    pub(super) fn clear_away(&self, inbox: Inbox) {
        self.dir.unlink(&inbox.to_string());
    }
}

impl Drop for InboxSocket {
    fn drop(&mut self) {
        self.clear_away(self.inbox);
    }
}

/// A socket's path has at most 108 bytes and directories are longer; this is the same file.
fn short(dir: &Directory, inbox: Inbox) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}/{inbox}", dir.fd().as_raw_fd()))
}
