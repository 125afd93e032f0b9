//! Wraps comments that are wider than the code may be.

use std::{fs, path::Path};

use crate::lines::visit;

/// The most columns of a line, as in `rustfmt.toml`.
const COLUMNS: usize = 100;

/// Wraps the comments of every Rust file below this directory, and returns how many files changed.
///
/// # Panics
/// A file cannot be read or written.
pub fn wrap(directory: &Path) -> usize {
    let mut changed = Vec::new();
    visit(directory, false, &mut |file| {
        let text = [file.shipped, file.tests].concat();
        let wrapped = wrapped(&text);
        if file.is_rust() && wrapped != text {
            changed.push((file.path.to_path_buf(), wrapped));
        }
    });
    for (path, text) in &changed {
        fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    changed.len()
}

/// Wraps the paragraphs of comments in this text of Rust that have a line that is too wide.
fn wrapped(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut paragraph: Vec<Comment<'_>> = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        let comment = Comment::of(line);
        let is_fence = comment.is_some_and(|comment| comment.words.starts_with("```"));
        is_code = comment.is_some() && is_code != is_fence;
        let follows = comment.is_some_and(|comment| {
            !is_code && !is_fence && paragraph.last().is_some_and(|last| comment.follows(last))
        });
        if !follows {
            write_paragraph(&paragraph, &mut written);
            paragraph.clear();
        }
        match comment {
            Some(comment) if !is_code && !is_fence => paragraph.push(comment),
            _ => {
                written.push_str(line);
                written.push('\n');
            }
        }
    }
    write_paragraph(&paragraph, &mut written);
    written
}

/// A line that is a comment.
#[derive(Clone, Copy)]
struct Comment<'a> {
    whole: &'a str,
    /// The margin and the slashes.
    head: &'a str,
    /// The blanks and the bullet before the first word.
    bullet: &'a str,
    words: &'a str,
}

impl<'a> Comment<'a> {
    fn of(whole: &'a str) -> Option<Self> {
        let slashes = ["///", "//!", "//"];
        let after_margin = whole.trim_start();
        let slashes = slashes.into_iter().find(|slashes| after_margin.starts_with(slashes))?;
        let (head, rest) = whole.split_at(whole.len() - after_margin.len() + slashes.len());
        let (bullet, words) = rest.split_at(length_of_bullet(rest));
        Some(Self { whole, head, bullet, words })
    }

    /// Returns whether a line goes on where the last one ended.
    fn follows(&self, last: &Self) -> bool {
        let is_text = |comment: &Self| {
            let words = comment.words;
            // A paragraph may begin with a link, but a link's target is on a line of its own.
            let is_target = words.starts_with('[') && words.contains("]: ");
            !words.is_empty() && !words.starts_with(['#', '|']) && !is_target
        };
        let goes_on = self.bullet.trim().is_empty() && self.bullet.len() == last.bullet.len();
        self.head == last.head && goes_on && is_text(self) && is_text(last)
    }

    /// Returns whether the line's blanks align it, as in a table.
    fn is_set(&self) -> bool {
        self.words.contains("  ") || self.bullet.trim().is_empty() && self.bullet.len() > 4
    }
}

fn length_of_bullet(rest: &str) -> usize {
    let words = rest.trim_start();
    let marks = ["- ", "* ", "1. ", "2. ", "3. ", "4. ", "5. ", "6. ", "7. ", "8. ", "9. "];
    let mark = marks.into_iter().find(|mark| words.starts_with(mark));
    rest.len() - words.len() + mark.map_or(0, str::len)
}

fn write_paragraph(paragraph: &[Comment<'_>], written: &mut String) {
    let is_wide = paragraph.iter().any(|comment| comment.whole.chars().count() > COLUMNS);
    let [first, ..] = paragraph else { return };
    if !is_wide || paragraph.iter().any(Comment::is_set) || first.words.starts_with('|') {
        paragraph.iter().for_each(|comment| *written += &format!("{}\n", comment.whole));
        return;
    }
    let text = paragraph.iter().map(|comment| comment.words).collect::<Vec<_>>().join(" ");
    let mut line = format!("{}{}", first.head, first.bullet);
    let margin = format!("{}{}", first.head, " ".repeat(first.bullet.len()));
    let mut is_empty = true;
    for word in unbroken(&text) {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > COLUMNS {
            *written += &format!("{line}\n");
            (line, is_empty) = (margin.clone(), true);
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(&word);
        is_empty = false;
    }
    *written += &format!("{line}\n");
}

/// The words of a text. Code and the words of a link stay together. A dash or number stays with the
/// word before it, because it would begin a list at the start of a line.
fn unbroken(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let is_open = words.last().is_some_and(|last| is_open(last));
        let looks_like_a_list = length_of_bullet(&format!("{word} ")) > 0 || word == "+";
        match words.last_mut() {
            Some(last) if is_open || looks_like_a_list => *last += &format!(" {word}"),
            _ => words.push(word.to_owned()),
        }
    }
    words
}

fn is_open(word: &str) -> bool {
    !word.matches('`').count().is_multiple_of(2)
        || word.matches('[').count() > word.matches(']').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_that_is_too_wide_is_wrapped_and_nothing_else() {
        let long = "one two three four five six seven eight nine ten `code of words` [a link](to)";
        let text = format!(
            "//! {long} {long}\n//! and more.\n//!\n//! - {long} {long}\n//! ```\n//! {long} {long}\n//! ```\nfn f() {{}}\n"
        );
        let once = wrapped(&text);
        let wide = once.lines().filter(|line| line.len() > COLUMNS);
        assert_eq!(wide.count(), 1, "the code stays: {once}");
        assert_eq!(wrapped(&once), once);
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let same = |text: &str| words(&text.replace("//!", ""));
        assert_eq!(same(&once), same(&text));
        assert!(once.contains("\n//!   "), "the item is set in: {once}");
    }

    #[test]
    fn a_line_that_begins_with_a_link_goes_on_where_the_last_one_ended() {
        let wide = ["word"; 24].join(" ");
        let text = format!("/// {wide}\n/// [a link](to) and more.\n/// [a link]: to\n");
        let once = wrapped(&text);
        assert!(once.contains("word [a link](to) and more.\n/// [a link]: to\n"), "{once}");
    }

    /// `cargo fmt` leaves comments as they are, and SQL altogether.
    #[test]
    fn no_comment_of_rust_and_no_line_of_sql_is_wider_than_the_code_may_be() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut wide = Vec::new();
        for directory in ["crates", "bench", "fuzz", "python"] {
            visit(&root.join(directory), false, &mut |file| {
                let text = [file.shipped, file.tests].concat();
                if file.is_rust() && wrapped(&text) != text {
                    wide.push(file.path.display().to_string());
                }
            });
        }
        assert_eq!(wide, Vec::<String>::new(), "cargo run -p house -- wrap DIRECTORY");
        for sql in ["schema.sql", "schema_large.sql"] {
            let text = fs::read_to_string(root.join("crates/embedded/src").join(sql)).unwrap();
            let wide = text.lines().find(|line| line.chars().count() > COLUMNS);
            assert_eq!(wide, None, "{sql}");
        }
    }
}
