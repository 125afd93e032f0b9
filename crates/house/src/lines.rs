//! Lines of source by crate.

use std::{fs, path::Path};

/// The lines of one crate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lines {
    /// Of what ships: `src`, without its tests.
    pub shipped: usize,
    /// Of its tests: below `tests`, `benches` and `examples`, and in `src` the files that are named
    /// `tests` and the modules of that name.
    pub tests: usize,
}

/// Counts every `.rs` and `.lua` file below this directory.
///
/// # Panics
/// A file cannot be read.
#[must_use]
pub fn count(directory: &Path) -> Lines {
    let mut lines = Lines::default();
    add(directory, false, &mut lines);
    lines
}

fn add(directory: &Path, is_test: bool, lines: &mut Lines) {
    let entries = fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", directory.display()));
    for entry in entries.flatten() {
        let path = entry.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let is_test = is_test || matches!(stem, "tests" | "benches" | "examples");
        if path.is_dir() {
            add(&path, is_test, lines);
        } else if path.extension().is_some_and(|end| end == "rs" || end == "lua") {
            let text = fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
            add_file(&text, is_test, lines);
        }
    }
}

fn add_file(text: &str, is_test: bool, lines: &mut Lines) {
    let all = text.lines().count();
    // A module of tests is the last of its file.
    let own = text.lines().position(|line| line == "mod tests {").unwrap_or(all);
    let shipped = if is_test { 0 } else { own };
    lines.shipped += shipped;
    lines.tests += all - shipped;
}
