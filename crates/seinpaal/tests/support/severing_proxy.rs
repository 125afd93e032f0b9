//! A way to a server that loses the answer to one request: the server has executed it, and nobody hears.
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
                theirs.connections.fetch_add(1, Ordering::SeqCst);
                connect(client, server, &theirs);
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

    /// How many connections there have been.
    pub fn connections(&self) -> usize {
        self.plan.connections.load(Ordering::SeqCst)
    }

    /// How often that has happened.
    pub fn severed(&self) -> usize {
        self.plan.severed.load(Ordering::SeqCst)
    }
}

fn connect(client: TcpStream, server: TcpStream, plan: &Arc<Plan>) {
    let is_cut = Arc::new(AtomicBool::new(false));
    let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let (plan, cut) = (Arc::clone(plan), Arc::clone(&is_cut));
    thread::spawn(move || pass_requests(from, to, &plan, &cut));
    thread::spawn(move || pass_answers(server, client, &is_cut));
}

fn pass_requests(mut from: TcpStream, mut to: TcpStream, plan: &Plan, is_cut: &AtomicBool) {
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
        if to.write_all(&chunk[..n]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

fn pass_answers(mut from: TcpStream, mut to: TcpStream, is_cut: &AtomicBool) {
    let mut chunk = vec![0; 1 << 16];
    while let Ok(n @ 1..) = from.read(&mut chunk) {
        if is_cut.load(Ordering::SeqCst) || to.write_all(&chunk[..n]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
