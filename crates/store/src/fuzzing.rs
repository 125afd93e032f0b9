//! What the readers of bytes from outside have in common under a fuzzer: docs/internals/proof/fuzzing.md.

use std::fmt::Display;

/// What people are told is one line.
///
/// # Panics
/// If it is more, or could be shown as more.
pub fn must_be_one_line(message: impl Display) {
    let text = message.to_string();
    assert!(!text.contains(['\n', '\r', '\u{1b}', '\0']), "more than one line: {text:?}");
}
