//! A world for one test: a directory, a store, and the program in it. Waits are bounded and end on
//! a condition; nothing here is a matter of timing.

pub(crate) mod gate;
mod held;
mod ignored;
pub(crate) mod screen;

use std::{
    env, fs,
    io::{self, PipeReader, PipeWriter, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::LazyLock,
    thread,
    time::{Duration, Instant},
};

pub(crate) use held::Held;
use seinpaal_rig::RedisServer;
use tempfile::TempDir;

/// Longer than anything takes on a busy machine.
pub(crate) const BOUND: Duration = Duration::from_secs(180);

/// The program under test: `SEINPAAL_PROGRAM=/path/to/seinpaal` names another, for instance that of
/// a package. Of a program without shared libraries those tests must fail that [have a
/// library](World::library) do something in it.
pub(crate) fn program() -> &'static str {
    static NAMED: LazyLock<Option<String>> = LazyLock::new(|| env::var("SEINPAAL_PROGRAM").ok());
    NAMED.as_deref().unwrap_or(env!("CARGO_BIN_EXE_seinpaal"))
}

/// A directory, a store, the program.
pub(crate) struct World {
    directory: TempDir,
    pub(crate) store: String,
    pub(crate) redis: Option<RedisServer>,
}

/// How the program ended, and what it said.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl World {
    /// With a store of this machine's own.
    pub(crate) fn embedded() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = format!("file://{}/store", directory.path().display());
        Self { directory, store, redis: None }
    }

    /// With a Redis server of its own.
    pub(crate) fn redis() -> Self {
        Self::with_redis(&[])
    }

    pub(crate) fn with_redis(options: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let redis = RedisServer::with(options);
        let store = redis.socket_url("");
        Self { directory, store, redis: Some(redis) }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn root(&self) -> &Path {
        self.directory.path()
    }

    /// The program, with nothing of ours in its environment.
    ///
    /// It gets a process group of its own, as a shell would give it: in the group of a test run
    /// that its shell has left behind, the kernel stops nobody for TSTP.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(args).stdin(Stdio::null()).process_group(0);
        self.dress(&mut command);
        command
    }

    /// Gives a command this world's environment.
    pub(crate) fn dress(&self, command: &mut Command) {
        ignored::hear_what_is_ignored();
        command.env("SEINPAAL_STORE", &self.store).env("HOME", self.root());
        command.env("XDG_CONFIG_HOME", self.path("config")).env("TERM", "xterm");
        command.env_remove("NO_COLOR").current_dir(self.root());
    }

    /// Runs the program to its end.
    pub(crate) fn seinpaal(&self, args: &[&str]) -> Done {
        finish(self.command(args))
    }

    /// A library for `LD_PRELOAD`, in C.
    pub(crate) fn library(&self, name: &str, source: &str) -> PathBuf {
        let [code, library] = ["c", "so"].map(|end| self.path(name).with_extension(end));
        fs::write(&code, source).unwrap();
        let mut cc = Command::new("cc");
        let done = cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&code).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        library
    }

    /// `sh -c script`, with the program as `$SEINPAAL`.
    pub(crate) fn shell_command(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        self.dress(&mut command);
        command.env("SEINPAAL", program());
        command
    }

    /// Runs `sh -c script` to its end.
    pub(crate) fn shell(&self, script: &str) -> Done {
        finish(self.shell_command(script))
    }

    /// What `show --json` says of a name.
    pub(crate) fn show(&self, name: &str) -> serde_json::Value {
        let done = self.seinpaal(&["show", name, "--json"]);
        assert_eq!(done.code, 0, "{done:?}");
        serde_json::from_str(&done.out).unwrap()
    }

    /// What `queue show --json` says of a queue.
    pub(crate) fn queue(&self, name: &str) -> serde_json::Value {
        let done = self.seinpaal(&["queue", "show", name, "--json"]);
        assert_eq!(done.code, 0, "{done:?}");
        serde_json::from_str(&done.out).unwrap()
    }

    /// Pushes an item; its number.
    pub(crate) fn push(&self, queue: &str, payload: &str) -> String {
        let done = self.seinpaal(&["queue", "push", queue, payload]);
        assert_eq!((done.code, done.err.as_str()), (0, ""));
        done.out.trim_end().to_owned()
    }

    /// Works until the queue is empty, with `sh -c script`.
    pub(crate) fn work(&self, queue: &str, script: &str) -> Done {
        self.seinpaal(&["queue", "work", queue, "--until-empty", "--", "sh", "-c", script])
    }

    /// Waits until so many wait at a name.
    pub(crate) fn until_waiting(&self, name: &str, waiting: usize) {
        until("the queue has its length", || {
            self.show(name)["waiters"].as_array().unwrap().len() == waiting
        });
    }
}

/// A store of this machine's own, and a server.
pub(crate) fn both() -> [World; 2] {
    [World::embedded(), World::redis()]
}

/// A pipe that takes nothing more, and that nobody reads.
pub(crate) fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = io::pipe().unwrap();
    rustix::io::ioctl_fionbio(&writer, true).unwrap();
    for size in [4096, 1] {
        while writer.write(&vec![b'x'; size]).is_ok() {}
    }
    rustix::io::ioctl_fionbio(&writer, false).unwrap();
    (reader, writer)
}

fn finish(mut command: Command) -> Done {
    let Output { status, stdout, stderr } = command.output().unwrap();
    Done {
        code: status.code().expect("it exits, whatever CMD does"),
        out: String::from_utf8(stdout).unwrap(),
        err: String::from_utf8(stderr).unwrap(),
    }
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + BOUND;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        thread::park_timeout(Duration::from_millis(5));
    }
}

/// Waits until a file has a whole line, and returns all of it.
pub(crate) fn until_written(path: &Path) -> String {
    until(&format!("{} is written", path.display()), || {
        fs::read_to_string(path).is_ok_and(|text| text.ends_with('\n'))
    });
    fs::read_to_string(path).unwrap()
}

/// Returns whether a process runs. One that has ended and was not reaped yet does not.
pub(crate) fn lives(pid: u32) -> bool {
    !matches!(state(pid), None | Some(b'Z' | b'X'))
}

pub(crate) fn is_stopped(pid: u32) -> bool {
    state(pid) == Some(b'T')
}

/// A letter, or nothing if there is no such process.
fn state(pid: u32) -> Option<u8> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").map(|(_, rest)| rest.as_bytes()[0])
}

/// Sends a signal by name, as `kill -NAME`.
pub(crate) fn kill(signal: &str, pid: u32) {
    let status = Command::new("kill").args([&format!("-{signal}"), &pid.to_string()]).status();
    assert!(status.unwrap().success(), "kill -{signal} {pid}");
}
