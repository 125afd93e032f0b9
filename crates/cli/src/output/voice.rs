//! Our own words, on stderr.

use std::{
    fmt::Display,
    io::{self, IsTerminal, Write},
};

use super::text::plain;

/// How much to say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Voice {
    quiet: bool,
    verbose: bool,
}

impl Voice {
    pub(crate) fn new(quiet: bool, verbose: bool) -> Self {
        Self { quiet, verbose: verbose && !quiet }
    }

    /// Says what the caller should know.
    pub(crate) fn say(self, words: impl Display) {
        if !self.quiet {
            write_line(&words.to_string());
        }
    }

    /// Says what only `-v` wants to know.
    pub(crate) fn explain(self, words: impl Display) {
        if self.verbose {
            write_line(&words.to_string());
        }
    }

    /// Whether a line that is redrawn makes sense.
    pub(crate) fn is_live(self) -> bool {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        !self.quiet && !dumb && io::stderr().is_terminal()
    }
}

/// One line, whatever stands in the text. Nobody may be listening: that is no error.
fn write_line(words: &str) {
    let line = format!("seinpaal: {}\n", plain(words));
    let _ = io::stderr().lock().write_all(line.as_bytes());
}
