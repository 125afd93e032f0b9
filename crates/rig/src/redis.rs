//! One Redis.

use std::{
    fs::{self, File},
    io,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::{
    process::{BOUND, TRIES, end, free_port, signal, spawn},
    program,
    say::{say, say_on},
};

/// How long an answer may take. Some questions are told to take seconds.
const ANSWER: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// What all servers have unless their own arguments say otherwise.
const USUAL: [&str; 6] = ["--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0"];

/// A running server (see [`program`]) that listens on a port of this machine and on a Unix socket.
/// It keeps both, and its directory, over its deaths. Killed, by its process id, when dropped; if the
/// test failed the end of its log is shown.
#[derive(Debug)]
pub struct RedisServer {
    port: u16,
    directory: TempDir,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    child: Option<Child>,
}

impl RedisServer {
    /// Starts a server that keeps nothing on disk.
    ///
    /// # Panics
    /// If the program is missing or does not start.
    #[must_use]
    pub fn start() -> Self {
        Self::with(&[])
    }

    /// Starts one with more arguments, such as `["--maxmemory", "3mb"]`. A configuration file comes
    /// first among them, and then nothing is usual.
    ///
    /// # Panics
    /// If the program is missing or does not start.
    #[must_use]
    pub fn with(arguments: &[&str]) -> Self {
        Self::within(arguments, &[])
    }

    /// The same with more of an environment.
    ///
    /// # Panics
    /// If the program is missing or does not start.
    #[must_use]
    pub fn within(arguments: &[&str], environment: &[(String, String)]) -> Self {
        Self::try_within(arguments, environment).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Starts one whose environment names a language, as that of a service often does: there Lua
    /// compares strings as words are sorted, and not byte by byte.
    ///
    /// # Panics
    /// If the program or the language is missing, or it does not start.
    #[must_use]
    pub fn of_a_language() -> Self {
        let locales = tempfile::tempdir().expect("a temporary directory");
        let locale = locales.path().join("en_US.UTF-8");
        let made =
            Command::new("localedef").args(["-i", "en_US", "-f", "UTF-8"]).arg(locale).status();
        assert!(made.is_ok_and(|made| made.success()), "no locale: run ./test, which installs it");
        let named = |variable: &str, value: &str| (variable.to_owned(), value.to_owned());
        let place = locales.path().display().to_string();
        // Read when it starts.
        let server = Self::within(&[], &[named("LC_ALL", "en_US.UTF-8"), named("LOCPATH", &place)]);
        // People put "a" before "B", and bytes do not.
        let sorted = server.say(&["EVAL", "return 'a' < 'B' and 1 or 0", "0"]).expect("an answer");
        assert_eq!(sorted, ["1"], "this server compares bytes");
        server
    }

    /// As [`within`](Self::within).
    ///
    /// # Errors
    /// If the program is missing or does not start.
    pub fn try_within(arguments: &[&str], environment: &[(String, String)]) -> io::Result<Self> {
        let arguments: Vec<_> = arguments.iter().map(ToString::to_string).collect();
        for _ in 1..TRIES {
            match Self::once(&arguments, environment) {
                Err(error) if is_taken(&error) => {}
                started => return started,
            }
        }
        Self::once(&arguments, environment)
    }

    fn once(arguments: &[String], environment: &[(String, String)]) -> io::Result<Self> {
        let mut server = Self {
            port: free_port(),
            directory: tempfile::tempdir()?,
            arguments: arguments.to_vec(),
            environment: environment.to_vec(),
            child: None,
        };
        server.try_start_again().map(|()| server)
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// As clients write it, with `options` like `"?prefix=a:"`.
    #[must_use]
    pub fn url(&self, options: &str) -> String {
        format!("redis://127.0.0.1:{}{options}", self.port)
    }

    /// The Unix socket on which it listens, too.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.directory.path().join("redis.sock")
    }

    /// As clients write its socket, with `options` like `"?prefix=a:"`.
    #[must_use]
    pub fn socket_url(&self, options: &str) -> String {
        format!("unix://{}{options}", self.socket().display())
    }

    /// Where it keeps what it keeps.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The process, for tests that look at it.
    ///
    /// # Panics
    /// If it was killed.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("it is up").id()
    }

    /// Whether it was not killed.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.child.is_some()
    }

    /// Kills it (`SIGKILL`). What it had not kept on disk is gone.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            end(&mut child);
        }
    }

    /// Kills it, and removes what it kept on disk.
    ///
    /// # Panics
    /// If that cannot be removed.
    pub fn kill_and_forget(&mut self) {
        self.kill();
        self.directory = tempfile::tempdir().expect("a temporary directory");
    }

    /// Starts it again at the same place, killed or not.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start_again(&mut self) {
        self.try_start_again().unwrap_or_else(|error| panic!("{error}"));
    }

    /// The same with other arguments.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start_again_with(&mut self, arguments: &[&str]) {
        self.arguments = arguments.iter().map(ToString::to_string).collect();
        self.start_again();
    }

    /// As [`start_again`](Self::start_again).
    ///
    /// # Errors
    /// If it does not start.
    pub fn try_start_again(&mut self) -> io::Result<()> {
        self.kill();
        let log = File::options().create(true).append(true).open(self.log())?;
        self.child =
            Some(spawn(self.command().stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log))?);
        self.await_answer()
    }

    /// Stops it without ending it (`SIGSTOP`): it takes connections and answers nothing.
    ///
    /// # Panics
    /// If it was killed.
    pub fn pause(&self) {
        signal(self.pid(), Signal::STOP);
    }

    /// Lets it go on.
    ///
    /// # Panics
    /// If it was killed.
    pub fn resume(&self) {
        signal(self.pid(), Signal::CONT);
    }

    /// Says something to it: see [`say`].
    ///
    /// # Errors
    /// If it is not there, is silent for twenty seconds, or refuses.
    pub fn say(&self, words: &[&str]) -> io::Result<Vec<String>> {
        say(self.port, words, ANSWER)
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

    /// One that does not take its arguments ends at once, and would be waited for in vain.
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

/// Whether somebody else has the port that was free.
pub(crate) fn is_taken(error: &io::Error) -> bool {
    error.to_string().contains("already in use")
}

/// Whether it answers, be it that we lack a password; while it loads what it has on disk it does not count.
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

#[cfg(test)]
mod tests;
