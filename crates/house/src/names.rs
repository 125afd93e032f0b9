//! The types of the workspace by name, and the names that several modules define.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::layers;

/// The heading of the page of names under which the twins stand.
const TWINS: &str = "## Type names in more than one layer";

/// The names of types that more than one file defines, each with its files. Tests, examples and
/// benches do not count.
///
/// # Panics
/// A file cannot be read, or is not Rust.
#[must_use]
pub fn shared(root: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    for name in layers::crates(root) {
        add(root, &root.join("crates").join(name).join("src"), &mut found);
    }
    found.retain(|_, files: &mut BTreeSet<_>| files.len() > 1);
    found
}

/// The names that the page docs/internals/names.md lists as one idea in several modules: the names
/// between backticks in the first column of its table of twins.
///
/// # Panics
/// The page cannot be read, or has no such table.
#[must_use]
pub fn twins(root: &Path) -> BTreeSet<String> {
    let page = fs::read_to_string(root.join("docs/internals/names.md")).expect("a page of names");
    let (_, section) = page.split_once(TWINS).expect("a table of twins");
    let rows = section.lines().skip(1).take_while(|line| !line.starts_with("## "));
    let cells = rows.filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    // Backticks come in pairs, so every second piece stands between two of them.
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

fn add(root: &Path, path: &Path, found: &mut BTreeMap<String, BTreeSet<String>>) {
    if path.is_dir() {
        let entries = fs::read_dir(path)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        entries.flatten().for_each(|entry| add(root, &entry.path(), found));
        return;
    }
    let is_test = path.components().any(|part| part.as_os_str() == "tests");
    if is_test || path.extension().is_none_or(|end| end != "rs") || path.ends_with("tests.rs") {
        return;
    }
    let text = fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let shown = path.strip_prefix(root).unwrap_or(path).display().to_string();
    for name in types(&text) {
        found.entry(name).or_default().insert(shown.clone());
    }
}

/// The types that a file defines outside its tests.
fn types(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    scan(text.parse().expect("a source file that compiles"), &mut found);
    found
}

/// Enters only the bodies of modules, because a `type` inside an `impl` belongs to its trait.
fn scan(tokens: TokenStream, found: &mut Vec<String>) {
    let mut tokens = tokens.into_iter().peekable();
    let (mut is_for_tests, mut is_module) = (false, false);
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                let text = group.stream().to_string().replace(' ', "");
                is_for_tests |= text.starts_with("cfg(test") || text.starts_with("cfg(all(test");
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                if is_module && !is_for_tests {
                    scan(group.stream(), found);
                }
                (is_for_tests, is_module) = (false, false);
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => {
                (is_for_tests, is_module) = (false, false);
            }
            TokenTree::Ident(word) if word == "mod" => is_module = true,
            TokenTree::Ident(word) if is_definition(&word.to_string()) && !is_for_tests => {
                if let Some(TokenTree::Ident(name)) = tokens.peek() {
                    found.push(name.to_string());
                }
            }
            _ => {}
        }
    }
}

fn is_definition(word: &str) -> bool {
    ["enum", "struct", "trait", "type", "union"].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_modules_count_and_those_of_traits_and_tests_do_not() {
        let text = "struct A; pub(super) enum B { C } impl T for A { type D = A; }
                    mod inner { type E = u8; } #[cfg(test)] struct F; trait G { type H; }
                    #[cfg(test)] mod tests { struct I; } union J { k: u8 }";
        assert_eq!(types(text), ["A", "B", "E", "G", "J"]);
    }
}
