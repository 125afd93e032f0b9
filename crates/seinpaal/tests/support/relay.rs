//! A TCP relay between a client and a server, which a test can cut or make swallow answers.
#![allow(dead_code, missing_docs, unreachable_pub)]

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

/// Listens on a port of its own and passes everything on.
#[derive(Debug)]
pub struct Relay {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    is_cut: AtomicBool,
    waits_for_write: AtomicBool,
    swallows: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
}

impl Relay {
    pub fn to(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::new(Shared::default());
        let accepting = Arc::clone(&shared);
        // Ends with the process: it waits for connections, which costs nothing.
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                accepting.join(client, server);
            }
        });
        Self { port, shared }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends all connections and lets none through until [`heal`](Self::heal)ed.
    pub fn cut(&self) {
        self.shared.is_cut.store(true, Ordering::SeqCst);
        self.end_all();
    }

    pub fn heal(&self) {
        self.shared.is_cut.store(false, Ordering::SeqCst);
        self.shared.swallows.store(false, Ordering::SeqCst);
    }

    /// From the client's next transaction on the server hears the client, but not the other way round.
    pub fn swallow_answers_from_the_next_write_on(&self) {
        self.shared.waits_for_write.store(true, Ordering::SeqCst);
    }

    /// Ends what connections there are; new ones get through.
    pub fn end_all(&self) {
        for stream in self.shared.streams.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both); // it may have ended already
        }
    }
}

impl Shared {
    fn join(self: &Arc<Self>, client: TcpStream, server: u16) {
        if self.is_cut.load(Ordering::SeqCst) {
            return;
        }
        let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { return };
        let again = |stream: &TcpStream| stream.try_clone().expect("another handle");
        self.streams.lock().unwrap().extend([again(&client), again(&server)]);
        let (here, back) = (Arc::clone(self), Arc::clone(self));
        let (from_client, to_client) = (again(&client), client);
        let (from_server, to_server) = (again(&server), server);
        thread::spawn(move || here.pass_on(from_client, to_server, false));
        thread::spawn(move || back.pass_on(from_server, to_client, true));
    }

    fn pass_on(&self, mut from: TcpStream, mut to: TcpStream, is_answer: bool) {
        let mut bytes = [0; 16 << 10];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            let is_write = !is_answer && has_transaction(&bytes[..count]);
            if is_write && self.waits_for_write.swap(false, Ordering::SeqCst) {
                self.swallows.store(true, Ordering::SeqCst);
            }
            let swallow = is_answer && self.swallows.load(Ordering::SeqCst);
            if !swallow && to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both)); // as above
    }
}

/// Whether one of these requests is a transaction: each is a length, a number, and what it wants.
fn has_transaction(mut bytes: &[u8]) -> bool {
    const TRANSACTION: [u8; 4] = 14_i32.to_be_bytes();
    while let Some((head, _)) = bytes.split_at_checked(12) {
        if head[8..] == TRANSACTION {
            return true;
        }
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        bytes = bytes.get(4 + length..).unwrap_or_default();
    }
    false
}
