//! Real servers, one a harness: each in a directory of its own, on a free port, gone with its handle.

pub mod again;
mod cluster;
pub mod fake;
pub mod program;
pub mod sentinel;
mod zookeeper;

use std::{
    fmt,
    io::{self, BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

pub use cluster::{Node, RedisCluster, until};
use tempfile::TempDir;

pub use zookeeper::ZookeeperEnsemble;

/// How long a server may take to start.
const START: Duration = Duration::from_secs(20);
/// A free port may be taken by somebody else before the server has it.
const TRIES: usize = 5;

/// A running server: see [`program`]. Killed, by its process id, when dropped; if the test failed its log is shown.
#[derive(Debug)]
pub struct RedisServer {
    port: u16,
    child: Child,
    log: Log,
    dir: TempDir,
    args: Vec<String>,
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl RedisServer {
    /// Starts a server that keeps nothing on disk.
    ///
    /// # Panics
    /// If the program is missing or does not start.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(&["--save", "", "--appendonly", "no"])
    }

    /// Starts a server with these arguments besides the port and the directory.
    ///
    /// # Panics
    /// If the program is missing or does not start.
    #[must_use]
    pub fn start_with(args: &[&str]) -> Self {
        let mut log = String::new();
        for _ in 0..TRIES {
            match Self::try_start(args) {
                Ok(server) => return server,
                Err(said) => log = said,
            }
        }
        panic!("redis-server does not start; it said:\n{log}")
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// As clients write it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// The process, for tests that stop or kill it.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills it and starts it again at the same place; what it had not kept on disk is gone.
    ///
    /// # Panics
    /// If it does not start again.
    pub fn start_again(&mut self) {
        end(&mut self.child);
        let args = self.args.iter().map(String::as_str).collect::<Vec<_>>();
        self.child = spawn(self.port, &self.dir, &args);
        let (log, ready) = follow(self.child.stdout.take().expect("piped"));
        self.log = log;
        let is_ready = ready.recv_timeout(START).is_ok() && answers_ping(self.port);
        assert!(is_ready, "redis-server does not start again: {}", self.log.text());
    }

    fn try_start(args: &[&str]) -> Result<Self, String> {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let port = free_port();
        let mut child = spawn(port, &dir, args);
        let (log, ready) = follow(child.stdout.take().expect("piped"));
        if ready.recv_timeout(START).is_ok() && answers_ping(port) {
            let args = args.iter().map(ToString::to_string).collect();
            return Ok(Self { port, child, log, dir, args });
        }
        end(&mut child);
        Err(log.text())
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        end(&mut self.child);
        if thread::panicking() {
            eprintln!("redis-server on port {} said:\n{}", self.port, self.log.text());
        }
    }
}

fn spawn(port: u16, dir: &TempDir, args: &[&str]) -> Child {
    let program = program::program();
    let started = Command::new(&program)
        .args(args) // a configuration file comes first
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--daemonize", "no"])
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn();
    match started {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            panic!("{} is missing: run ./test, which says how to get it", program.display())
        }
        Err(error) => panic!("{} does not start: {error}", program.display()),
    }
}

/// Keeps what the server says, and reports when it says that it is ready. The channel closes when the
/// server ends.
fn follow(stdout: impl Read + Send + 'static) -> (Log, mpsc::Receiver<()>) {
    let (log, (sender, ready)) = (Log::default(), mpsc::channel());
    let kept = log.clone();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if line.contains("eady to accept connections") {
                let _ = sender.send(()); // said again after a reload, when nobody asks any more
            }
            kept.push(&line);
        }
    });
    (log, ready)
}

fn answers_ping(port: u16) -> bool {
    let ping = || -> io::Result<[u8; 5]> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(START))?;
        stream.write_all(b"PING\r\n")?;
        let mut answer = [0; 5];
        stream.read_exact(&mut answer).map(|()| answer)
    };
    ping().is_ok_and(|answer| &answer == b"+PONG")
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    listener.local_addr().expect("an address").port()
}

fn end(child: &mut Child) {
    // Both fail only if it has ended already.
    let _ = child.kill();
    let _ = child.wait();
}

impl Log {
    fn push(&self, line: &str) {
        let mut text = self.0.lock().expect("nobody panics while writing");
        text.push_str(line);
        text.push('\n');
    }

    fn text(&self) -> String {
        self.0.lock().expect("nobody panics while writing").clone()
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_gone_when_its_handle_is() {
        let server = RedisServer::start();
        let port = server.port();
        assert!(answers_ping(port));
        drop(server);
        assert!(!answers_ping(port));
    }

    #[test]
    fn two_servers_do_not_get_in_each_others_way() {
        let (one, other) = (RedisServer::start(), RedisServer::start());
        assert_ne!(one.port(), other.port());
        assert!(answers_ping(one.port()) && answers_ping(other.port()));
    }
}
