//! A terminal with a shell on it.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    os::{fd::OwnedFd, unix::ffi::OsStringExt},
    process::Child,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::{
    end::PossibleEnd,
    history::{DayWhat, JobStart},
    world::DayWorld,
};

const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Has the shell print a command's status. The quotes keep the screen from showing that word
/// before.
pub const TELL: &str = "echo sta\"\"tus $?";
/// The text before the status.
const STATUS: &str = "status ";

/// A terminal, and the job that was typed there.
#[derive(Debug)]
pub struct TypedScreen {
    world: DayWorld,
    who: String,
    keys: File,
    shown: Arc<Mutex<String>>,
    shell: Child,
}

impl TypedScreen {
    /// Starts a shell with job control on a new terminal, and types a command.
    ///
    /// # Errors
    /// If there is no terminal to be had.
    pub fn start(
        world: &DayWorld,
        who: String,
        command: &str,
        end: PossibleEnd,
    ) -> io::Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let path = std::ffi::OsString::from_vec(ptsname(&master, vec![])?.into_bytes());
        let slave = || OpenOptions::new().read(true).write(true).open(&path);
        let mut shell = world.command(&who, "setsid");
        shell.args(["--ctty", "bash", "--norc", "-i"]).env("PS1", "$ ");
        let shell = shell.stdin(slave()?).stdout(slave()?).stderr(slave()?).spawn()?;
        let (keys, shown) = (File::from(master.try_clone()?), Arc::default());
        read_along(master, Arc::clone(&shown));
        let argv = vec!["bash".to_owned(), command.to_owned()];
        let start = JobStart { argv, want: None, ends: vec![end], is_hurried: true };
        world.note(&who, DayWhat::Started(start));
        let mut screen = Self { world: world.clone(), who, keys, shown, shell };
        screen.typed(&format!("{command}\n"))?;
        Ok(screen)
    }

    /// Types these keys.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub fn typed(&mut self, keys: &str) -> io::Result<()> {
        self.keys.write_all(keys.as_bytes())
    }

    /// Waits until this text is shown. Returns whether it came in time.
    #[must_use]
    pub fn until_shown(&self, what: &str, bound: Duration) -> bool {
        let deadline = Instant::now() + bound;
        while !self.shown().contains(what) {
            if Instant::now() > deadline {
                return false;
            }
            thread::sleep(LOOK_EVERY);
        }
        true
    }

    /// All that the terminal has shown.
    #[must_use]
    pub fn shown(&self) -> String {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until the command has ended and its status is [told](TELL). Writes both down.
    pub fn finish(mut self, bound: Duration) -> String {
        if !self.until_shown(STATUS, bound) {
            self.world.note(&self.who, DayWhat::Hung);
        }
        // The number and the end of its line come together, or soon after each other.
        let _ = self.until_shown_after_status();
        let shown = self.shown();
        let status = shown.rsplit_once(STATUS).and_then(|(_, rest)| {
            rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
        });
        let ended =
            DayWhat::Ended { status: status.unwrap_or(-1), out: shown.clone(), err: String::new() };
        self.world.note(&self.who, ended);
        let _ = self.typed("exit\n"); // a shell that is gone needs no telling
        let _ = (self.shell.kill(), self.shell.wait());
        shown
    }

    fn until_shown_after_status(&self) -> bool {
        let deadline = Instant::now() + Duration::from_secs(5);
        while Instant::now() < deadline {
            let shown = self.shown();
            if shown.rsplit_once(STATUS).is_some_and(|(_, rest)| rest.contains('\n')) {
                return true;
            }
            thread::sleep(LOOK_EVERY);
        }
        false
    }
}

fn read_along(master: OwnedFd, shown: Arc<Mutex<String>>) {
    let mut master = File::from(master);
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        // When nobody has the other end any more, reading a terminal fails. That error is the end.
        while let Ok(length @ 1..) = master.read(&mut bytes) {
            let text = String::from_utf8_lossy(&bytes[..length]);
            shown.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
        }
    });
}
