//! A client that asks for work again and again, as a tenant.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use seinpaal_draw::Draw;
use torture::clock;

use super::verdict::AnswerSeen;
use crate::stage::{ms, pass};

/// The longest time that a client waits for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

pub(super) struct HttpClient {
    ports: Vec<u16>,
    tenant: usize,
    draw: Draw,
}

impl HttpClient {
    pub(super) fn new(ports: &[u16], tenant: usize, draw: Draw) -> Self {
        Self { ports: ports.to_vec(), tenant, draw }
    }

    /// Asks one process or the other, waits a little, and asks again.
    pub(super) fn ask_until(mut self, is_over: &AtomicBool) -> Vec<AnswerSeen> {
        let mut answers = Vec::new();
        while !is_over.load(Ordering::SeqCst) {
            let port = self.draw.pick(&self.ports);
            let work = self.work();
            let path = format!("/jobs/t{}?ms={}", self.tenant, work.as_millis());
            let sent = clock::now();
            let status = post(port, &path).map_err(|error| error.to_string());
            let (tenant, got) = (self.tenant, clock::now());
            answers.push(AnswerSeen { tenant, sent, got, work: work.as_micros() as u64, status });
            pass(self.draw.between(ms(10), ms(800)));
        }
        answers
    }

    /// Draws how long the work takes, mostly a short time. One tenant's work takes so long that a
    /// silent store costs its permit.
    fn work(&mut self) -> Duration {
        match self.tenant == 0 && self.draw.chance(20) {
            true => self.draw.between(ms(15_000), ms(45_000)),
            false => self.draw.between(ms(50), ms(1500)),
        }
    }
}

/// Returns whether a service listens at this port.
pub(super) fn answers(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

/// Sends a request and returns the status of the answer.
fn post(port: u16, path: &str) -> io::Result<u16> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    let request = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let status = answer.split_whitespace().nth(1).and_then(|status| status.parse().ok());
    status.ok_or_else(|| io::Error::other(format!("no answer: {answer:?}")))
}
