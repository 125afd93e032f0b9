//! Makes pieces of pages from the answers of the store. All functions here but [`read`] are pure.

mod gate;
mod headline;
mod item_query;
mod items;
mod name;
mod overview;
mod past;
mod query;
mod queue;
mod queues;

use std::{sync::Arc, time::Duration};

use seinpaal_words::text::{age, plain};

use crate::source::StoreSource;
pub(crate) use headline::{Headline, about};
pub(crate) use item_query::ItemQuery;
pub(crate) use query::{ListQuery, PageChoices};

/// The subject of a page.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) enum PageSubject {
    /// All names, or those that the query finds.
    Names(ListQuery),
    /// All queues.
    Queues(ListQuery),
    /// One name.
    Name(String),
    /// One queue, and the query for its items.
    Queue(String, ItemQuery),
}

/// Pieces of a page by their ids, for visitors who may only read and for those who may act.
pub(crate) type Pieces = [Vec<(&'static str, String)>; 2];

impl PageSubject {
    /// Returns the ids of the pieces, in their order on the page.
    pub(crate) fn ids(&self) -> &'static [&'static str] {
        match self {
            Self::Names(_) => &["attention", "totals", "table"],
            Self::Queues(_) => &["table"],
            Self::Name(_) => &["head", "holders", "waiters", "past"],
            Self::Queue(_, query) if query.only.is_some() => &["head", "items"],
            Self::Queue(..) => &["head", "work", "past", "ready", "delayed", "dead"],
        }
    }
}

/// Reads the data of the subject, and renders it.
pub(crate) async fn read(
    inner: &Arc<StoreSource>,
    subject: &PageSubject,
) -> Result<Pieces, String> {
    match subject {
        PageSubject::Names(query) => overview::names(inner, query).await,
        PageSubject::Queues(query) => queues::queues(inner, query).await,
        PageSubject::Name(name) => name::read(inner, name).await,
        PageSubject::Queue(name, query) => queue::read(inner, name, query).await,
    }
}

/// Returns text that other people wrote, without characters that could turn a line around.
pub(crate) fn shown(text: &str) -> String {
    plain(text).into_owned()
}

/// Writes a number with thin spaces between thousands.
pub(crate) fn grouped(number: impl Into<u64>) -> String {
    let digits = number.into().to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text
}

/// Says how many rows are not listed. It is empty if all rows are listed.
fn more(total: impl Into<u64>, listed: usize) -> String {
    let rest = total.into().saturating_sub(listed as u64);
    if rest == 0 { String::new() } else { format!("{} more", grouped(rest)) }
}

/// Says how long a lease still lasts.
fn lease_left(valid_for: Option<Duration>) -> String {
    valid_for.map_or_else(|| "with its process".to_owned(), age)
}

/// Renders a template. Our templates write to a string, which cannot fail.
pub(crate) fn html(template: &impl askama::Template) -> String {
    template.render().unwrap_or_else(|error| format!("<p>This part cannot be shown: {error}.</p>"))
}

/// Encodes a text as a value in the query of a link.
pub(crate) fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        let thin = |text: &str| text.replace(' ', "\u{2009}");
        assert_eq!(grouped(7_u32), "7");
        assert_eq!(grouped(100_214_u32), thin("100 214"));
        assert_eq!(grouped(1_234_567_u32), thin("1 234 567"));
    }

    #[test]
    fn a_name_in_a_link_has_no_character_that_means_something_there() {
        assert_eq!(encoded("a/b?c=\"&<>'"), "a%2Fb%3Fc%3D%22%26%3C%3E%27");
    }
}
