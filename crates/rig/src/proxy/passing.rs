//! The passing of bytes, and the faults that the proxy's mode makes.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use super::{Direction, Mode, ProxyState, TrapAct, lock};

/// The two streams of one connection.
struct PassedConnection {
    number: usize,
    client: Arc<TcpStream>,
    server: Arc<TcpStream>,
    /// Set once no answer passes any more.
    is_cut: AtomicBool,
}

impl ProxyState {
    pub(super) fn set(&self, mode: Mode) {
        *lock(&self.mode) = mode;
        self.changed.notify_all();
    }

    pub(super) fn accept(self: &Arc<Self>, listener: &TcpListener) {
        for client in listener.incoming().map_while(Result::ok) {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            let number = self.connections.fetch_add(1, Ordering::SeqCst) + 1;
            let shared = Arc::clone(self);
            thread::spawn(move || shared.connect(client, number));
        }
    }

    fn connect(self: Arc<Self>, client: TcpStream, number: usize) {
        self.wait_while_held();
        let Ok(server) = TcpStream::connect(("127.0.0.1", self.upstream.load(Ordering::SeqCst)))
        else {
            return; // the server is not there, so the client's connection ends, too
        };
        let _ = (client.set_nodelay(true), server.set_nodelay(true)); // an error only costs speed
        let (client, server) = (Arc::new(client), Arc::new(server));
        self.keep([&client, &server]);
        if *lock(&self.mode) == Mode::Refuse {
            return; // checked after `keep`, so that `cut` already knows this connection
        }
        let connection =
            Arc::new(PassedConnection { number, client, server, is_cut: AtomicBool::new(false) });
        let (shared, back) = (Arc::clone(&self), Arc::clone(&connection));
        thread::spawn(move || shared.copy(Direction::Answer, &back));
        self.copy(Direction::Request, &connection);
    }

    /// Remembers the streams of a connection, so that it can be cut. Forgets streams that have
    /// ended. Otherwise a run of a day would use up the descriptors of this process.
    fn keep(&self, streams: [&Arc<TcpStream>; 2]) {
        let mut kept = lock(&self.streams);
        kept.retain(|stream| stream.strong_count() > 0);
        kept.extend(streams.map(Arc::downgrade));
    }

    fn copy(&self, way: Direction, connection: &PassedConnection) {
        let (mut from, to) = connection.ends(way);
        let mut bytes = [0; 16 * 1024];
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            self.wait_while_held();
            if self.pass(way, &mut bytes[..length], connection).is_err() {
                let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
                return;
            }
        }
        let _ = to.shutdown(Shutdown::Write); // as the other side did to this direction
    }

    /// Passes bytes on. An error means that the connection must be cut.
    fn pass(
        &self,
        way: Direction,
        bytes: &mut [u8],
        connection: &PassedConnection,
    ) -> io::Result<()> {
        if connection.number <= self.dead.load(Ordering::SeqCst) {
            return Ok(());
        }
        match way {
            Direction::Request => self.look_at(bytes, connection),
            Direction::Answer if connection.is_cut.load(Ordering::SeqCst) => return Err(cut()),
            Direction::Answer => {}
        }
        self.treat(way, bytes, connection.ends(way).1)
    }

    /// Closes the trap if it waits for this request. The request passes in any case.
    fn look_at(&self, bytes: &[u8], connection: &PassedConnection) {
        let caught = lock(&self.trap).take_if(|trap| (trap.is_for)(bytes));
        let Some(trap) = caught else { return };
        self.trapped.fetch_add(1, Ordering::SeqCst);
        match trap.act {
            TrapAct::Cut => connection.is_cut.store(true, Ordering::SeqCst),
            TrapAct::Set(mode) => self.set(mode),
        }
    }

    fn treat(&self, way: Direction, bytes: &mut [u8], mut to: &TcpStream) -> io::Result<()> {
        match self.take(way, bytes.len()) {
            Mode::CutAfter(_, part) => {
                to.write_all(&bytes[..part])?;
                return Err(cut());
            }
            Mode::Lose(_) => return Err(cut()),
            Mode::Swallow(of) if of == way => return Ok(()),
            Mode::Garble(_) => {
                let spoilt = bytes.len().min(8);
                bytes[..spoilt].fill(0xff);
            }
            Mode::Close(_) => {
                to.write_all(bytes)?;
                return to.shutdown(Shutdown::Write);
            }
            Mode::Delay(time) => thread::sleep(time),
            Mode::Pass | Mode::Hold | Mode::Swallow(_) | Mode::Refuse => {}
        }
        to.write_all(bytes)
    }

    /// Returns what to do to this many bytes in this direction. A mode that happens once ends with
    /// that.
    fn take(&self, way: Direction, length: usize) -> Mode {
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

impl PassedConnection {
    /// The stream from which bytes in this direction come, and the stream to which they go.
    fn ends(&self, way: Direction) -> (&TcpStream, &TcpStream) {
        match way {
            Direction::Request => (&self.client, &self.server),
            Direction::Answer => (&self.server, &self.client),
        }
    }
}

fn cut() -> io::Error {
    io::ErrorKind::ConnectionAborted.into()
}
