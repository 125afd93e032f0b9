//! A TCP proxy that does wrong on demand.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// Which way bytes go.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Way {
    /// From the client to the server.
    Request,
    /// From the server to the client.
    Answer,
}

/// What the proxy does. What names a way and no time happens once, to the next bytes that go that way.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    /// All as it should be.
    Pass,
    /// Everything comes later by this much.
    Delay(Duration),
    /// Nothing comes through; what was sent comes when it is over, new connections among it.
    Hold,
    /// After so many bytes more the connection is cut.
    CutAfter(Way, usize),
    /// What is sent is lost, and the connection cut.
    Lose(Way),
    /// What is sent is spoilt so that it cannot be taken for anything else.
    Garble(Way),
    /// This way is closed, the other stays open.
    Close(Way),
}

/// In front of one server, for one client. Its connections end with it.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    upstream: u16,
    mode: Mutex<Mode>,
    changed: Condvar,
    /// Those that are open, and some that were: whoever carries a connection owns it.
    streams: Mutex<Vec<Weak<TcpStream>>>,
    is_over: AtomicBool,
}

impl Proxy {
    /// Stands in front of the server at this port of this machine.
    ///
    /// # Errors
    /// If there is no port for it.
    pub fn start(upstream: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            upstream,
            mode: Mutex::new(Mode::Pass),
            changed: Condvar::new(),
            streams: Mutex::default(),
            is_over: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || accepting.accept(&listener));
        Ok(Self { port, shared })
    }

    /// Where clients go.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// From now on does this.
    pub fn set(&self, mode: Mode) {
        *lock(&self.shared.mode) = mode;
        self.shared.changed.notify_all();
    }

    /// Whether what was to happen once has happened, or comes to in this time.
    #[must_use]
    pub fn has_happened_within(&self, time: Duration) -> bool {
        let mode = lock(&self.shared.mode);
        let waited = self.shared.changed.wait_timeout_while(mode, time, |mode| *mode != Mode::Pass);
        *waited.unwrap_or_else(PoisonError::into_inner).0 == Mode::Pass
    }

    /// Cuts every connection that there is.
    pub fn cut(&self) {
        for stream in lock(&self.shared.streams).drain(..).filter_map(|it| it.upgrade()) {
            let _ = stream.shutdown(Shutdown::Both); // it may be closed already
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.set(Mode::Pass);
        self.cut();
        let _ = TcpStream::connect(("127.0.0.1", self.port)); // wakes the listener, which ends
    }
}

impl Shared {
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        for client in listener.incoming().map_while(Result::ok) {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            let shared = Arc::clone(self);
            thread::spawn(move || shared.connect(client));
        }
    }

    fn connect(self: Arc<Self>, client: TcpStream) {
        self.wait_while_held();
        let Ok(server) = TcpStream::connect(("127.0.0.1", self.upstream)) else {
            return; // the client is dropped: the server is not there
        };
        let _ = (client.set_nodelay(true), server.set_nodelay(true)); // only a matter of speed
        let (client, server) = (Arc::new(client), Arc::new(server));
        self.keep([&client, &server]);
        let (shared, client_too, server_too) = (Arc::clone(&self), client.clone(), server.clone());
        thread::spawn(move || shared.copy(Way::Answer, &server_too, &client_too));
        self.copy(Way::Request, &client, &server);
    }

    /// Makes a connection one that can be cut. Those that have ended are let go, or a day of them
    /// would use up the descriptors of this process.
    fn keep(&self, streams: [&Arc<TcpStream>; 2]) {
        let mut kept = lock(&self.streams);
        kept.retain(|stream| stream.strong_count() > 0);
        kept.extend(streams.map(Arc::downgrade));
    }

    fn copy(&self, way: Way, mut from: &TcpStream, to: &TcpStream) {
        let mut bytes = [0; 16 * 1024];
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            self.wait_while_held();
            if self.treat(way, &mut bytes[..length], to).is_err() {
                let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
                return;
            }
        }
        let _ = to.shutdown(Shutdown::Write); // as the other side did
    }

    /// An error means that the connection is to be cut.
    fn treat(&self, way: Way, bytes: &mut [u8], mut to: &TcpStream) -> io::Result<()> {
        match self.take(way, bytes.len()) {
            Mode::CutAfter(_, part) => {
                to.write_all(&bytes[..part])?;
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            Mode::Lose(_) => return Err(io::ErrorKind::ConnectionAborted.into()),
            Mode::Garble(_) => {
                let spoilt = bytes.len().min(8);
                bytes[..spoilt].fill(0xff);
            }
            Mode::Close(_) => {
                to.write_all(bytes)?;
                return to.shutdown(Shutdown::Write);
            }
            Mode::Delay(time) => thread::sleep(time),
            Mode::Pass | Mode::Hold => {}
        }
        to.write_all(bytes)
    }

    /// What is to be done to so many bytes that go this way. What happens once is over then.
    fn take(&self, way: Way, length: usize) -> Mode {
        let mut mode = lock(&self.mode);
        match *mode {
            Mode::CutAfter(of, left) if of == way && left >= length => {
                *mode = Mode::CutAfter(of, left - length);
                Mode::Pass
            }
            Mode::CutAfter(of, _) | Mode::Lose(of) | Mode::Garble(of) | Mode::Close(of) => {
                if of != way {
                    return Mode::Pass;
                }
                self.changed.notify_all();
                std::mem::replace(&mut *mode, Mode::Pass)
            }
            lasting => lasting,
        }
    }

    fn wait_while_held(&self) {
        let waiting = self.changed.wait_while(lock(&self.mode), |mode| *mode == Mode::Hold);
        drop(waiting);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
