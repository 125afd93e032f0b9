//! What becomes of text in a template.

use std::fmt;

use askama::filters::{Escaper, Html};
use seinpaal_words::text::plain;

/// Text for people to read, without markup. Characters that turn the direction of a line, or that
/// nobody sees, become U+FFFD. Otherwise a name could look like another one.
#[derive(Clone, Copy)]
pub(crate) struct PageText;

impl Escaper for PageText {
    fn write_escaped_str<W: fmt::Write>(&self, dest: W, text: &str) -> fmt::Result {
        Html.write_escaped_str(dest, &plain(text))
    }
}
