//! Passwords of URLs that stand in arguments, and that no error may repeat.

use std::ops::Range;

/// Stands for a password.
const MASK: &str = "***";
/// The options of a URL that are passwords end with this.
const OPTION: &str = "pass=";

/// The argument with a mask in the place of what may be a password.
pub(crate) fn masked(argument: &str) -> String {
    without_secrets(argument, [argument])
}

/// The text with a mask in the place of what may be a password in one of these arguments.
pub(crate) fn without_secrets<'a>(
    text: &str,
    arguments: impl IntoIterator<Item = &'a str>,
) -> String {
    arguments.into_iter().fold(text.to_owned(), |text, argument| {
        let Some(secret) = find_secret(argument) else { return text };
        // With the signs beside it, so that no other part of the text is taken for it.
        let end = argument.len().min(secret.end + 1);
        let (before, after) =
            (&argument[secret.start - 1..secret.start], &argument[secret.end..end]);
        let found = &argument[secret.start - 1..end];
        text.replace(found, &format!("{before}{MASK}{after}"))
    })
}

/// Where a password may be: between a scheme and the last `@`, as people forget to encode the one
/// in their password, or in an option, up to the end, as an `&` may be part of the password.
fn find_secret(argument: &str) -> Option<Range<usize>> {
    let at = argument.rfind('@');
    let login = argument.find(':').filter(|colon| at.is_some_and(|at| at > *colon)).map(|colon| {
        let from = colon + 1;
        if argument[from..].starts_with("//") { from + 2 } else { from }
    });
    let option = argument.find(OPTION).map(|from| from + OPTION.len());
    let from = login.into_iter().chain(option).min()?;
    let to = if option.is_some() { argument.len() } else { at? };
    (from < to).then_some(from..to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_masked_wherever_in_a_url_it_stands() {
        for (argument, shown) in [
            ("redis://:secret@h", "redis://***@h"),
            ("redis://ann:se@cret@h/1", "redis://***@h/1"),
            ("redis:secret@h", "redis:***@h"),
            ("ann:secret@h", "ann:***@h"),
            ("unix:///s?pass=secret&cret", "unix:///s?pass=***"),
            ("unix:///s?pass=secr@cret", "unix://***"),
            ("redis+sentinel://:secret@h/m?sentinel-pass=cret", "redis+sentinel://***"),
            ("--store=redis://:secret@h", "--store=redis://***@h"),
        ] {
            assert_eq!(masked(argument), shown);
        }
        for plain in ["", "a", "me@host", "@:", ":@", "redis://h:1/2", "pass="] {
            assert_eq!(masked(plain), plain);
        }
    }

    #[test]
    fn of_a_text_the_passwords_of_the_arguments_are_masked_and_nothing_else() {
        let text = "no command 'redis://:s@h': use s";
        assert_eq!(
            without_secrets(text, ["-s", "redis://:s@h"]),
            "no command 'redis://***@h': use s"
        );
    }
}
