//! The place of a peer's items: a fresh Redis that keeps nothing on disk, or a directory.

use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::peer::Place;

const START: Duration = Duration::from_secs(20);

/// A fresh place. Dropping the handle kills a server by its process id.
pub(crate) struct Server {
    dir: TempDir,
    redis: Option<(u16, Child)>,
}

impl Server {
    pub(crate) fn start(place: Place) -> io::Result<Self> {
        let dir = tempfile::tempdir()?;
        if place == Place::Directory {
            return Ok(Self { dir, redis: None });
        }
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let child = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--appendonly", "no"])
            .current_dir(dir.path())
            .stdout(Stdio::null())
            .spawn()?;
        let server = Self { dir, redis: Some((port, child)) };
        let until = Instant::now() + START;
        while server.info("server").is_err() {
            if Instant::now() > until {
                return Err(io::Error::other("redis-server does not start"));
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(server)
    }

    pub(crate) fn url(&self) -> String {
        match &self.redis {
            Some((port, _)) => format!("redis://127.0.0.1:{port}"),
            None => format!("file://{}", self.dir.path().display()),
        }
    }

    /// The processor time that the server has used so far, in microseconds. 0 if there is no
    /// server.
    pub(crate) fn cpu(&self) -> f64 {
        let info = self.info("cpu").unwrap_or_default();
        let of = |key: &str| {
            let value = info.lines().find_map(|line| line.strip_prefix(key));
            value.and_then(|value| value.trim().parse::<f64>().ok()).unwrap_or_default()
        };
        1e6 * (of("used_cpu_sys:") + of("used_cpu_user:"))
    }

    fn info(&self, section: &str) -> io::Result<String> {
        let Some((port, _)) = &self.redis else { return Ok(String::new()) };
        let mut stream = TcpStream::connect(("127.0.0.1", *port))?;
        stream.write_all(format!("INFO {section}\r\nQUIT\r\n").as_bytes())?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(text)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some((_, child)) = &mut self.redis {
            let _ = (child.kill(), child.wait()); // errors mean that it has ended
        }
    }
}
