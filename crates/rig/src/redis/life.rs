//! The start of a server, and all the ways in which it ends.

use std::{
    fs::{self, File},
    io,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::Signal;

use super::{ANSWER, RedisServer};
use crate::{
    process::{BOUND, end, signal, spawn},
    program,
    say::say_on,
};

const LOOK_EVERY: Duration = Duration::from_millis(2);
/// The arguments of every server, unless the server's own arguments override them.
const USUAL: [&str; 6] = ["--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0"];

impl RedisServer {
    /// Kills the server (`SIGKILL`). Data that was not on disk is gone.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            end(&mut child);
        }
    }

    /// Kills the server, and removes its files.
    ///
    /// # Panics
    /// If there is no directory for its next files.
    pub fn kill_and_forget(&mut self) {
        self.kill();
        self.directory = tempfile::tempdir().expect("a temporary directory");
    }

    /// Starts the server again on the same port and directory. Kills it first if it is up.
    ///
    /// # Panics
    /// If the server does not start.
    pub fn start_again(&mut self) {
        self.try_start_again().unwrap_or_else(|error| panic!("{error}"));
    }

    /// Starts the server again with other arguments.
    ///
    /// # Panics
    /// If the server does not start.
    pub fn start_again_with(&mut self, arguments: &[&str]) {
        self.arguments = arguments.iter().map(ToString::to_string).collect();
        self.start_again();
    }

    /// As [`start_again`](Self::start_again).
    ///
    /// # Errors
    /// If the server does not start.
    pub fn try_start_again(&mut self) -> io::Result<()> {
        self.kill();
        let log = File::options().create(true).append(true).open(self.log())?;
        self.child =
            Some(spawn(self.command().stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log))?);
        self.await_answer()
    }

    /// Stops the server without ending it (`SIGSTOP`): the kernel accepts connections, and nothing
    /// answers.
    ///
    /// # Panics
    /// If the server was killed.
    pub fn pause(&self) {
        signal(self.pid(), Signal::STOP);
    }

    /// Lets a stopped server go on.
    ///
    /// # Panics
    /// If the server was killed.
    pub fn resume(&self) {
        signal(self.pid(), Signal::CONT);
    }

    fn log(&self) -> PathBuf {
        self.directory.path().join("log")
    }

    fn command(&self) -> Command {
        let has_file = self.arguments.first().is_some_and(|first| !first.starts_with("--"));
        let (file, more) = self.arguments.split_at(usize::from(has_file));
        let mut command = program::command();
        command
            .args(file) // a configuration file comes first
            .args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--daemonize", "no"])
            .args(["--unixsocket", "redis.sock"])
            .args(USUAL.iter().filter(|_| !has_file))
            .args(more)
            .envs(self.environment.iter().cloned())
            .current_dir(self.directory.path());
        command
    }

    /// Waits until the server answers. A server that refuses its arguments ends at once, and this
    /// returns its error.
    fn await_answer(&mut self) -> io::Result<()> {
        let deadline = Instant::now() + BOUND;
        while Instant::now() < deadline {
            if answers(&self.socket()) {
                return Ok(());
            }
            if self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(Some(_)))) {
                break;
            }
            thread::park_timeout(LOOK_EVERY);
        }
        self.kill();
        Err(io::Error::other(format!(
            "redis-server does not start; it said:\n{}",
            self.last_said()
        )))
    }

    fn last_said(&self) -> String {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(40)..].join("\n")
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
        if thread::panicking() {
            eprintln!("redis-server on port {} said at last:\n{}", self.port, self.last_said());
        }
    }
}

/// Returns whether the server answers. A demand for a password counts as an answer. The error of a
/// server that still loads its data does not.
fn answers(socket: &Path) -> bool {
    let ping = || -> io::Result<Vec<String>> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(ANSWER))?;
        say_on(stream, &["PING"])
    };
    match ping() {
        Ok(_) => true,
        Err(error) => error.to_string().starts_with("-NOAUTH"),
    }
}
