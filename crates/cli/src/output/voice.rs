//! The messages of this program, on stderr.

use std::{
    fmt::Display,
    fs::File,
    io::{self, IsTerminal},
    panic,
    sync::OnceLock,
};

use super::{Outlet, text::plain};

/// The messages that the user wants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Voice {
    quiet: bool,
    verbosity: u8,
}

impl Voice {
    /// Makes a voice. `verbosity` is the number of `-v`.
    pub(crate) fn new(quiet: bool, verbosity: u8) -> Self {
        Self { quiet, verbosity: if quiet { 0 } else { verbosity } }
    }

    /// Prints a message for every user.
    pub(crate) fn say(self, words: impl Display) {
        if !self.quiet {
            write_line(&words.to_string());
        }
    }

    /// Prints a message for `-v`.
    pub(crate) fn explain(self, words: impl Display) {
        if self.verbosity > 0 {
            write_line(&words.to_string());
        }
    }

    /// Prints a message for `-vv`.
    pub(crate) fn explain_more(self, words: impl Display) {
        if self.verbosity > 1 {
            write_line(&words.to_string());
        }
    }

    /// Returns whether `-q` was given.
    pub(crate) fn is_quiet(self) -> bool {
        self.quiet
    }

    /// Returns whether `-v` was given.
    pub(crate) fn is_explaining(self) -> bool {
        self.verbosity > 0
    }

    /// Returns whether `-vv` was given.
    pub(crate) fn is_detailed(self) -> bool {
        self.verbosity > 1
    }

    /// Returns whether stderr is a terminal on which a line can be redrawn.
    pub(crate) fn is_live(self) -> bool {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        !self.quiet && !dumb && io::stderr().is_terminal()
    }
}

/// Makes a panic print one line, as other errors do. With `RUST_BACKTRACE` the usual output stays.
pub(crate) fn say_panics() {
    if std::env::var_os("RUST_BACKTRACE").is_some() {
        return;
    }
    panic::set_hook(Box::new(|panic| {
        let words = format!("internal error: {panic}; please report it");
        // The line is written directly, because the panic may be in the outlet.
        let line = format!("seinpaal: {}\n", plain(&words.replace('\n', " ")));
        let _ = rustix::io::write(rustix::stdio::stderr(), line.as_bytes());
    }));
}

/// Writes the text as one line. It is no error if the reader has gone.
fn write_line(words: &str) {
    draw(&format!("seinpaal: {}\n", plain(words)));
}

/// Writes the text to stderr unchanged.
pub(crate) fn draw(text: &str) {
    let stderr = stderr();
    stderr.send(text.into());
    stderr.settle();
}

/// Prints nothing more, and closes stderr, so that a program that reads stderr to its end need not
/// wait for this process.
pub(crate) fn fall_silent() -> io::Result<()> {
    if let Some(stderr) = STDERR.get() {
        stderr.settle();
    }
    let nowhere = File::options().write(true).open("/dev/null")?;
    Ok(rustix::stdio::dup2_stderr(nowhere)?)
}

/// Waits a moment until the last messages are written. This is called once, at the end of the
/// program.
pub(crate) fn part() {
    if let Some(stderr) = STDERR.get() {
        stderr.part();
    }
}

static STDERR: OnceLock<Outlet> = OnceLock::new();

/// Returns the only outlet to stderr.
pub(crate) fn stderr() -> &'static Outlet {
    STDERR.get_or_init(|| Outlet::open(rustix::stdio::stderr(), missed))
}

fn missed(lines: u64) -> Vec<u8> {
    format!("seinpaal: {lines} lines were left out here, because nobody read them\n").into_bytes()
}
