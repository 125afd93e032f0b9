//! The example, as two processes over one Redis.

use std::{
    env,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use seinpaal_rig::RedisServer;

/// `cargo test` builds the examples with the tests, beside them.
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

    /// The status, and all of the answer.
    fn ask(&self, request: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        write!(stream, "{request} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        (answer[9..12].parse().unwrap(), answer)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn three_of_a_tenant_are_served_by_both_processes_together_and_the_others_are_shed() {
    let server = RedisServer::start();
    let processes = [Process::start(&server.url("")), Process::start(&server.url(""))];
    let answers: Vec<_> = thread::scope(|scope| {
        let asks: Vec<_> = (0..5)
            .map(|n| {
                let process = &processes[n % 2];
                scope.spawn(move || process.ask("POST /jobs/ann?ms=4000"))
            })
            .collect();
        // Another tenant does not wait, and what needs no permit is answered.
        assert_eq!(processes[0].ask("POST /jobs/bob?ms=1").0, 200);
        assert_eq!(processes[1].ask("GET /healthz").0, 200);
        asks.into_iter().map(|ask| ask.join().unwrap()).collect()
    });
    let with = |status| answers.iter().filter(move |answer| answer.0 == status);
    assert_eq!((with(200).count(), with(429).count()), (3, 2), "{answers:?}");
    assert!(with(429).all(|(_, answer)| answer.contains("\r\nretry-after: 1\r\n")), "{answers:?}");
    let mut slots: Vec<_> =
        with(200).filter_map(|(_, answer)| answer.split("slot ").nth(1)).collect();
    slots.sort_unstable();
    assert!(slots.iter().zip(["0", "1", "2"]).all(|(found, slot)| found.starts_with(slot)));
}
