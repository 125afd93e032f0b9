//! Files and functions that are longer than a reader can take in at once.

use std::{fs, path::Path};

/// The most lines of a file.
pub const FILE: usize = 300;
/// The most lines of a function: what a screen shows.
pub const FUNCTION: usize = 50;

/// The files and functions below this directory that are too long, as `lines place`, the longest
/// first.
///
/// # Panics
/// A file cannot be read.
#[must_use]
pub fn long(root: &Path, directory: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    add(root, &root.join(directory), &mut found);
    found.sort_by(|one, other| other.cmp(one));
    found
}

fn add(root: &Path, path: &Path, found: &mut Vec<(usize, String)>) {
    if path.is_dir() {
        let entries = fs::read_dir(path)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        entries.flatten().for_each(|entry| add(root, &entry.path(), found));
    } else if path.extension().is_some_and(|end| ["rs", "lua", "py"].iter().any(|it| end == *it)) {
        let text = fs::read_to_string(path)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        let path = path.strip_prefix(root).unwrap_or(path).display();
        let lines = text.lines().count();
        found.extend((lines > FILE).then(|| (lines, path.to_string())));
        let functions = functions(&text).into_iter().filter(|(lines, _)| *lines > FUNCTION);
        found.extend(functions.map(|(lines, name)| (lines, format!("{path}: {name}"))));
    }
}

/// The functions of a Rust file with their lengths. A function ends with the first brace that
/// stands as far to the left as its first line.
fn functions(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = name_of(line) else { continue };
        let indent = &line[..line.len() - line.trim_start().len()];
        let is_end = |line: &&str| line.strip_prefix(indent) == Some("}");
        let is_declaration = |line: &&str| {
            line.strip_prefix(indent).is_some_and(|rest| !rest.starts_with(' '))
                && line.ends_with(';')
        };
        let body = lines[at..].iter().position(|line| is_end(line) || is_declaration(line));
        found.extend(body.map(|end| (end + 1, name.to_owned())));
    }
    found
}

fn name_of(line: &str) -> Option<&str> {
    let (before, after) = line.trim_start().split_once("fn ")?;
    let words = ["pub", "const", "async", "unsafe", "extern", "\"C\""];
    let is_head = before
        .split_whitespace()
        .all(|word| words.contains(&word) || word.starts_with("pub(") || word.ends_with(')'));
    let is_whole = line.ends_with('}');
    (is_head && !is_whole).then(|| after.split(['(', '<']).next().unwrap_or(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_ends_with_its_own_brace_and_a_declaration_with_its_semicolon() {
        let text = "trait A {\n    fn declared(&self);\n    fn long(\n        &self,\n    ) -> u32 {\n        {\n            1\n        }\n    }\n}\n";
        let expected = [(1, "declared".to_owned()), (7, "long".to_owned())];
        assert_eq!(functions(text), expected);
    }
}
