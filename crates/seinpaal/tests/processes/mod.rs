//! Clients of the embedded store as processes that can be killed. The test binary runs itself again
//! and is spoken to line by line.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio, id},
    sync::{
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

pub(crate) mod client;
pub(crate) mod queue;

/// Longer than any machine takes; only a failing test waits for it.
pub(crate) const BOUND: Duration = Duration::from_secs(180);
pub(crate) const DIR: &str = "SEINPAAL_TEST_DIR";
pub(crate) const INBOX: &str = "SEINPAAL_TEST_INBOX";
/// Set: the client looks whether others live only when it is told of something.
pub(crate) const ONLY_WHEN_TOLD: &str = "SEINPAAL_TEST_ONLY_WHEN_TOLD";

/// A client in a process of its own.
#[derive(Debug)]
pub(crate) struct Client {
    process: Child,
    orders: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
}

/// A number that no other client or ticket of this test run has.
pub(crate) fn unique() -> u128 {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    u128::from(id()) << 96 | u128::from(COUNT.fetch_add(1, Ordering::Relaxed))
}

/// The command that runs a client by way of `program` (`[]`: directly).
pub(crate) fn command(dir: &Path, program: &[&str]) -> Command {
    through(&env::current_exe().unwrap(), dir, program)
}

/// The command that runs a client by way of `program`, from another copy of the test binary.
pub(crate) fn through(exe: &Path, dir: &Path, program: &[&str]) -> Command {
    let mut words = program.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    words.push(exe.to_str().unwrap().to_owned());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(["--exact", "a_client_process", "--nocapture"]);
    command.env(DIR, dir).env(INBOX, format!("{:032x}", unique()));
    command
}

/// A client of another user, who may not be allowed to run the test binary where it lies.
pub(crate) fn command_of_user(exe: &Path, dir: &Path, user: u32, group: u32) -> Command {
    let mut command = through(exe, dir, &[]);
    command.uid(user).gid(group).current_dir("/");
    command
}

/// A copy of the test binary that everybody may run.
pub(crate) fn public_exe() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let exe = dir.path().join("client");
    // Copied by another process: a file that a fork of this one has open for writing cannot be run.
    let copied = Command::new("cp").arg(env::current_exe().unwrap()).arg(&exe).status().unwrap();
    assert!(copied.success());
    fs::set_permissions(&exe, fs::Permissions::from_mode(0o755)).unwrap();
    (dir, exe)
}

impl Client {
    /// Starts a client of the store in `dir`, which says that it is open.
    pub(crate) fn start(dir: &Path) -> Self {
        let client = Self::spawn(command(dir, &[]));
        assert_eq!(client.line(), "open");
        client
    }

    /// Starts a client that hears of deaths only by what it is told.
    pub(crate) fn that_is_only_told(dir: &Path) -> Self {
        let mut command = command(dir, &[]);
        command.env(ONLY_WHEN_TOLD, "1");
        let client = Self::spawn(command);
        assert_eq!(client.line(), "open");
        client
    }

    pub(crate) fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let orders = process.stdin.take();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                // The test harness may print about itself earlier in the line.
                if let Some((_, said)) = line.split_once("> ") {
                    let _ = send.send(said.to_owned());
                }
            }
        });
        Self { process, orders, lines }
    }

    /// The next line it says.
    pub(crate) fn line(&self) -> String {
        self.lines.recv_timeout(BOUND).expect("the client says something")
    }

    /// Gives an order and returns the answer.
    pub(crate) fn order(&mut self, order: &str) -> String {
        self.give(order);
        self.line()
    }

    /// Gives an order.
    pub(crate) fn give(&mut self, order: &str) {
        writeln!(self.orders.as_mut().unwrap(), "{order}").unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    /// Lets it end in an orderly way.
    pub(crate) fn end(mut self) {
        self.orders = None;
        assert!(self.process.wait().unwrap().success());
    }

    /// Lets it end in an orderly way, and returns all that it had not been asked about.
    pub(crate) fn end_and_hear(mut self) -> Vec<String> {
        self.orders = None;
        let said = self.rest();
        assert!(self.process.wait().unwrap().success());
        said
    }

    /// The output of the process until it ends.
    fn rest(&self) -> Vec<String> {
        let mut said = Vec::new();
        loop {
            match self.lines.recv_timeout(BOUND) {
                Ok(line) => said.push(line),
                Err(mpsc::RecvTimeoutError::Disconnected) => return said,
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("it does not end: {said:?}"),
            }
        }
    }

    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Kills it, and returns all that it had not been asked about.
    pub(crate) fn kill_and_hear(mut self) -> Vec<String> {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.rest()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Tests with several users or mounts have to be run by root (CI does).
pub(crate) fn require_root() {
    assert!(
        rustix::process::geteuid().is_root(),
        "this test starts processes of other users: run it as root"
    );
}

/// The command that puts a program into namespaces of its own. A user who is not root becomes root
/// there.
pub(crate) fn unshare(options: &[&'static str]) -> Vec<&'static str> {
    let mut words = vec!["unshare"];
    if !rustix::process::geteuid().is_root() {
        words.extend(["--user", "--map-root-user"]);
    }
    words.extend(options);
    words
}
