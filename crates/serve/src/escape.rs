//! Escapes text in templates.

use std::fmt;

use askama::filters::{Escaper, Html};
use seinpaal_words::text::plain;

/// Text without markup, for people to read. Invisible characters, and those that turn the direction
/// of a line, become U+FFFD. Otherwise one name could look like another.
#[derive(Clone, Copy)]
pub(crate) struct PageText;

impl Escaper for PageText {
    fn write_escaped_str<W: fmt::Write>(&self, dest: W, text: &str) -> fmt::Result {
        Html.write_escaped_str(dest, &plain(text))
    }
}
