//! The socket at which a client listens for news, and from which it sends news to others.

use std::{io, os::unix::net::UnixDatagram, process, sync::Arc};

use seinpaal_proto::Inbox;

use super::{directory::Directory, socket, trouble, wire};
use seinpaal_store::StoreError;

/// The queue of a socket has room for at least this many datagrams. A client that finds as many may
/// have missed some.
const SHORTEST_QUEUE: usize = 10;

/// This client's inbox.
#[derive(Debug)]
pub(super) struct InboxSocket {
    dir: Arc<Directory>,
    inbox: Inbox,
    socket: Arc<UnixDatagram>,
}

impl InboxSocket {
    /// Opens the inbox. Call it only inside the gate.
    pub(super) fn open(dir: &Directory, inbox: Inbox) -> Result<(Self, InboxAddress), StoreError> {
        let dir = Arc::new(dir.folder("inbox")?);
        let (socket, address) = bind(dir, inbox)?;
        let socket = Arc::new(socket);
        Ok((Self { dir: Arc::clone(&address.dir), inbox, socket }, address))
    }

    /// Returns the descriptor that `poll` finds readable when something has arrived.
    pub(super) fn fd(&self) -> Arc<UnixDatagram> {
        Arc::clone(&self.socket)
    }

    /// Sends a hint without waiting. If the inbox is full or missing, the hint is lost.
    pub(super) fn send(&self, inbox: Inbox, datagram: &[u8]) {
        let address = socket::path(&self.dir, &inbox.to_string());
        if let Err(error) = self.socket.send_to(datagram, address) {
            tracing::trace!(target: crate::TARGET, %inbox, %error, "a hint was lost");
        }
    }

    /// Returns all messages that have arrived.
    pub(super) fn receive(&self) -> Vec<wire::Message> {
        let mut messages = Vec::new();
        let mut buffer = vec![0; wire::BUFFER];
        let mut count = 0;
        // The socket does not block, so an error says that no message is left.
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

    /// Returns the clients that have a socket here, dead or alive.
    pub(super) fn all(&self) -> impl Iterator<Item = Inbox> {
        self.dir.clients()
    }

    /// Removes the socket that a dead client left.
    pub(super) fn clear_away(&self, inbox: Inbox) {
        self.dir.unlink(&inbox.to_string());
    }
}

/// The name of this client's socket in the directory. The thread that drops this removes the name.
/// It need not be the store's own thread, which may stand at the gate and never come to it.
#[derive(Debug)]
pub(super) struct InboxAddress {
    dir: Arc<Directory>,
    inbox: Inbox,
    process: u32,
}

impl Drop for InboxAddress {
    fn drop(&mut self) {
        // After a fork a child has our memory, but the address belongs to its parent.
        if self.process == process::id() {
            self.dir.unlink(&self.inbox.to_string());
        }
    }
}

fn bind(dir: Arc<Directory>, inbox: Inbox) -> Result<(UnixDatagram, InboxAddress), StoreError> {
    let socket = UnixDatagram::bind(socket::path(&dir, &inbox.to_string()))
        .map_err(trouble::at(&dir.path))?;
    let address = InboxAddress { dir, inbox, process: process::id() };
    let ready = socket::let_in(&address.dir, &inbox.to_string())
        .and_then(|()| socket.set_nonblocking(true));
    ready.map_err(trouble::at(&address.dir.path))?;
    Ok((socket, address))
}
