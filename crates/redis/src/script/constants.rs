//! Writes the constants of scripts in the places where they are used.
//!
//! A script makes its locals anew in every call, and each costs the server about fifty
//! instructions, used or not. A number that stands in the code costs nothing. So a line `local
//! WORK, NOBODY = 128, '--'` of names in capitals and values that are numbers, sums, strings
//! without escapes, `true` or `false` is taken out of a script before it is loaded, and its values
//! are written in the places of their names.

use std::{borrow::Cow, collections::BTreeMap};

type Constants<'a> = BTreeMap<&'a str, &'a str>;

/// A script with its constants in their places. Every program does this when it first uses a
/// script, so most of the text is copied without a look at each word.
pub(crate) fn written(source: &str) -> String {
    let mut constants = Constants::new();
    let mut code = String::with_capacity(source.len());
    let (mut kept, mut at) = (0, 0);
    for line in source.split_inclusive('\n') {
        let end = at + line.len();
        if let Some(found) = constants_of(line) {
            constants.extend(found);
            code.push_str(&source[kept..at]);
            kept = end;
        }
        at = end;
    }
    code.push_str(&source[kept..]);
    in_their_places(&code, &constants)
}

/// The names and values in a line of constants, or `None` for any other line. Most lines do not
/// even begin like one.
fn constants_of(line: &str) -> Option<Vec<(&str, &str)>> {
    let said = line.trim_start().strip_prefix("local ")?;
    if !said.starts_with(|letter: char| letter.is_ascii_uppercase()) {
        return None;
    }
    let (names, values) = said.split(" -- ").next()?.trim_end().split_once(" = ")?;
    let (names, values) = (names.split(", "), values.split(", "));
    let all = names.zip(values).collect::<Vec<_>>();
    all.iter().all(|(name, value)| is_name(name) && is_literal(value)).then_some(all)
}

fn is_name(text: &str) -> bool {
    text.chars().all(|letter| matches!(letter, 'A'..='Z' | '0'..='9' | '_'))
}

fn is_literal(text: &str) -> bool {
    let string = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    let is_string = string.is_some_and(|text| !text.contains(['\'', '\\']));
    is_string || is_sum(text) || matches!(text, "true" | "false")
}

fn is_sum(text: &str) -> bool {
    text.chars().all(|letter| matches!(letter, '0'..='9' | ' ' | '+' | '-'))
}

fn in_their_places(code: &str, constants: &Constants<'_>) -> String {
    let (bytes, mut written) = (code.as_bytes(), String::with_capacity(code.len()));
    let (mut kept, mut at) = (0, 0);
    while let Some(start) = next(bytes, at, u8::is_ascii_uppercase) {
        at = next(bytes, start, |letter| !is_of_a_word(*letter)).unwrap_or(bytes.len());
        // A capital letter inside a word begins no name.
        let is_whole = start == 0 || !is_of_a_word(bytes[start - 1]);
        if is_whole && let Some(value) = constants.get(&code[start..at]) {
            written.push_str(&code[kept..start]);
            written.push_str(&in_an_expression(value));
            kept = at;
        }
    }
    written + &code[kept..]
}

fn next(bytes: &[u8], from: usize, is_it: impl Fn(&u8) -> bool) -> Option<usize> {
    bytes[from..].iter().position(is_it).map(|after| from + after)
}

fn is_of_a_word(letter: u8) -> bool {
    letter.is_ascii_alphanumeric() || letter == b'_'
}

/// A value as it stands in an expression. A sum stands in parentheses, so that it stays whole in a
/// product.
fn in_an_expression(value: &str) -> Cow<'_, str> {
    let is_of_many = is_sum(value) && value.contains(['+', '-', ' ']);
    if is_of_many { format!("({value})").into() } else { value.into() }
}
