//! `seinpaal run` in the background.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use super::{Done, World, kill, lives, until};

/// The program while it runs. Its CMD writes to stdout, and may read from stdin.
pub(crate) struct Held {
    pub(crate) process: Child,
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: BufReader<ChildStdout>,
}

/// Says its process id, then lives for as long as its stdin is open.
pub(crate) const HOLD: &str = "echo $$; exec cat >/dev/null";

impl Held {
    /// Starts the program in the background.
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let stdin = process.stdin.take();
        let stdout = BufReader::new(process.stdout.take().unwrap());
        Self { process, stdin, stdout }
    }

    /// `run OPTIONS` with a CMD that holds until [`Held::let_go`]; returns when it holds, with
    /// CMD's id.
    pub(crate) fn hold(world: &World, options: &[&str]) -> (Self, u32) {
        Self::run(world, options, HOLD)
    }

    /// `run OPTIONS sh -c SCRIPT`, where the script first says its process id.
    pub(crate) fn run(world: &World, options: &[&str], script: &str) -> (Self, u32) {
        let args = [&["run"], options, &["--", "sh", "-c", script]].concat();
        let mut held = Self::start(world.command(&args));
        let pid = held.line();
        let pid = pid.parse().unwrap_or_else(|_| panic!("{pid:?}: {:?}", held.end()));
        (held, pid)
    }

    /// The next line of CMD.
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

    /// Stops the program while it only looks after its CMD: all that is done at the start is done.
    pub(crate) fn stop(&self) {
        let asleep = format!("/proc/{}/wchan", self.pid());
        until("it waits for what happens next", || {
            fs::read_to_string(&asleep)
                .is_ok_and(|place| place.contains("ep_poll") || place.contains("epoll"))
        });
        self.signal("STOP");
    }

    /// Ends a CMD that reads its stdin.
    pub(crate) fn let_go(mut self) -> Done {
        self.stdin = None;
        self.end()
    }

    /// Waits for the end.
    pub(crate) fn end(&mut self) -> Done {
        let (mut out, mut err) = (String::new(), String::new());
        self.process.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        self.stdout.read_to_string(&mut out).unwrap();
        let code = self.process.wait().unwrap().code().unwrap_or(-1);
        Done { code, out, err }
    }

    /// Kills the program as hard as can be, and sees it gone.
    pub(crate) fn kill_hard(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        until("it is gone", || !lives(self.pid()));
    }
}

impl Drop for Held {
    /// A test that failed leaves nothing behind.
    fn drop(&mut self) {
        self.stdin = None;
        if matches!(self.process.try_wait(), Ok(None)) {
            let _ = Command::new("kill").args(["-CONT", &self.pid().to_string()]).status();
            let _ = Command::new("kill").args(["-TERM", &self.pid().to_string()]).status();
        }
    }
}
