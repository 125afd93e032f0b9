//! Runs the example as two processes over one Redis.

use std::{
    env,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
};

use seinpaal::Seinpaal;
use seinpaal_rig::RedisServer;

/// A process of the example, which `cargo test` builds beside the tests. Dropping this kills the
/// process, also in a test that fails.
struct Process {
    child: Child,
    address: String,
}

impl Process {
    fn start(store: &str) -> Self {
        let test = env::current_exe().expect("this test");
        let examples = test.ancestors().nth(2).expect("target/debug").join("examples");
        let mut command = Command::new(examples.join("tenants"));
        command.args(["127.0.0.1:0", store]).stdout(Stdio::piped());
        let mut child =
            command.spawn().expect("the example: cargo build -p seinpaal-tower --examples");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address =
            line.trim().strip_prefix("listening on ").expect("where it listens").to_owned();
        Self { child, address }
    }

    fn asked(
        &self,
        request: &'static str,
    ) -> impl FnOnce() -> Option<(u16, String)> + Send + 'static {
        let address = self.address.clone();
        move || ask(&address, request)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the status and the whole answer. `None`: the process ended first.
fn ask(address: &str, request: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{request} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    let read = stream.read_to_string(&mut answer);
    read.ok().filter(|_| !answer.is_empty())?;
    Some((answer[9..12].parse().unwrap(), answer))
}

/// Returns the held slots, in order.
async fn slots(seinpaal: &Seinpaal) -> Vec<u32> {
    let held = seinpaal.semaphore("tenant/ann").snapshot().await.unwrap().holders;
    let mut slots: Vec<_> = held.iter().flat_map(|holder| holder.slots.iter()).collect();
    slots.sort_unstable();
    slots
}

#[tokio::test]
async fn three_of_a_tenant_are_served_by_both_processes_together_and_the_others_are_shed() {
    let server = RedisServer::start();
    let seinpaal = Seinpaal::connect(&server.url("")).await.unwrap();
    let processes = [Process::start(&server.url("")), Process::start(&server.url(""))];
    let (answered, answers) = mpsc::channel();
    // Three of them last until their process ends, however slow this machine is.
    for n in 0..5 {
        let (asks, answered) =
            (processes[n % 2].asked("POST /jobs/ann?ms=3600000"), answered.clone());
        thread::spawn(move || answered.send(asks()));
    }
    for _ in 0..2 {
        let (status, answer) = answers.recv().unwrap().expect("an answer");
        assert_eq!(status, 429, "{answer}");
        assert!(answer.contains("\r\nretry-after: 1\r\n"), "{answer}");
    }
    assert_eq!(slots(&seinpaal).await, [0, 1, 2]);
    // Another tenant does not wait, and a request that needs no permit is answered.
    let (status, answer) = processes[0].asked("POST /jobs/bob?ms=1")().expect("an answer");
    assert!(status == 200 && answer.contains("done in slot 0"), "{answer}");
    assert_eq!(processes[1].asked("GET /healthz")().expect("an answer").0, 200);
    drop(processes);
    let cut_off = answers.iter().take(3);
    assert!(cut_off.filter(Option::is_none).count() == 3, "nobody else was answered");
}
