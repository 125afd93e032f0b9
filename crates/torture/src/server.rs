//! A Redis that keeps its port and its directory over its deaths, and whose clock can be set.

use std::{
    io::{self, BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use seinpaal_conformance::servers::program;
use tempfile::TempDir;

use crate::rig::clocks::Clocks;

const START: Duration = Duration::from_secs(20);
const ANSWER: Duration = Duration::from_secs(20);

/// A running server: the `redis-server` of this machine, or what `SEINPAAL_TEST_SERVER` names. Killed, by its process id, when dropped.
#[derive(Debug)]
pub struct Server {
    port: u16,
    dir: TempDir,
    arguments: Vec<String>,
    clock: Vec<(String, String)>,
    child: Child,
}

impl Server {
    /// Starts one with these arguments besides port and directory, and this clock.
    ///
    /// # Errors
    /// If the program is missing or does not start.
    pub fn start(arguments: &[&str], clocks: &Clocks, whose: &str) -> io::Result<Self> {
        let dir = tempfile::tempdir()?;
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let clock = clocks.environment(whose);
        let child = launch(port, dir.path(), &arguments, &clock)?;
        let server = Self { port, dir, arguments, clock, child };
        if clocks.can_be_set() {
            server.check_clock(clocks, whose)?;
        }
        Ok(server)
    }

    /// A clock that only seems to be set would prove nothing.
    fn check_clock(&self, clocks: &Clocks, whose: &str) -> io::Result<()> {
        let before: Option<i64> = self.time()?;
        clocks.set(whose, 1000);
        let after = self.time()?;
        clocks.set(whose, 0);
        match before.zip(after) {
            Some((before, after)) if (after - before - 1000).abs() < 100 => Ok(()),
            _ => Err(io::Error::other(format!(
                "the server's clock cannot be set: {before:?} {after:?}"
            ))),
        }
    }

    fn time(&self) -> io::Result<Option<i64>> {
        Ok(self.say(&["TIME"])?.first().and_then(|seconds| seconds.parse().ok()))
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Kills it (`SIGKILL`).
    pub fn kill(&mut self) {
        let _ = (self.child.kill(), self.child.wait()); // both fail only if it has ended already
    }

    /// Starts it again, with what it has on disk or, if it is to forget that, without.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start_again(&mut self, forgets: bool) -> io::Result<()> {
        if forgets {
            self.dir = tempfile::tempdir()?;
        }
        self.child = launch(self.port, self.dir.path(), &self.arguments, &self.clock)?;
        Ok(())
    }

    /// Stops it without ending it, or lets it go on.
    pub fn stop(&self, stop: bool) {
        signal(self.child.id(), if stop { Signal::STOP } else { Signal::CONT });
    }

    /// Says something to it and returns its answer, the parts of a list one by one.
    ///
    /// # Errors
    /// If it is not there, or refuses.
    pub fn say(&self, words: &[&str]) -> io::Result<Vec<String>> {
        say(self.port, words)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Sends a signal to a process that we started and have not waited for.
pub fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        let _ = kill_process(pid, signal); // it fails only if the process has ended
    }
}

fn launch(
    port: u16,
    dir: &Path,
    arguments: &[String],
    clock: &[(String, String)],
) -> io::Result<Child> {
    let program = program::program();
    let mut child = Command::new(&program)
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--daemonize", "no"])
        .args(arguments)
        .envs(clock.iter().cloned())
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| io::Error::other(format!("{}: {error}", program.display())))?;
    await_ready(&mut child)?;
    Ok(child)
}

/// It says when it is ready. What it says afterwards is read, so that it never blocks.
fn await_ready(child: &mut Child) -> io::Result<()> {
    let Some(stdout) = child.stdout.take() else { return Ok(()) };
    let mut lines = BufReader::new(stdout).lines();
    let mut said = String::new();
    for line in lines.by_ref().map_while(Result::ok) {
        if line.contains("eady to accept connections") {
            thread::spawn(move || lines.for_each(drop));
            return Ok(());
        }
        said.push_str(&line);
        said.push('\n');
    }
    let _ = child.wait();
    Err(io::Error::other(format!("redis-server does not start; it said:\n{said}")))
}

/// Says something to the server at this port.
///
/// # Errors
/// If it is not there, or refuses.
pub fn say(port: u16, words: &[&str]) -> io::Result<Vec<String>> {
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], port));
    let mut stream = TcpStream::connect_timeout(&address, START)?;
    stream.set_read_timeout(Some(ANSWER))?;
    let mut request = format!("*{}\r\n", words.len());
    for word in words {
        request.push_str(&format!("${}\r\n{word}\r\n", word.len()));
    }
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    take_answer(&mut BufReader::new(stream), &mut answer)?;
    Ok(answer)
}

fn take_answer(from: &mut impl BufRead, into: &mut Vec<String>) -> io::Result<()> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    let line = line.trim_end();
    let (kind, rest) = line.split_at_checked(1).unwrap_or(("", ""));
    let count = || rest.parse::<usize>().unwrap_or(0); // -1 is nothing
    match kind {
        "+" | ":" => into.push(rest.to_owned()),
        "$" if rest != "-1" => {
            let mut bytes = vec![0; count() + 2];
            from.read_exact(&mut bytes)?;
            bytes.truncate(count());
            into.push(String::from_utf8_lossy(&bytes).into_owned());
        }
        "$" => {}
        "*" => (0..count()).try_for_each(|_| take_answer(from, into))?,
        _ => return Err(io::Error::other(format!("the server says {line:?}"))),
    }
    Ok(())
}
