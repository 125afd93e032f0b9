//! The paths that a source file names: those that start with `crate`, `self` or `super`, and those
//! that start with the name of a module of its own.

use std::iter::Peekable;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree, token_stream};

/// The modules, paths and imports of a file.
#[derive(Debug, Default)]
pub struct FilePaths {
    /// The modules that are files of their own (`mod name;`), without modules of tests.
    pub modules: Vec<String>,
    /// Every path of more than one name, with the inline modules around it.
    pub paths: Vec<PathIn>,
    /// The imports of the file: a name, and the path that it stands for. The name is `*` for all
    /// items of a module.
    pub uses: Vec<(String, Vec<String>)>,
}

/// A path, and how many inline modules are around it.
#[derive(Debug)]
pub struct PathIn {
    /// The names that are left when `crate`, `self` and `super` are resolved against the depth.
    pub names: Vec<String>,
    /// The number of inline modules around the path.
    pub depth: usize,
}

/// Reads a source file.
///
/// # Panics
/// The text is not Rust.
#[must_use]
pub fn read(text: &str) -> FilePaths {
    let tokens: TokenStream = text.parse().expect("a source file that compiles");
    let mut said = FilePaths::default();
    scan(tokens, 0, &mut said);
    said
}

type PeekableTokens = Peekable<token_stream::IntoIter>;

fn scan(tokens: TokenStream, depth: usize, said: &mut FilePaths) {
    let mut tokens = tokens.into_iter().peekable();
    let mut is_for_tests = false;
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                is_for_tests |= tokens.peek().is_some_and(asks_for_tests);
            }
            TokenTree::Ident(word) if word == "mod" => {
                module(&mut tokens, depth, is_for_tests, said);
                is_for_tests = false;
            }
            TokenTree::Ident(word) if word == "use" => {
                let mut found = Vec::new();
                tree(&mut tokens, &mut Vec::new(), &mut found);
                if !is_for_tests {
                    said.add_uses(found, depth);
                }
                is_for_tests = false;
            }
            TokenTree::Ident(word) => path(word.to_string(), &mut tokens, depth, said),
            TokenTree::Group(group) => {
                if !(is_for_tests && group.delimiter() == Delimiter::Brace) {
                    scan(group.stream(), depth, said);
                }
                if group.delimiter() == Delimiter::Brace {
                    is_for_tests = false;
                }
            }
            TokenTree::Punct(punct) => is_for_tests &= punct.as_char() != ';',
            TokenTree::Literal(_) => {}
        }
    }
}

/// Returns whether the brackets after a `#` are those of `#[cfg(test)]`, `#[cfg(all(test, …))]` or
/// `#[test]`.
fn asks_for_tests(token: &TokenTree) -> bool {
    let text = token.to_string().replace(' ', "");
    text.starts_with("[cfg(test") || text.starts_with("[cfg(all(test") || text == "[test]"
}

/// Reads a module after the word `mod`: its name, and its body if the file has it.
fn module(tokens: &mut PeekableTokens, depth: usize, is_for_tests: bool, said: &mut FilePaths) {
    let Some(TokenTree::Ident(name)) = tokens.next() else { return };
    match tokens.next() {
        _ if is_for_tests => {}
        Some(TokenTree::Group(body)) => scan(body.stream(), depth + 1, said),
        _ => said.modules.push(name.to_string()),
    }
}

/// Reads a path in code: `first`, and all names that follow with `::` between.
fn path(first: String, tokens: &mut PeekableTokens, depth: usize, said: &mut FilePaths) {
    let mut names = vec![first];
    while separator(tokens) {
        match tokens.next() {
            Some(TokenTree::Ident(word)) => names.push(word.to_string()),
            _ => break,
        }
    }
    if names.len() > 1 {
        said.paths.push(PathIn { names, depth });
    }
}

/// Takes `::` if it is next. Returns whether it was.
fn separator(tokens: &mut PeekableTokens) -> bool {
    let is_colon =
        |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':');
    let joined = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':' && punct.spacing() == Spacing::Joint);
    if !tokens.peek().is_some_and(joined) {
        return false;
    }
    tokens.next();
    tokens.next_if(is_colon).is_some()
}

/// Reads the tree of a `use`. Each leaf is a name and the path that the name stands for.
fn tree(
    tokens: &mut PeekableTokens,
    before: &mut Vec<String>,
    found: &mut Vec<(String, Vec<String>)>,
) {
    let length = before.len();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(word) if word == "as" => {
                let alias = tokens.next().map(|token| token.to_string()).unwrap_or_default();
                found.push((alias, before.clone()));
                before.truncate(length);
                before.push(String::new());
            }
            TokenTree::Ident(word) => before.push(word.to_string()),
            TokenTree::Punct(punct) if punct.as_char() == '*' => {
                found.push(("*".to_owned(), before.clone()));
                before.push(String::new());
            }
            TokenTree::Group(group) => {
                let mut inner = group.stream().into_iter().peekable();
                while inner.peek().is_some() {
                    tree(&mut inner, &mut before.clone(), found);
                }
                before.push(String::new());
            }
            TokenTree::Punct(punct) if matches!(punct.as_char(), ',' | ';') => break,
            _ => {}
        }
    }
    // An empty name at the end marks a path whose leaves are in `found` already.
    match before.last() {
        Some(last) if !last.is_empty() && before.len() > length => leaf(before, found),
        _ => {}
    }
    before.truncate(length);
}

fn leaf(path: &[String], found: &mut Vec<(String, Vec<String>)>) {
    let is_itself = path.last().is_some_and(|last| last == "self") && path.len() > 1;
    let path = if is_itself { &path[..path.len() - 1] } else { path };
    found.push((path.last().cloned().unwrap_or_default(), path.to_vec()));
}

impl FilePaths {
    fn add_uses(&mut self, found: Vec<(String, Vec<String>)>, depth: usize) {
        for (name, names) in found {
            if depth == 0 {
                self.uses.push((name, names.clone()));
            }
            self.paths.push(PathIn { names, depth });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leaves_of_a_use_have_their_paths() {
        let said = read("use crate::{a::{self, B as C}, d::*}; pub use self::e::F;");
        let uses: Vec<_> =
            said.uses.iter().map(|(name, path)| format!("{name}={}", path.join("::"))).collect();
        assert_eq!(uses, ["a=crate::a", "C=crate::a::B", "*=crate::d", "F=self::e::F"]);
    }

    #[test]
    fn a_path_in_a_macro_counts_and_one_in_a_comment_or_a_test_does_not() {
        let said = read(
            "mod a; /* crate::x::X */ fn f() { g!(h: crate::B::new(), \"crate::y\"); }
             #[cfg(test)] mod tests { use crate::z::Z; } #[cfg(test)] mod more;",
        );
        let paths: Vec<_> = said.paths.iter().map(|path| path.names.join("::")).collect();
        assert_eq!(paths, ["crate::B::new"]);
        assert_eq!(said.modules, ["a"]);
    }
}
