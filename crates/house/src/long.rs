//! Files and functions that are longer than a reader can take in at once, and the lengths of
//! functions.

use std::{fs, path::Path};

use crate::lines::visit;

/// The most lines of a file.
pub const FILE: usize = 300;
/// The most lines of a function, so that a screen shows the whole of it.
pub const FUNCTION: usize = 50;
/// A function with more lines than this usually does more than one thing, or is a table.
pub const LONGISH: usize = 25;

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

/// All functions that ship below this directory, as `lines place`, the longest first.
///
/// # Panics
/// A file cannot be read.
#[must_use]
pub fn lengths(root: &Path, directory: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    visit(&root.join(directory), false, &mut |file| {
        let path = file.path.strip_prefix(root).unwrap_or(file.path).display();
        let functions = Language::of(file.path).map(|language| language.functions(file.shipped));
        let functions = functions.unwrap_or_default().into_iter();
        found.extend(functions.map(|(lines, name)| (lines, format!("{path}: {name}"))));
    });
    found.sort_by(|one, other| other.cmp(one));
    found
}

fn add(root: &Path, path: &Path, found: &mut Vec<(usize, String)>) {
    if path.is_dir() {
        let entries = fs::read_dir(path)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        entries.flatten().for_each(|entry| add(root, &entry.path(), found));
    } else if let Some(language) = Language::of(path) {
        let text = fs::read_to_string(path)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        let path = path.strip_prefix(root).unwrap_or(path).display();
        let lines = text.lines().count();
        found.extend((lines > FILE).then(|| (lines, path.to_string())));
        let functions = language.functions(&text).into_iter();
        let functions = functions.filter(|(lines, _)| *lines > FUNCTION);
        found.extend(functions.map(|(lines, name)| (lines, format!("{path}: {name}"))));
    }
}

#[derive(Clone, Copy)]
enum Language {
    Rust,
    Lua,
    Python,
}

impl Language {
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "rs" => Some(Self::Rust),
            "lua" => Some(Self::Lua),
            "py" => Some(Self::Python),
            _ => None,
        }
    }

    /// The functions of a file with their lengths.
    fn functions(self, text: &str) -> Vec<(usize, String)> {
        let lines: Vec<&str> = text.lines().collect();
        let functions = lines.iter().enumerate().filter_map(|(at, line)| {
            let name = self.name_of(line)?;
            let indent = line.len() - line.trim_start().len();
            Some((self.length(&lines[at..], indent)?, name.to_owned()))
        });
        functions.collect()
    }

    /// A function of Rust or Lua ends with the first brace or `end` that stands as far to the left
    /// as its first line, and one of Python before the first line that does.
    fn length(self, lines: &[&str], indent: usize) -> Option<usize> {
        let at_margin = |line: &&str| line.len() - line.trim_start().len() <= indent;
        let is_end = |line: &&str| match self {
            Self::Rust => line.trim_start() == "}" || line.ends_with(';'),
            Self::Lua => line.trim_start() == "end",
            Self::Python => !line.is_empty() && !line.trim_start().starts_with(')'),
        };
        let end = lines.iter().skip(1).position(|line| at_margin(line) && is_end(line));
        match self {
            Self::Rust if lines[0].ends_with(';') => Some(1),
            Self::Rust | Self::Lua => end.map(|end| end + 2),
            Self::Python => {
                let body = &lines[..end.map_or(lines.len(), |end| end + 1)];
                body.iter().rposition(|line| !line.is_empty()).map(|last| last + 1)
            }
        }
    }

    fn name_of(self, line: &str) -> Option<&str> {
        let (keyword, words): (_, &[&str]) = match self {
            Self::Rust => ("fn ", &["pub", "const", "async", "unsafe", "extern", "\"C\""]),
            Self::Lua => ("function ", &["local"]),
            Self::Python => ("def ", &["async"]),
        };
        let (before, after) = line.trim_start().split_once(keyword)?;
        let is_head = before
            .split_whitespace()
            .all(|word| words.contains(&word) || word.starts_with("pub(") || word.ends_with(')'));
        let is_whole = line.ends_with('}') || line.ends_with(" end");
        (is_head && !is_whole).then(|| after.split(['(', '<']).next().unwrap_or(after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_ends_with_its_own_brace_and_a_declaration_with_its_semicolon() {
        let text = "trait A {\n    fn declared(&self);\n    fn long(\n        &self,\n    ) -> u32 {\n        {\n            1\n        }\n    }\n}\n";
        let expected = [(1, "declared".to_owned()), (7, "long".to_owned())];
        assert_eq!(Language::Rust.functions(text), expected);
    }

    #[test]
    fn functions_of_scripts_end_where_their_language_says() {
        let text = "local function a(b)\n  if b then\n    c()\n  end\nend\nlocal d = 1\n";
        assert_eq!(Language::Lua.functions(text), [(5, "a".to_owned())]);
        let text = "class A:\n    def b(self):\n        c()\n\n        d()\n\n    def e(\n        self,\n    ) -> None:\n        f()\n";
        let expected = [(4, "b".to_owned()), (4, "e".to_owned())];
        assert_eq!(Language::Python.functions(text), expected);
    }
}
