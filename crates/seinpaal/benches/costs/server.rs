//! A Redis server under observation: its commands, its processor time, its memory.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    thread::{self, JoinHandle},
};

use seinpaal_rig::RedisServer;

const END: &str = "the tap ends here";

/// The server, and a connection of the observer's own.
pub(crate) struct Server {
    redis: RedisServer,
    observer: redis::Connection,
}

/// Records the commands that clients send.
pub(crate) struct Tap {
    observer: redis::Connection,
    lines: JoinHandle<Vec<String>>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let redis = RedisServer::start();
        let observer = observer(&redis);
        Self { redis, observer }
    }

    pub(crate) fn url(&self) -> String {
        self.redis.url("")
    }

    /// Starts to listen. Commands that were sent before are not heard.
    pub(crate) fn tap(&self) -> Tap {
        let mut stream = UnixStream::connect(self.redis.socket()).expect("the server listens");
        stream.write_all(b"MONITOR\r\n").expect("the server reads");
        let mut lines = BufReader::new(stream).lines();
        let first = lines.next().expect("an answer").expect("text");
        assert_eq!(first, "+OK");
        let lines = thread::spawn(move || {
            let lines = lines.map(|line| line.expect("the server goes on"));
            lines.take_while(|line| !line.contains(END)).filter(|line| is_sent(line)).collect()
        });
        Tap { observer: observer(&self.redis), lines }
    }

    /// The processor time of the thread that executes commands, in nanoseconds.
    pub(crate) fn cpu(&self) -> u64 {
        let path = format!("/proc/{}/schedstat", self.redis.pid());
        let text = fs::read_to_string(path).expect("the kernel counts");
        text.split(' ').next().and_then(|first| first.parse().ok()).expect("a number")
    }

    pub(crate) fn memory(&mut self) -> u64 {
        let info: String = self.ask("INFO", "memory");
        let used = info.lines().find_map(|line| line.strip_prefix("used_memory:"));
        used.and_then(|used| used.trim().parse().ok()).expect("the server says")
    }

    /// Executes a script that does nothing, so many times, one after another.
    pub(crate) fn do_nothing(&mut self, times: u32) {
        let hash: String = redis::cmd("SCRIPT")
            .arg(&["LOAD", "return 1"])
            .query(&mut self.observer)
            .expect("the server takes scripts");
        for _ in 0..times {
            let mut nothing = redis::cmd("EVALSHA");
            nothing.arg(&hash).arg(1).arg("{a}:records").arg("1").arg("2");
            nothing.exec(&mut self.observer).expect("the server executes scripts");
        }
    }

    fn ask<T: redis::FromRedisValue>(&mut self, command: &str, argument: &str) -> T {
        redis::cmd(command).arg(argument).query(&mut self.observer).expect("the server answers")
    }
}

impl Tap {
    /// Returns the commands that were sent since the start, in the order of their execution.
    pub(crate) fn end(mut self) -> Vec<String> {
        redis::cmd("ECHO").arg(END).exec(&mut self.observer).expect("the server answers");
        self.lines.join().expect("the tap reads to its end")
    }
}

fn observer(redis: &RedisServer) -> redis::Connection {
    let client = redis::Client::open(redis.url("")).expect("a good URL");
    client.get_connection().expect("the server listens")
}

/// Returns whether a client sent the command. Commands that a script called are marked, and are not
/// counted. Neither is the observer's own greeting.
fn is_sent(line: &str) -> bool {
    let source = line.split_once(" [").and_then(|(_, rest)| rest.split_once(']'));
    source.is_some_and(|(source, command)| {
        !source.ends_with(" lua") && !command.contains("\"CLIENT\" \"SETINFO\"")
    })
}
