//! Sentences of comments and pages that do not name their subject.
//!
//! *Who*, *whoever* and *what* as a subject make a reader search for the actor, so they are not
//! written. Questions may begin with them, and so may headings and titles of pages.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The words that no sentence begins with, unless it is a question.
const FIRST: [&str; 6] = ["Who", "Whoever", "Whom", "Whose", "What", "Whatever"];

/// A sentence that does not name its subject.
#[derive(Debug, PartialEq, Eq)]
pub struct Unnamed {
    /// File and line at which its paragraph begins.
    pub place: String,
    /// All of it.
    pub sentence: String,
}

/// Reads every comment of Rust, Lua, Python and shell, and every page, in this tree.
///
/// # Panics
/// A file cannot be read.
#[must_use]
pub fn unnamed(root: &Path) -> Vec<Unnamed> {
    let mut found = Vec::new();
    for path in files(root) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let Some(language) = SourceKind::of(&path, &text) else { continue };
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        for paragraph in paragraphs(&text, language) {
            let place = format!("{shown}:{}", paragraph.line);
            let bad = sentences(&paragraph.text).filter(|sentence| is_unnamed(sentence));
            found.extend(
                bad.map(|sentence| Unnamed { place: place.clone(), sentence: sentence.into() }),
            );
        }
    }
    found
}

/// The files of a tree in order, without those that are built or fetched.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", directory.display()));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_hidden = name.starts_with('.') && name != ".ci" && name != ".github";
        let is_made = matches!(name, "target" | "node_modules" | "corpus" | "__pycache__");
        if is_hidden || is_made {
        } else if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SourceKind {
    Rust,
    Lua,
    /// Python, shell and TOML: a comment begins with `#`.
    Hash,
    Markdown,
}

impl SourceKind {
    fn of(path: &Path, text: &str) -> Option<Self> {
        match path.extension().and_then(|end| end.to_str()) {
            // Their lines are the titles of other pages.
            _ if path.ends_with("SUMMARY.md") || path.ends_with("decisions/README.md") => None,
            Some("rs") => Some(Self::Rust),
            Some("lua") => Some(Self::Lua),
            Some("md") => Some(Self::Markdown),
            Some("py" | "toml" | "yml" | "yaml") => Some(Self::Hash),
            _ => text.starts_with("#!").then_some(Self::Hash),
        }
    }

    /// What follows the mark of a comment in this line, and the mark. Each line of a page counts as
    /// one.
    fn words(self, line: &str) -> Option<(&'static str, &str)> {
        let line = line.trim();
        let marks: &[&'static str] = match self {
            Self::Rust => &["///", "//!", "//"],
            Self::Lua => &["--"],
            Self::Hash => &["#"],
            Self::Markdown => return Some(("", line)),
        };
        let mark = marks.iter().find(|mark| line.starts_with(**mark))?;
        Some((mark, line[mark.len()..].trim()))
    }
}

/// A run of lines that are read as one text.
struct Paragraph {
    line: usize,
    text: String,
}

fn paragraphs(text: &str, language: SourceKind) -> Vec<Paragraph> {
    let mut found: Vec<Paragraph> = Vec::new();
    let mut before: Option<&str> = None;
    let mut is_code = false;
    for (at, line) in text.lines().enumerate() {
        let Some((mark, words)) = language.words(line) else {
            (before, is_code) = (None, false);
            continue;
        };
        let is_fence = words.starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence || words.is_empty() || words.starts_with('#') {
            before = None;
        } else if let Some(cells) = words.strip_prefix('|') {
            found.extend(cells.split('|').map(|cell| paragraph(at, cell)));
            before = None;
        } else if let Some(item) = item(words) {
            found.push(paragraph(at, item));
            before = Some(mark);
        } else if let (true, Some(last)) = (before == Some(mark), found.last_mut()) {
            last.text.push(' ');
            last.text.push_str(words);
        } else {
            found.push(paragraph(at, words));
            before = Some(mark);
        }
    }
    found
}

fn paragraph(at: usize, text: &str) -> Paragraph {
    Paragraph { line: at + 1, text: text.trim().to_owned() }
}

/// The words of an item of a list, without its bullet or number.
fn item(words: &str) -> Option<&str> {
    let (bullet, rest) = words.split_once(' ')?;
    let number = bullet.strip_suffix('.').is_some_and(|number| number.parse::<u8>().is_ok());
    (number || bullet == "-" || bullet == "*").then_some(rest)
}

/// A sentence ends with a full stop, a question mark or a colon before a capital letter.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let ends = rest.match_indices([' ']).map(|(at, _)| at);
        let mut ends = ends.filter(|&at| {
            let last = rest[..at].trim_end_matches(['"', '\'', ')', '*', '`']);
            let next = rest[at + 1..].trim_start_matches(['`', '*', '"', '[', '(']);
            last.ends_with(['.', '?', '!', ':'])
                && next.starts_with(|letter: char| letter.is_uppercase())
        });
        let (sentence, after) = rest.split_at(ends.next().unwrap_or(rest.len()));
        rest = after.trim_start();
        Some(sentence)
    })
}

fn is_unnamed(sentence: &str) -> bool {
    // A few words in bold, or a link, are a title.
    let is_title = sentence.starts_with(['[', '*']);
    let is_question = sentence.trim_end_matches(['"', ')', '*', '`']).ends_with('?');
    let mut words = sentence.split(|letter: char| !letter.is_alphanumeric() && letter != '\'');
    let first = words.find(|word| !word.is_empty()).unwrap_or_default();
    let begins = FIRST.contains(&first) && !is_question && !is_title;
    begins || sentence.starts_with("The same") || words.any(|word| word == "whoever")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, language: SourceKind) -> Vec<String> {
        let paragraphs = paragraphs(text, language);
        let all = paragraphs.iter().flat_map(|paragraph| sentences(&paragraph.text));
        all.filter(|sentence| is_unnamed(sentence)).map(str::to_owned).collect()
    }

    #[test]
    fn a_sentence_without_a_named_subject_is_found_wherever_it_is_written() {
        let rust =
            "/// The holder. Who\n/// waits is served.\nfn f() {} // no\n    // What is sent.\n";
        assert_eq!(found(rust, SourceKind::Rust), ["Who waits is served.", "What is sent."]);
        assert_eq!(found("-- Whoever asks.\n", SourceKind::Lua), ["Whoever asks."]);
        assert_eq!(
            found("x = 1\n# The same for items\n", SourceKind::Hash),
            ["The same for items"]
        );
        let page = "One.\n- *So* it is, whoever\n  asks.\n\n| What it costs | 1 |\n";
        let told = ["*So* it is, whoever asks.", "What it costs"];
        assert_eq!(found(page, SourceKind::Markdown), told);
    }

    #[test]
    fn questions_titles_and_code_may_begin_as_they_like() {
        let page = "# What it costs\n\nWho holds it? **What it costs.** Little.\n\n\
                    - [What is promised](guarantees.md)\n\n```\nWho am I\n```\n";
        assert_eq!(found(page, SourceKind::Markdown), [""; 0]);
    }
}
