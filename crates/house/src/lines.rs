//! Lines of source by crate, and the share of comments among them.

use std::{fs, path::Path};

/// The lines of one crate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lines {
    /// Lines that ship: `src`, without its tests.
    pub shipped: usize,
    /// Lines of tests: below `tests`, `benches` and `examples`, and in `src` the files that are
    /// named `tests` and the modules of that name.
    pub tests: usize,
}

/// The shipped lines of one language that are not blank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comments {
    /// All lines.
    pub lines: usize,
    /// Lines of documentation: `///` and `//!` of Rust, the head of a Lua file or function.
    pub documentation: usize,
    /// Lines of comments beside the code.
    pub inline: usize,
}

/// Counts every `.rs` and `.lua` file below this directory.
///
/// # Panics
/// A file cannot be read.
#[must_use]
pub fn count(directory: &Path) -> Lines {
    let mut lines = Lines::default();
    visit(directory, false, &mut |file| {
        lines.shipped += file.shipped.lines().count();
        lines.tests += file.tests.lines().count();
    });
    lines
}

/// Counts the comments in the shipped lines below this directory, for Rust and for Lua.
///
/// # Panics
/// A file cannot be read.
#[must_use]
pub fn comments(directory: &Path) -> (Comments, Comments) {
    let (mut rust, mut lua) = (Comments::default(), Comments::default());
    visit(directory, false, &mut |file| {
        if file.is_lua() {
            add_lua(file.shipped, &mut lua);
        } else {
            add_rust(file.shipped, &mut rust);
        }
    });
    (rust, lua)
}

/// A file of Rust or Lua.
pub(crate) struct SourceFile<'a> {
    pub(crate) path: &'a Path,
    /// The part of the file that ships.
    pub(crate) shipped: &'a str,
    /// The file's tests.
    pub(crate) tests: &'a str,
}

impl SourceFile<'_> {
    pub(crate) fn is_rust(&self) -> bool {
        !self.is_lua()
    }

    fn is_lua(&self) -> bool {
        self.path.extension().is_some_and(|end| end == "lua")
    }
}

/// Shows every file of Rust or Lua below this directory.
///
/// Leaves out `target`, whose files cargo makes and may remove during the walk.
pub(crate) fn visit(directory: &Path, is_test: bool, see: &mut impl FnMut(SourceFile<'_>)) {
    let entries = fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", directory.display()));
    for entry in entries.flatten() {
        let path = entry.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let is_test = is_test || matches!(stem, "tests" | "benches" | "examples");
        if path.is_dir() && stem != "target" {
            visit(&path, is_test, see);
        } else if path.extension().is_some_and(|end| end == "rs" || end == "lua") {
            let text = fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
            let (shipped, tests) = text.split_at(if is_test { 0 } else { start_of_tests(&text) });
            see(SourceFile { path: &path, shipped, tests });
        }
    }
}

/// A module of tests is the last of its file.
fn start_of_tests(text: &str) -> usize {
    text.find("\nmod tests {").map_or(text.len(), |at| at + 1)
}

fn add_rust(text: &str, comments: &mut Comments) {
    for line in text.lines().map(str::trim_start).filter(|line| !line.is_empty()) {
        let is_documentation = line.starts_with("///") || line.starts_with("//!");
        let is_inline = !is_documentation && (line.starts_with("//") || line.contains("; // "));
        comments.lines += 1;
        comments.documentation += usize::from(is_documentation);
        comments.inline += usize::from(is_inline);
    }
}

/// In Lua, a comment that begins at the margin documents the file or the function below it.
fn add_lua(text: &str, comments: &mut Comments) {
    for line in text.lines().filter(|line| !line.trim_start().is_empty()) {
        let is_documentation = line.starts_with("--");
        let is_inline = !is_documentation && line.contains("-- ");
        comments.lines += 1;
        comments.documentation += usize::from(is_documentation);
        comments.inline += usize::from(is_inline);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_and_comments_beside_code_are_counted_apart() {
        let mut rust = Comments::default();
        add_rust("//! A\n\n/// B\nfn c() {\n    // why\n    d(); // and why\n}\n", &mut rust);
        assert_eq!(rust, Comments { lines: 6, documentation: 2, inline: 2 });
        let mut lua = Comments::default();
        add_lua("-- head\nlocal a = 1 -- why\n  -- why\nreturn a\n", &mut lua);
        assert_eq!(lua, Comments { lines: 4, documentation: 1, inline: 2 });
    }
}
