//! A fresh Redis server that keeps nothing on disk, and its counts: instructions, commands,
//! processor time, memory.

use std::{
    cell::Cell,
    fs,
    io::{self, BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use redis::FromRedisValue;
use tempfile::TempDir;

use crate::{install, worker::processor_time};

const START: Duration = Duration::from_secs(60);
/// A time that is long enough to see work that the server does once a second.
const IDLE: Duration = Duration::from_secs(3);
const END: &str = "the tap ends here";

/// A server. Dropping the handle kills the server by its process id.
pub(crate) struct Server {
    dir: TempDir,
    port: u16,
    child: Child,
    /// The instructions a second of an idle server, which are subtracted from every count.
    by_clock: f64,
    since: Cell<Instant>,
}

/// A listener to the commands that clients send.
pub(crate) struct Tap {
    observer: redis::Connection,
    lines: JoinHandle<u32>,
}

impl Server {
    pub(crate) fn start() -> io::Result<Self> {
        Self::of(Command::new("redis-server"), &[])
    }

    /// Starts a server under callgrind, whose periodic work is made rare. `serverCron` is not
    /// counted: it asks the allocator for its statistics, which takes twice as many instructions as
    /// a renewal.
    pub(crate) fn counted() -> io::Result<Self> {
        ["valgrind", "callgrind_control"].into_iter().try_for_each(install::needs)?;
        let mut command = Command::new("valgrind");
        let output = "--callgrind-out-file=callgrind.out";
        command.args(["--tool=callgrind", "--instr-atstart=no", output]);
        command.args(["--toggle-collect=serverCron", "--collect-atstart=yes", "redis-server"]);
        command.stderr(Stdio::null());
        let mut server = Self::of(command, &["--hz", "1", "--dynamic-hz", "no"])?;
        server.count()?;
        thread::sleep(IDLE);
        server.by_clock = server.counted_since()? / server.since.get().elapsed().as_secs_f64();
        Ok(server)
    }

    fn of(mut command: Command, options: &[&str]) -> io::Result<Self> {
        install::needs("redis-server")?;
        let dir = tempfile::tempdir()?;
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        command.args(["--port", &port.to_string(), "--bind", "127.0.0.1"]).args(options);
        command.args(["--save", "", "--appendonly", "no"]).current_dir(dir.path());
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
        let server = Self { dir, port, child, by_clock: 0.0, since: Cell::new(Instant::now()) };
        let until = Instant::now() + START;
        while server.connect().is_err() {
            if Instant::now() > until {
                return Err(io::Error::other("redis-server does not start"));
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(server)
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) fn connect(&self) -> io::Result<redis::Connection> {
        let client = redis::Client::open(self.url()).map_err(io::Error::other)?;
        client.get_connection().map_err(io::Error::other)
    }

    /// Begins to count instructions.
    pub(crate) fn count(&self) -> io::Result<()> {
        self.control(&["-i", "on"])?;
        self.since.set(Instant::now());
        self.control(&["-z"])
    }

    /// The number of instructions that the server has executed since the last [`Self::count`].
    pub(crate) fn counted_since(&self) -> io::Result<f64> {
        let (before, seconds) = (self.dumps().count(), self.since.get().elapsed().as_secs_f64());
        self.control(&["-d"])?;
        let until = Instant::now() + START;
        loop {
            let newest = self.dumps().nth(before).map(fs::read_to_string).transpose()?;
            // The line `totals:` at the end shows that the file is whole. Its number cannot be
            // used, because it includes functions that are not counted.
            let lines = || newest.as_deref().unwrap_or_default().lines();
            let is_whole = lines().any(|line| line.starts_with("totals: "));
            let total = lines().find_map(|line| line.strip_prefix("summary: "));
            let total = total.filter(|_| is_whole);
            if let Some(total) = total.and_then(|total| total.trim().parse().ok()) {
                let total: f64 = total;
                return Ok(total - self.by_clock * seconds);
            }
            if Instant::now() > until {
                return Err(io::Error::other("callgrind writes no totals"));
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Lets Lua collect the garbage of earlier scripts. Otherwise a few calls may pay for many
    /// calls before them, or for none.
    pub(crate) fn collect(&self) -> io::Result<()> {
        let collect = "return collectgarbage('collect')";
        ask(&mut self.connect()?, redis::cmd("EVAL").arg(collect).arg(0))
    }

    /// The files that callgrind has written, in order.
    fn dumps(&self) -> impl Iterator<Item = PathBuf> {
        let name = |number| self.dir.path().join(format!("callgrind.out.{number}"));
        (1..).map(name).take_while(|path| path.exists())
    }

    fn control(&self, words: &[&str]) -> io::Result<()> {
        let mut command = Command::new("callgrind_control");
        let command = command.args(words).arg(self.child.id().to_string());
        let output = command.current_dir(self.dir.path()).output()?;
        if output.status.success() {
            return Ok(());
        }
        Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
    }

    /// The processor time of the thread that executes commands, in nanoseconds.
    pub(crate) fn cpu(&self) -> f64 {
        processor_time(&format!("/proc/{}", self.child.id()))
    }

    /// The bytes that the server's data and clients take.
    pub(crate) fn memory(&self) -> io::Result<f64> {
        let info: String = ask(&mut self.connect()?, redis::cmd("INFO").arg("memory"))?;
        let used = info.lines().find_map(|line| line.strip_prefix("used_memory:"));
        let used = used.and_then(|used| used.trim().parse().ok());
        used.ok_or_else(|| io::Error::other("INFO memory without used_memory"))
    }

    /// Starts to listen. Commands that were sent before are not heard.
    pub(crate) fn tap(&self) -> io::Result<Tap> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.write_all(b"MONITOR\r\n")?;
        let mut lines = BufReader::new(stream).lines();
        lines.next().transpose()?; // +OK
        let lines = thread::spawn(move || {
            let lines = lines.map_while(Result::ok).take_while(|line| !line.contains(END));
            lines.filter(|line| is_sent(line)).count() as u32
        });
        Ok(Tap { observer: self.connect()?, lines })
    }
}

impl Tap {
    /// Returns how many commands clients have sent since the start.
    pub(crate) fn end(mut self) -> io::Result<f64> {
        let _: String = ask(&mut self.observer, redis::cmd("ECHO").arg(END))?;
        self.lines.join().map(f64::from).map_err(|_| io::Error::other("the tap broke"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = (self.child.kill(), self.child.wait()); // errors mean that it has ended
    }
}

/// Sends a command, and returns the answer.
pub(crate) fn ask<T: FromRedisValue>(
    connection: &mut redis::Connection,
    command: &redis::Cmd,
) -> io::Result<T> {
    command.query(connection).map_err(io::Error::other)
}

/// Returns whether a client sent this command. Commands that a script called have a mark. The
/// observer's own greeting does not count.
fn is_sent(line: &str) -> bool {
    let source = line.split_once(" [").and_then(|(_, rest)| rest.split_once(']'));
    source.is_some_and(|(source, command)| {
        !source.ends_with(" lua") && !command.contains("\"CLIENT\" \"SETINFO\"")
    })
}
