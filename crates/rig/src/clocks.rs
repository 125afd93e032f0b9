//! Wall clocks of single processes, set by the library of `faketime`. The library leaves monotonic
//! clocks alone.

use std::{fs, io, path::PathBuf, process::Command};

use tempfile::TempDir;

use crate::redis::RedisServer;

/// One wall clock for each process. Every clock is right at first.
#[derive(Debug)]
pub struct Clocks {
    dir: TempDir,
    library: Option<String>,
}

impl Clocks {
    /// Finds the library. Without it clocks cannot be set.
    ///
    /// # Errors
    /// If there is no directory for the settings.
    pub fn new() -> io::Result<Self> {
        Ok(Self { dir: tempfile::tempdir()?, library: library() })
    }

    /// Returns whether clocks can be set on this machine.
    #[must_use]
    pub fn can_be_set(&self) -> bool {
        self.library.is_some()
    }

    /// Returns the environment with which a process must start so that its clock can be set.
    #[must_use]
    pub fn environment(&self, whose: &str) -> Vec<(String, String)> {
        let Some(library) = &self.library else { return Vec::new() };
        // The library and jemalloc, with which servers are built, call each other while they start.
        // The C library's malloc between them breaks that circle.
        let preload = match libc() {
            Some(libc) => format!("{library}:{libc}"),
            None => library.clone(),
        };
        if !self.file(whose).exists() {
            self.set(whose, 0);
        }
        let file = self.file(whose).display().to_string();
        let pairs = [
            ("LD_PRELOAD", preload.as_str()),
            ("FAKETIME_TIMESTAMP_FILE", &file),
            ("FAKETIME_NO_CACHE", "1"),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ];
        pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec()
    }

    /// Starts a server with this clock, and checks that the clock can be set, because a test would
    /// prove nothing if setting the clock had no effect. Where clocks cannot be set, the server has
    /// the clock of the machine.
    ///
    /// # Errors
    /// If the server does not start, or its clock cannot be set.
    pub fn server(&self, whose: &str, arguments: &[&str]) -> io::Result<RedisServer> {
        let server = RedisServer::try_within(arguments, &self.environment(whose))?;
        if self.can_be_set() {
            self.check(whose, &server)?;
        }
        Ok(server)
    }

    fn check(&self, whose: &str, server: &RedisServer) -> io::Result<()> {
        let before = time(server)?;
        self.set(whose, 1000);
        let after = time(server)?;
        self.set(whose, 0);
        match before.zip(after) {
            Some((before, after)) if (after - before - 1000).abs() < 100 => Ok(()),
            _ => Err(io::Error::other(format!(
                "the server's clock cannot be set: {before:?} {after:?}"
            ))),
        }
    }

    /// Sets a clock at once to be this many seconds ahead, or behind if negative.
    ///
    /// # Panics
    /// If the setting cannot be written.
    pub fn set(&self, whose: &str, off: i64) {
        let file = self.file(whose);
        let next = file.with_extension("next");
        fs::write(&next, format!("{off:+}\n")).expect("our own directory can be written");
        fs::rename(&next, file).expect("our own directory can be written");
    }

    fn file(&self, whose: &str) -> PathBuf {
        self.dir.path().join(whose)
    }
}

/// Asks a server for its clock, in seconds.
fn time(server: &RedisServer) -> io::Result<Option<i64>> {
    Ok(server.say(&["TIME"])?.first().and_then(|seconds| seconds.parse().ok()))
}

/// Returns the path of the library for programs with threads, as `faketime` hands it to its
/// children.
fn library() -> Option<String> {
    let output =
        Command::new("faketime").args(["-m", "-f", "+0s", "printenv", "LD_PRELOAD"]).output();
    let output = String::from_utf8(output.ok()?.stdout).ok()?;
    let library = output.trim();
    (!library.is_empty()).then(|| library.to_owned())
}

/// Returns the path of the C library that this program runs on.
fn libc() -> Option<String> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let path = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    path.filter(|path| path.ends_with("/libc.so.6")).map(str::to_owned).next()
}
