//! A client that asks for work again and again, as a tenant.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use fastrand::Rng;
use torture::clock;

use super::verdict::AnswerSeen;
use crate::stage::{ms, pass};

/// The longest time that a client waits for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

pub(super) struct HttpClient {
    ports: Vec<u16>,
    tenant: usize,
    rng: Rng,
}

impl HttpClient {
    pub(super) fn new(ports: &[u16], tenant: usize, rng: Rng) -> Self {
        Self { ports: ports.to_vec(), tenant, rng }
    }

    /// Asks one process or the other, waits a little, and asks again.
    pub(super) fn ask_until(mut self, is_over: &AtomicBool) -> Vec<AnswerSeen> {
        let mut answers = Vec::new();
        while !is_over.load(Ordering::SeqCst) {
            let port = *self.rng.choice(&self.ports).unwrap();
            let work = self.work();
            let path = format!("/jobs/t{}?ms={}", self.tenant, work.as_millis());
            let sent = clock::now();
            let status = post(port, &path).map_err(|error| error.to_string());
            let (tenant, got) = (self.tenant, clock::now());
            answers.push(AnswerSeen { tenant, sent, got, work: work.as_micros() as u64, status });
            pass(ms(self.rng.u64(10..800)));
        }
        answers
    }

    /// Draws how long the work takes, mostly a short time. The work of one tenant takes so long
    /// that a silent store costs it its permit.
    fn work(&mut self) -> Duration {
        match self.tenant == 0 && self.rng.u64(..100) < 20 {
            true => ms(self.rng.u64(15_000..45_000)),
            false => ms(self.rng.u64(50..1500)),
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
