//! Hang-ups of stream sockets, by which a client hears at once that another one may be gone.
//!
//! Each client listens at a socket of its own, and the clients that watch it connect. Nobody
//! accepts the connections: they wait at the listening socket, and are hung up when the last
//! process ends that has that socket open. So a client that is stopped can be watched as well, and
//! being watched wakes nobody.
//!
//! Connections of watchers that have gone wait there, too. When there is no room for more, the
//! watched client is asked to accept the connections (`Message::Accept`).

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    net::{AddressFamily, SocketAddrUnix, SocketType, bind, connect, listen},
};

use super::{directory::Directory, socket};

/// The number of connections that may wait to be accepted. Only some systems allow more.
const MOST_WAITING: i32 = 128;
/// The most accepted connections that are kept. Further ones are hung up, and their watchers try
/// again.
const MOST_ACCEPTED: usize = 1024;

/// The listening end. Its last copy, in any process, keeps all connections up.
#[derive(Debug)]
pub(super) struct HangupListener(OwnedFd);

impl HangupListener {
    /// Opens the listening end. Call it only inside the gate.
    pub(super) fn open(dir: &Directory, file: &str) -> io::Result<Self> {
        let listener = stream()?;
        bind(&listener, &SocketAddrUnix::new(socket::path(dir, file))?)?;
        let ready = socket::let_in(dir, file).and_then(|()| Ok(listen(&listener, MOST_WAITING)?));
        ready.inspect_err(|_| dir.unlink(file))?;
        Ok(Self(listener))
    }
}

impl AsFd for HangupListener {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Connects to the listening end of a client, without waiting. The connection becomes readable when
/// it is hung up, because nobody ever writes to it.
pub(super) fn watch(dir: &Directory, file: &str) -> rustix::io::Result<OwnedFd> {
    let connection = stream()?;
    connect(&connection, &SocketAddrUnix::new(socket::path(dir, file))?)?;
    Ok(connection)
}

/// The connections of watchers that were accepted to make room.
#[derive(Debug)]
pub(super) struct Watchers {
    listener: Arc<HangupListener>,
    accepted: Vec<OwnedFd>,
}

impl Watchers {
    pub(super) fn new(listener: Arc<HangupListener>) -> Self {
        Self { listener, accepted: Vec::new() }
    }

    /// Accepts all waiting connections, and keeps those whose watchers are still there.
    pub(super) fn accept(&mut self) {
        while let Ok(connection) = accept(&self.listener) {
            self.accepted.push(connection);
        }
        self.accepted.retain(is_up);
        self.accepted.truncate(MOST_ACCEPTED);
    }
}

fn is_up(connection: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(connection, PollFlags::IN)];
    // A connection that cannot be polled counts as up. It is kept, at the cost of a descriptor.
    poll(&mut fds, Some(&Timespec::default())).is_err() || fds[0].revents().is_empty()
}

/// Accepts a connection that no other program inherits. A program that inherited one would keep it
/// up.
#[cfg(target_os = "linux")]
fn accept(listener: &HangupListener) -> rustix::io::Result<OwnedFd> {
    rustix::net::accept_with(listener, rustix::net::SocketFlags::CLOEXEC)
}

#[cfg(not(target_os = "linux"))]
fn accept(listener: &HangupListener) -> rustix::io::Result<OwnedFd> {
    let connection = rustix::net::accept(listener)?;
    rustix::io::fcntl_setfd(&connection, rustix::io::FdFlags::CLOEXEC)?;
    Ok(connection)
}

/// Makes a socket that never waits and that no other program inherits.
#[cfg(target_os = "linux")]
fn stream() -> rustix::io::Result<OwnedFd> {
    use rustix::net::{SocketFlags, socket_with};

    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

#[cfg(not(target_os = "linux"))]
fn stream() -> rustix::io::Result<OwnedFd> {
    use rustix::io::{FdFlags, fcntl_setfd, ioctl_fionbio};

    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
    ioctl_fionbio(&socket, true)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place {
        dir: Directory,
        _place: tempfile::TempDir,
    }

    fn place() -> Place {
        let place = tempfile::tempdir().unwrap();
        Place { dir: Directory::open(place.path()).unwrap(), _place: place }
    }

    impl Place {
        fn listen(&self) -> Arc<HangupListener> {
            Arc::new(HangupListener::open(&self.dir, "it").unwrap())
        }

        fn watch(&self) -> rustix::io::Result<OwnedFd> {
            watch(&self.dir, "it")
        }
    }

    #[test]
    fn a_connection_is_up_until_the_last_copy_of_the_listening_end_is_closed() {
        let place = place();
        let listener = place.listen();
        let connection = place.watch().unwrap();
        let inherited = listener.0.try_clone().unwrap();
        drop(listener);
        assert!(is_up(&connection));
        drop(inherited);
        assert!(!is_up(&connection));
    }

    #[test]
    fn accepting_the_connections_of_gone_watchers_makes_room() {
        let place = place();
        let listener = place.listen();
        let first = place.watch().unwrap();
        while place.watch().is_ok() {}
        let mut watchers = Watchers::new(Arc::clone(&listener));
        watchers.accept();
        let second = place.watch().unwrap();
        assert_eq!(watchers.accepted.len(), 1, "no connection is kept of a watcher that left");
        assert!(is_up(&first) && is_up(&second));
        drop((listener, watchers));
        assert!(!is_up(&first) && !is_up(&second));
    }

    #[test]
    fn no_program_inherits_a_connection_that_was_accepted() {
        let place = place();
        let mut watchers = Watchers::new(place.listen());
        let _connection = place.watch().unwrap();
        watchers.accept();
        let flags = rustix::io::fcntl_getfd(&watchers.accepted[0]).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
    }

    #[test]
    fn nobody_can_watch_where_nobody_listens() {
        let place = place();
        drop(place.listen());
        assert!(place.watch().is_err());
    }
}
