//! A server that can be killed, paused, and started again without its data at the same address.

use std::process::{Child, Command};

use tempfile::TempDir;

use super::{answers_ping, end, follow, free_port, spawn};

/// A Redis that keeps nothing. Killed, by its process id, when dropped.
#[derive(Debug)]
pub struct ForgetfulServer {
    port: u16,
    child: Child,
    dir: TempDir,
}

impl ForgetfulServer {
    /// Starts one on a free port.
    ///
    /// # Panics
    /// If the program is missing or does not start.
    #[must_use]
    pub fn start() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let port = free_port();
        let child = launch(port, &dir);
        Self { port, child, dir }
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Kills it; everything it knew is gone.
    pub fn kill(&mut self) {
        end(&mut self.child);
    }

    /// Starts it again, empty, at the same address.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start_again(&mut self) {
        end(&mut self.child);
        self.child = launch(self.port, &self.dir);
    }

    /// Stops it without ending it: it takes connections and answers nothing.
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on.
    pub fn resume(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(sent.expect("kill").success());
    }
}

impl Drop for ForgetfulServer {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

fn launch(port: u16, dir: &TempDir) -> Child {
    let mut child = spawn(port, dir, &["--save", "", "--appendonly", "no"]);
    let (log, ready) = follow(child.stdout.take().expect("piped"));
    let is_ready = ready.recv_timeout(super::START).is_ok() && answers_ping(port);
    assert!(is_ready, "redis-server does not start on port {port}; it said:\n{}", log.text());
    child
}
