//! The description of a request's maker, for people to read. The ledger only carries it.

mod promise;

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

pub use promise::RenewalPromise;

/// The maker of a request, as `show`, `top` and the dashboard show it. No field may contain control
/// characters.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct About {
    /// The name of the program that asks, with its version if the program gives one.
    pub client: String,
    /// The machine it runs on.
    pub host: String,
    /// The process id there.
    pub pid: u32,
    /// Labels, in the order given.
    pub labels: Vec<(String, String)>,
}

/// The longest encoded form that a store accepts, in bytes.
pub const MAX_ABOUT_BYTES: usize = 4096;

const FIELD: char = '\u{1f}';
const PAIR: char = '\u{1e}';

impl About {
    /// Describes a maker without labels.
    #[must_use]
    pub fn new(client: impl Into<String>, host: impl Into<String>, pid: u32) -> Self {
        Self { client: client.into(), host: host.into(), pid, labels: Vec::new() }
    }

    /// Describes the same maker with these labels in place of any others.
    #[must_use]
    pub fn with_labels(self, labels: Vec<(String, String)>) -> Self {
        Self { labels, ..self }
    }

    /// Returns the form that stores keep: fields and labels separated by control characters.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut text = format!("{}{FIELD}{}{FIELD}{}", self.client, self.host, self.pid);
        for (key, value) in &self.labels {
            text.push(FIELD);
            text.push_str(key);
            text.push(PAIR);
            text.push_str(value);
        }
        text
    }

    /// Reads [`About::encode`]'s form. A field that is missing or malformed becomes empty, because
    /// the description is for display only.
    #[must_use]
    pub fn decode(text: &str) -> Self {
        let mut fields = text.split(FIELD);
        let mut next = || fields.next().unwrap_or_default().to_owned();
        let (client, host, pid) = (next(), next(), next().parse().unwrap_or(0));
        let labels = fields
            .filter_map(|label| label.split_once(PAIR))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        Self { client, host, pid, labels }
    }
}
