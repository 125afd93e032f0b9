//! A Redis server for one test, reached by a socket: no port that somebody else could take.

use std::{
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use seinpaal_conformance::servers::program;

use super::{kill, until};

pub(crate) struct RedisServer {
    pub(crate) socket: PathBuf,
    process: Child,
}

impl RedisServer {
    pub(super) fn start(directory: &Path, options: &[&str]) -> Self {
        let socket = directory.join("redis.sock");
        let process = program::command()
            .args(["--port", "0", "--save", "", "--appendonly", "no", "--dir"])
            .arg(directory)
            .arg("--unixsocket")
            .arg(&socket)
            .args(options)
            .stdout(Stdio::null())
            .spawn()
            .expect("the server is installed");
        until("redis-server listens", || UnixStream::connect(&socket).is_ok());
        Self { socket, process }
    }

    /// The server stops answering, and keeps its connections.
    pub(crate) fn freeze(&self) {
        kill("STOP", self.process.id());
    }

    /// The server loses everything that it keeps.
    pub(crate) fn forget(&self) {
        let mut command = Command::new("redis-cli");
        let status = command.arg("-s").arg(&self.socket).arg("FLUSHALL").stdout(Stdio::null());
        assert!(status.status().unwrap().success());
    }

    pub(crate) fn thaw(&self) {
        kill("CONT", self.process.id());
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
