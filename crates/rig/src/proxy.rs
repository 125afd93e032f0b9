//! A TCP proxy that does wrong on demand.

mod passing;

use std::{
    fmt, io,
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
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

/// What the proxy does. What names a way happens once, to the next bytes that go that way, unless it
/// is said to last.
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
    /// What is sent is lost, and nobody is told. It lasts.
    Swallow(Way),
    /// What is sent is spoilt so that it cannot be taken for anything else.
    Garble(Way),
    /// This way is closed, the other stays open.
    Close(Way),
    /// Every connection is cut, and new ones are closed at once. It lasts.
    Refuse,
}

/// In front of one server. Its connections end with it.
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
    trap: Mutex<Option<Trap>>,
    /// How often a trap has closed.
    trapped: AtomicUsize,
    /// Those that are open, and some that were: whoever carries a connection owns it.
    streams: Mutex<Vec<Weak<TcpStream>>>,
    connections: AtomicUsize,
    /// Connections are counted. Those up to this number are dead.
    dead: AtomicUsize,
    is_over: AtomicBool,
}

/// Whether a request is the one that is waited for.
type IsFor = dyn Fn(&[u8]) -> bool + Send;

/// What waits for a request.
struct Trap {
    is_for: Box<IsFor>,
    act: Act,
}

/// What becomes of the request that a trap waited for. It is passed on in any case.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Its connection is cut before the answer.
    Cut,
    /// From then on the proxy does this.
    Set(Mode),
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
            trap: Mutex::default(),
            trapped: AtomicUsize::new(0),
            streams: Mutex::default(),
            connections: AtomicUsize::new(0),
            dead: AtomicUsize::new(0),
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

    /// As clients of a Redis write it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// From now on does this.
    pub fn set(&self, mode: Mode) {
        self.shared.set(mode);
        if mode == Mode::Refuse {
            self.cut();
        }
    }

    /// Passes the next request on for which this holds, and does this from then on. A trap that was
    /// there before is gone.
    pub fn set_after(&self, is_for: impl Fn(&[u8]) -> bool + Send + 'static, mode: Mode) {
        *lock(&self.shared.trap) = Some(Trap { is_for: Box::new(is_for), act: Act::Set(mode) });
    }

    /// Passes the next request with this text in it on, which the server executes, and cuts its
    /// connection before the answer.
    pub fn cut_after(&self, text: &str) {
        let text = text.to_owned();
        let is_for = move |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(&text);
        *lock(&self.shared.trap) = Some(Trap { is_for: Box::new(is_for), act: Act::Cut });
    }

    /// How many requests were followed by what was set for them.
    #[must_use]
    pub fn trapped(&self) -> usize {
        self.shared.trapped.load(Ordering::SeqCst)
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

    /// Every connection that there is dies without a word: it passes nothing any more, and nobody is
    /// told. New ones live.
    pub fn kill_without_a_word(&self) {
        self.shared.dead.store(self.connections(), Ordering::SeqCst);
    }

    /// How many connections there have been.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
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

impl fmt::Debug for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trap").field("act", &self.act).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
