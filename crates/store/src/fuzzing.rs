//! Checks that the fuzz targets of several crates share, for readers of bytes from outside:
//! docs/internals/proof/fuzzing.md.

use std::fmt::Display;

/// Checks that a text for people is one line.
///
/// # Panics
/// If the text is more than one line, or a terminal could show it as more.
pub fn must_be_one_line(message: impl Display) {
    let text = message.to_string();
    assert!(!text.contains(['\n', '\r', '\u{1b}', '\0']), "more than one line: {text:?}");
}
