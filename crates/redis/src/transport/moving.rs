//! A socket that one runtime hears of after another.
//!
//! A socket is registered with the runtime whose threads wait for what comes in. Usually that is the
//! connection's own. While the requests of one caller follow each other, it may be the caller's, which
//! then reads its answers without another thread
//! (docs/decisions/0086-a-lone-answer-is-read-by-its-caller.md).

use std::{
    io,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpStream, UnixStream},
    runtime::Handle,
};

/// Where a socket is to be registered.
pub(super) struct Whereabouts {
    /// The connection's own runtime.
    home: Handle,
    /// Another one that is to hear of the socket.
    away: Mutex<Option<Handle>>,
    /// Changes whenever the socket is to be moved.
    moves: AtomicU32,
}

impl Whereabouts {
    /// At home, which is the current runtime.
    pub(super) fn here() -> Self {
        Self { home: Handle::current(), away: Mutex::new(None), moves: AtomicU32::new(0) }
    }

    /// Says where the socket is to be: at home, or away. It moves when somebody polls it next. Returns
    /// whether it has to move for that.
    pub(super) fn go(&self, to: Option<&Handle>) -> bool {
        let to = to.filter(|to| to.id() != self.home.id());
        let mut away = self.away();
        let moves = away.as_ref().map(Handle::id) != to.map(Handle::id);
        if moves {
            *away = to.cloned();
            self.moves.fetch_add(1, Ordering::SeqCst);
        }
        moves
    }

    pub(super) fn is_away(&self) -> bool {
        self.away().is_some()
    }

    /// Nothing panics while it has this.
    fn away(&self) -> MutexGuard<'_, Option<Handle>> {
        self.away.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A socket, and where it is registered.
pub(super) struct MovingSocket {
    /// `None`: it could not be moved, and is closed.
    socket: Option<Plain>,
    moves: u32,
    whereabouts: Arc<Whereabouts>,
}

pub(super) enum Plain {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Plain {
    /// Takes it out of the runtime that it is registered with, and registers it with this one.
    fn moved_to(self, runtime: &Handle) -> io::Result<Self> {
        match self {
            Self::Tcp(socket) => {
                let socket = socket.into_std()?;
                let _inside = runtime.enter();
                TcpStream::from_std(socket).map(Self::Tcp)
            }
            Self::Unix(socket) => {
                let socket = socket.into_std()?;
                let _inside = runtime.enter();
                UnixStream::from_std(socket).map(Self::Unix)
            }
        }
    }
}

/// A runtime that is shut down hears of nothing any more, and says so with an error of its own.
fn has_ended(error: &io::Error) -> bool {
    error.raw_os_error().is_none() && error.kind() == io::ErrorKind::Other
}

impl MovingSocket {
    pub(super) fn new(socket: Plain, whereabouts: Arc<Whereabouts>) -> Self {
        Self { socket: Some(socket), moves: 0, whereabouts }
    }

    /// The socket, where it is to be.
    fn settled(&mut self) -> io::Result<&mut Plain> {
        let moves = self.whereabouts.moves.load(Ordering::SeqCst);
        if moves != self.moves
            && let Some(socket) = self.socket.take()
        {
            self.moves = moves;
            let runtime = self.whereabouts.away().clone();
            let runtime = runtime.as_ref().unwrap_or(&self.whereabouts.home);
            self.socket = Some(socket.moved_to(runtime)?);
        }
        self.socket.as_mut().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Does it where the socket is to be, and once more at home if that runtime has ended.
    fn poll<T>(
        &mut self,
        mut poll: impl FnMut(&mut Plain) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        match ready!(poll(self.settled()?)) {
            Err(error) if has_ended(&error) && self.whereabouts.go(None) => poll(self.settled()?),
            other => Poll::Ready(other),
        }
    }
}

impl AsyncRead for MovingSocket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.get_mut().poll(|socket| match socket {
            Plain::Tcp(socket) => Pin::new(socket).poll_read(cx, buffer),
            Plain::Unix(socket) => Pin::new(socket).poll_read(cx, buffer),
        })
    }
}

impl AsyncWrite for MovingSocket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().poll(|socket| match socket {
            Plain::Tcp(socket) => Pin::new(socket).poll_write(cx, bytes),
            Plain::Unix(socket) => Pin::new(socket).poll_write(cx, bytes),
        })
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(())) // a socket has no buffer of its own in this program
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll(|socket| match socket {
            Plain::Tcp(socket) => Pin::new(socket).poll_shutdown(cx),
            Plain::Unix(socket) => Pin::new(socket).poll_shutdown(cx),
        })
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        runtime::{Builder, Runtime},
    };

    use super::*;

    fn runtime() -> Runtime {
        Builder::new_current_thread().enable_io().build().expect("a runtime")
    }

    /// A socket at home, where it is, and its other end.
    fn socket(home: &Runtime) -> (MovingSocket, Arc<Whereabouts>, UnixStream) {
        let _inside = home.enter();
        let whereabouts = Arc::new(Whereabouts::here());
        let (ours, theirs) = UnixStream::pair().expect("two ends");
        (MovingSocket::new(Plain::Unix(ours), Arc::clone(&whereabouts)), whereabouts, theirs)
    }

    #[test]
    fn a_runtime_hears_of_a_socket_that_has_moved_to_it_and_back() {
        let (home, away) = (runtime(), runtime());
        let (mut ours, whereabouts, mut theirs) = socket(&home);
        for (to, runtime) in [(None, &home), (Some(away.handle()), &away), (None, &home)] {
            whereabouts.go(to);
            home.block_on(theirs.write_all(b"pong")).expect("written");
            let mut heard = [0; 4];
            runtime.block_on(ours.read_exact(&mut heard)).expect("the other end is there");
            assert_eq!(&heard, b"pong");
        }
    }

    #[test]
    fn a_socket_comes_home_from_a_runtime_that_has_ended() {
        let (home, away) = (runtime(), runtime());
        let (mut ours, whereabouts, mut theirs) = socket(&home);
        whereabouts.go(Some(away.handle()));
        away.block_on(ours.write_all(b"ping")).expect("written");
        drop(away);
        home.block_on(theirs.write_all(b"pong")).expect("written");
        let mut heard = [0; 4];
        home.block_on(ours.read_exact(&mut heard)).expect("the other end is there");
        assert_eq!(&heard, b"pong");
        assert!(!whereabouts.is_away());
    }
}
