//! A TCP proxy that makes faults on demand.

mod passing;

use std::{
    fmt, io,
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// The direction in which bytes go.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// From the client to the server.
    Request,
    /// From the server to the client.
    Answer,
}

/// The behaviour of the proxy. A mode that names a direction happens once, to the next bytes in
/// that direction, unless its description says that it lasts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    /// Pass everything on.
    Pass,
    /// Pass everything on later, by this much.
    Delay(Duration),
    /// Pass nothing on. When this mode ends, the proxy passes on the bytes that were sent
    /// meanwhile, and accepts the connections that were made.
    Hold,
    /// Cut the connection after this many more bytes.
    CutAfter(Direction, usize),
    /// Drop the bytes, and cut the connection.
    Lose(Direction),
    /// Drop the bytes, and keep the connection open. This lasts.
    Swallow(Direction),
    /// Change the bytes so that they are no valid message.
    Garble(Direction),
    /// Close this direction, and leave the other open.
    Close(Direction),
    /// Cut every connection, and close new ones at once. This lasts.
    Refuse,
}

/// A proxy in front of one server. Dropping the proxy ends the connections through it.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    shared: Arc<ProxyState>,
}

#[derive(Debug)]
struct ProxyState {
    upstream: AtomicU16,
    mode: Mutex<Mode>,
    changed: Condvar,
    trap: Mutex<Option<Trap>>,
    /// How many traps have closed.
    trapped: AtomicUsize,
    /// The connections that are open, and some that have ended. The threads that carry a connection
    /// own it.
    streams: Mutex<Vec<Weak<TcpStream>>>,
    connections: AtomicUsize,
    /// Connections have numbers. Those up to this number are dead.
    dead: AtomicUsize,
    is_over: AtomicBool,
}

/// Tells whether a request is the one that a trap waits for.
type IsFor = dyn Fn(&[u8]) -> bool + Send;

/// A trap, which waits for one request.
struct Trap {
    is_for: Box<IsFor>,
    act: TrapAct,
}

/// The proxy's act after the request that a trap waited for. The proxy passes the request on in any
/// case.
#[derive(Clone, Copy, Debug)]
enum TrapAct {
    /// The proxy cuts the connection before the answer.
    Cut,
    /// The proxy enters this mode.
    Set(Mode),
}

impl Proxy {
    /// Starts a proxy in front of the server at this port of this machine.
    ///
    /// # Errors
    /// If there is no free port.
    pub fn start(upstream: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(ProxyState {
            upstream: AtomicU16::new(upstream),
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

    /// Leads new connections to the server at this port. Open connections stay at their server.
    pub fn lead_to(&self, upstream: u16) {
        self.shared.upstream.store(upstream, Ordering::SeqCst);
    }

    /// The port that clients connect to.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The proxy's URL, for clients of a Redis.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Enters a mode.
    pub fn set(&self, mode: Mode) {
        self.shared.set(mode);
        if mode == Mode::Refuse {
            self.cut();
        }
    }

    /// Passes on the next request for which `is_for` holds, and then enters this mode. Replaces the
    /// trap that was set before.
    pub fn set_after(&self, is_for: impl Fn(&[u8]) -> bool + Send + 'static, mode: Mode) {
        *lock(&self.shared.trap) = Some(Trap { is_for: Box::new(is_for), act: TrapAct::Set(mode) });
    }

    /// Passes on the next request that contains this text, so that the server executes it, and cuts
    /// the request's connection before the answer.
    pub fn cut_after(&self, text: &str) {
        let text = text.to_owned();
        let is_for = move |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(&text);
        *lock(&self.shared.trap) = Some(Trap { is_for: Box::new(is_for), act: TrapAct::Cut });
    }

    /// How many requests have been caught by a trap.
    #[must_use]
    pub fn trapped(&self) -> usize {
        self.shared.trapped.load(Ordering::SeqCst)
    }

    /// Waits this long for a mode that happens once to have happened, and returns whether it has.
    #[must_use]
    pub fn has_happened_within(&self, time: Duration) -> bool {
        let mode = lock(&self.shared.mode);
        let waited = self.shared.changed.wait_timeout_while(mode, time, |mode| *mode != Mode::Pass);
        *waited.unwrap_or_else(PoisonError::into_inner).0 == Mode::Pass
    }

    /// Cuts every open connection.
    pub fn cut(&self) {
        for stream in lock(&self.shared.streams).drain(..).filter_map(|it| it.upgrade()) {
            let _ = stream.shutdown(Shutdown::Both); // an error means that it is closed
        }
    }

    /// Makes every open connection dead without a sign: the proxy passes nothing on any more, and
    /// tells neither side. New connections live.
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
