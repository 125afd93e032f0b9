//! `seinpaal run` in the background.

use std::{
    fs,
    io::{self, BufRead, BufReader, Read},
    os::unix::process::CommandExt,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{
    Pid, Signal, kill_process, kill_process_group, set_parent_process_death_signal,
};

use super::{Done, World, kill, lives, until};

/// How long a program that a failed test left behind may take to end its CMD. No result depends on
/// it.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// The running program. Its CMD writes to stdout, and may read from stdin.
pub(crate) struct Held {
    pub(crate) process: Child,
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: BufReader<ChildStdout>,
}

/// A script that prints its process id, and then lives for as long as its stdin is open.
pub(crate) const HOLD: &str = "echo $$; exec cat >/dev/null";

impl Held {
    /// Starts the program in the background.
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // SAFETY: between fork and exec this makes one system call, and allocates nothing.
        unsafe { command.pre_exec(end_with_the_test) };
        let mut process = command.spawn().unwrap();
        let stdin = process.stdin.take();
        let stdout = BufReader::new(process.stdout.take().unwrap());
        Self { process, stdin, stdout }
    }

    /// Starts `run OPTIONS` with a CMD that holds until [`Held::let_go`]. Returns when it holds,
    /// with CMD's process id.
    pub(crate) fn hold(world: &World, options: &[&str]) -> (Self, u32) {
        Self::run(world, options, HOLD)
    }

    /// Starts `run OPTIONS sh -c SCRIPT`. The script must print its process id first.
    pub(crate) fn run(world: &World, options: &[&str], script: &str) -> (Self, u32) {
        let args = [&["run"], options, &["--", "sh", "-c", script]].concat();
        let mut held = Self::start(world.command(&args));
        let pid = held.line();
        let pid = pid.parse().unwrap_or_else(|_| panic!("{pid:?}: {:?}", held.end()));
        (held, pid)
    }

    /// Reads the next line of CMD.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        kill(name, self.pid());
    }

    /// Stops the program at a moment when all steps of its start are done, and it only looks after
    /// its CMD.
    pub(crate) fn stop(&self) {
        let asleep = format!("/proc/{}/wchan", self.pid());
        until("it waits for events", || {
            fs::read_to_string(&asleep)
                .is_ok_and(|place| place.contains("ep_poll") || place.contains("epoll"))
        });
        self.signal("STOP");
    }

    /// Closes CMD's stdin, which ends a CMD that reads it, and waits for the end.
    pub(crate) fn let_go(mut self) -> Done {
        self.stdin = None;
        self.end()
    }

    /// Waits for the program's end.
    pub(crate) fn end(&mut self) -> Done {
        let (mut out, mut err) = (String::new(), String::new());
        self.process.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        self.stdout.read_to_string(&mut out).unwrap();
        let code = self.process.wait().unwrap().code().unwrap_or(-1);
        Done { code, out, err }
    }

    /// Signals the program's group, or the program alone if it has none of its own.
    fn leave(&self, signal: Signal) {
        let pid = Pid::from_child(&self.process);
        if kill_process_group(pid, signal).is_err() {
            let _ = kill_process(pid, signal);
        }
    }

    fn is_over(&mut self) -> bool {
        !matches!(self.process.try_wait(), Ok(None))
    }

    /// Kills the program with SIGKILL, and waits until it is gone.
    pub(crate) fn kill_hard(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        until("it is gone", || !lives(self.pid()));
    }
}

impl Drop for Held {
    /// Cleans up after a failed test. The program is asked to end first, because it then ends its
    /// CMD, which has a process group of its own.
    fn drop(&mut self) {
        self.stdin = None;
        if !self.is_over() {
            self.leave(Signal::CONT);
            self.leave(Signal::TERM);
            let until = Instant::now() + LAST_WORDS;
            while !self.is_over() && Instant::now() < until {
                thread::park_timeout(Duration::from_millis(5));
            }
            if !self.is_over() {
                self.leave(Signal::KILL);
                let _ = self.process.wait();
            }
        }
    }
}

/// Makes the kernel end the program if the thread of its test is gone. So even a killed test
/// program leaves nothing behind.
fn end_with_the_test() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::TERM))?)
}
