//! A way to a server that loses the answer to one request, which the server has executed and nobody hears; or on which
//! connections die without a word: nothing passes any more, and nobody is told.
#![allow(dead_code, missing_docs, unreachable_pub)]

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

/// Passes everything on between its port and the server's.
#[derive(Debug)]
pub struct SeveringProxy {
    port: u16,
    plan: Arc<Plan>,
}

#[derive(Debug, Default)]
struct Plan {
    wanted: Mutex<Option<String>>,
    severed: AtomicUsize,
    connections: AtomicUsize,
    /// Connections are counted. Those up to this number are dead.
    dead: AtomicUsize,
}

impl SeveringProxy {
    pub fn start(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let plan = Arc::new(Plan::default());
        let theirs = Arc::clone(&plan);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                let number = theirs.connections.fetch_add(1, Ordering::SeqCst) + 1;
                connect(client, server, number, &theirs);
            }
        });
        Self { port, plan }
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// The next request with this text in it is executed, and its connection cut before the answer.
    pub fn sever_after(&self, text: &str) {
        *self.plan.wanted.lock().unwrap() = Some(text.to_owned());
    }

    /// All connections that there are die. New ones live.
    pub fn kill_without_a_word(&self) {
        self.plan.dead.store(self.connections(), Ordering::SeqCst);
    }

    /// How many connections there have been.
    pub fn connections(&self) -> usize {
        self.plan.connections.load(Ordering::SeqCst)
    }

    /// How often that has happened.
    pub fn severed(&self) -> usize {
        self.plan.severed.load(Ordering::SeqCst)
    }
}

impl Plan {
    /// Passes it on, or swallows it if it came over a dead connection.
    fn pass(&self, bytes: &[u8], number: usize, to: &mut TcpStream) -> std::io::Result<()> {
        if number <= self.dead.load(Ordering::SeqCst) {
            return Ok(());
        }
        to.write_all(bytes)
    }
}

fn connect(client: TcpStream, server: TcpStream, number: usize, plan: &Arc<Plan>) {
    let is_cut = Arc::new(AtomicBool::new(false));
    let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let (asked, cut) = (Arc::clone(plan), Arc::clone(&is_cut));
    thread::spawn(move || pass_requests(from, to, number, &asked, &cut));
    let answered = Arc::clone(plan);
    thread::spawn(move || pass_answers(server, client, number, &answered, &is_cut));
}

fn pass_requests(
    mut from: TcpStream,
    mut to: TcpStream,
    number: usize,
    plan: &Plan,
    is_cut: &AtomicBool,
) {
    let mut chunk = vec![0; 1 << 16];
    while let Ok(n @ 1..) = from.read(&mut chunk) {
        let mut wanted = plan.wanted.lock().unwrap();
        let said = String::from_utf8_lossy(&chunk[..n]);
        if wanted.as_deref().is_some_and(|text| said.contains(text)) {
            *wanted = None;
            is_cut.store(true, Ordering::SeqCst);
            plan.severed.fetch_add(1, Ordering::SeqCst);
        }
        drop(wanted);
        if plan.pass(&chunk[..n], number, &mut to).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

fn pass_answers(
    mut from: TcpStream,
    mut to: TcpStream,
    number: usize,
    plan: &Plan,
    is_cut: &AtomicBool,
) {
    let mut chunk = vec![0; 1 << 16];
    while let Ok(n @ 1..) = from.read(&mut chunk) {
        if is_cut.load(Ordering::SeqCst) || plan.pass(&chunk[..n], number, &mut to).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
