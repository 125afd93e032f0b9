//! A single Redis server for a test: its start, and the places where it listens. `life.rs` has the
//! ways in which it ends.

mod life;

use std::{
    io,
    path::{Path, PathBuf},
    process::{Child, Command},
    time::Duration,
};

use tempfile::TempDir;

use crate::{
    process::{TRIES, free_port},
    say::say,
};

/// How long an answer may take. Some commands of tests take seconds on purpose.
const ANSWER: Duration = Duration::from_secs(20);

/// A running server (see [`program`](crate::program)) that listens on a port of this machine and on
/// a Unix socket. The server keeps both, and its directory, when it is killed and started again.
/// Dropping the handle kills the server by its process id, and shows the end of its log if the test
/// failed.
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

    /// Starts a server with more arguments, such as `["--maxmemory", "3mb"]`. If the first of them
    /// is a configuration file, the usual arguments are left out.
    ///
    /// # Panics
    /// If the program is missing or does not start.
    #[must_use]
    pub fn with(arguments: &[&str]) -> Self {
        Self::within(arguments, &[])
    }

    /// Starts a server with more arguments and more variables in its environment.
    ///
    /// # Panics
    /// If the program is missing or does not start.
    #[must_use]
    pub fn within(arguments: &[&str], environment: &[(String, String)]) -> Self {
        Self::try_within(arguments, environment).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Starts a server whose environment names a language, as the environment of a service often
    /// does. Lua scripts of such a server compare strings in the order of that language, and not
    /// byte by byte.
    ///
    /// # Panics
    /// If the program or the language is missing, or the server does not start.
    #[must_use]
    pub fn of_a_language() -> Self {
        let locales = tempfile::tempdir().expect("a temporary directory");
        let locale = locales.path().join("en_US.UTF-8");
        let made =
            Command::new("localedef").args(["-i", "en_US", "-f", "UTF-8"]).arg(locale).status();
        assert!(made.is_ok_and(|made| made.success()), "no locale: run ./test, which installs it");
        let named = |variable: &str, value: &str| (variable.to_owned(), value.to_owned());
        let place = locales.path().display().to_string();
        // The server reads the variable when it starts.
        let server = Self::within(&[], &[named("LC_ALL", "en_US.UTF-8"), named("LOCPATH", &place)]);
        // English sorts "a" before "B". Their bytes sort "B" first.
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

    /// The port that the server listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The server's URL, with `options` like `"?prefix=a:"`.
    #[must_use]
    pub fn url(&self, options: &str) -> String {
        format!("redis://127.0.0.1:{}{options}", self.port)
    }

    /// The Unix socket that the server also listens on.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.directory.path().join("redis.sock")
    }

    /// The URL of the socket, with `options` like `"?prefix=a:"`.
    #[must_use]
    pub fn socket_url(&self, options: &str) -> String {
        format!("unix://{}{options}", self.socket().display())
    }

    /// The directory of the server's files.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The server's process id, for tests that look at the process.
    ///
    /// # Panics
    /// If the server was killed.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("it is up").id()
    }

    /// Returns whether the server is up. It is up until it is killed.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.child.is_some()
    }

    /// Sends a command to the server: see [`say`].
    ///
    /// # Errors
    /// If the server is not there, is silent for twenty seconds, or refuses the command.
    pub fn say(&self, words: &[&str]) -> io::Result<Vec<String>> {
        say(self.port, words, ANSWER)
    }
}

/// Returns whether another process has taken the port since it was chosen.
pub(crate) fn is_taken(error: &io::Error) -> bool {
    error.to_string().contains("already in use")
}

#[cfg(test)]
mod tests;
