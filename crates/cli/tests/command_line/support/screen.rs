//! A real pseudo-terminal.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    os::{fd::OwnedFd, unix::ffi::OsStringExt},
    process::{Child, Command},
    sync::{
        Arc, Mutex,
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::Duration,
};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::{World, lives, program, until};

/// A script that prints a word when it gets INT, and ends when it gets QUIT. A signal to the group
/// misses a child that the shell is just starting. So the child gets none of our output, and ends
/// soon.
pub(crate) const LISTEN: &str = "trap 'echo INT >>got; echo INT' INT; trap 'trap : TERM; kill 0; exit 3' QUIT; echo ready; \
                      while :; do sleep 1 >/dev/null 2>&1 & wait; done";

/// A terminal on which a program runs.
pub(crate) struct Screen {
    keys: File,
    shown: Arc<Mutex<String>>,
    process: Child,
    /// Disconnects when all output has been read.
    is_read: Receiver<()>,
}

impl Screen {
    /// Runs a program as the leader of a session on a new terminal.
    pub(crate) fn start(world: &World, words: &[&str]) -> Self {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let path = std::ffi::OsString::from_vec(ptsname(&master, vec![]).unwrap().into_bytes());
        let slave = || OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let mut command = Command::new("setsid");
        command.arg("--ctty").args(words).stdin(slave()).stdout(slave()).stderr(slave());
        world.dress(&mut command);
        command.env("SEINPAAL", program()).env("PS1", "$ ").env("LISTEN", LISTEN);
        let process = command.spawn().unwrap();
        let (keys, shown) = (File::from(master.try_clone().unwrap()), Arc::default());
        let is_read = read_along(master, Arc::clone(&shown));
        Self { keys, shown, process, is_read }
    }

    pub(crate) fn typed(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn until_shown(&self, what: &str) {
        until(&format!("{what:?} is shown"), || self.shown.lock().unwrap().contains(what));
    }

    pub(crate) fn shown(&self) -> String {
        self.shown.lock().unwrap().clone()
    }

    /// Returns the rows as a terminal shows them, if all output is drawn from the beginning of a
    /// row.
    pub(crate) fn rows(&self) -> String {
        let (shown, mut rows, mut at) = (self.shown(), vec![String::new(); 100], 0);
        for piece in shown.split("\x1b[") {
            let end = piece.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(0);
            let (sequence, text) = piece.split_at((end + 1).min(piece.len()));
            match sequence.split_once(';') {
                Some((row, "1H")) => at = row.parse::<usize>().unwrap() - 1,
                _ if sequence == "K" => rows[at].clear(),
                _ if sequence == "J" => rows[at..].iter_mut().for_each(String::clear),
                _ => {}
            }
            rows[at].push_str(text);
        }
        rows.join("\n")
    }

    /// Waits until the program has ended, even if its terminal accepts nothing.
    pub(crate) fn until_over(&self) {
        until("it ends", || !lives(self.process.id()));
    }

    /// Waits for the program's end, and then until all its output is shown. While another process
    /// still has the terminal open, the output has no end, so this wait is bounded.
    pub(crate) fn end(&mut self) -> i32 {
        let status = self.process.wait().unwrap().code().unwrap();
        let _ = self.is_read.recv_timeout(Duration::from_secs(5));
        status
    }
}

impl Drop for Screen {
    /// Cleans up after a failed test. The program leads the session of the terminal, so the kernel
    /// sends HUP to all others in it when the program is gone.
    fn drop(&mut self) {
        if matches!(self.process.try_wait(), Ok(None)) {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}

fn read_along(master: OwnedFd, shown: Arc<Mutex<String>>) -> Receiver<()> {
    let (reads, is_read) = mpsc::channel();
    thread::spawn(move || {
        let _until_all_is_read: Sender<()> = reads;
        let (mut master, mut buffer) = (File::from(master), [0; 4096]);
        while let Ok(read @ 1..) = master.read(&mut buffer) {
            shown.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    });
    is_read
}
