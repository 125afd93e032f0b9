//! What a name is called on the server: two keys under one hash tag, and a channel for each inbox.

use seinpaal_proto::{Inbox, Name};

/// What keys and channels start with unless the URL says otherwise.
pub(super) const DEFAULT_PREFIX: &str = "seinpaal:";

/// Builds and reads keys and channels under one prefix, which has no braces in it.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    prefix: String,
}

impl Keys {
    /// `None` if the prefix has a brace in it: it would move the hash tag.
    pub(super) fn new(prefix: &str) -> Option<Self> {
        let is_plain = !prefix.contains(['{', '}']);
        is_plain.then(|| Self { prefix: prefix.to_owned() })
    }

    /// The hash and the ordered set of a name.
    pub(super) fn of(&self, name: &Name) -> [String; 2] {
        let records = format!("{}{{{}}}", self.prefix, encode(name));
        let order = format!("{records}:o");
        [records, order]
    }

    /// Where a node of a quorum keeps the marker of its restart guard.
    pub(super) fn node_marker(&self) -> String {
        format!("{}node", self.prefix)
    }

    /// The name whose hash this is.
    pub(super) fn name_of(&self, records: &str) -> Option<Name> {
        let tag = records.strip_prefix(&self.prefix)?.strip_prefix('{')?.strip_suffix('}')?;
        Name::new(&decode(tag)?).ok()
    }

    /// Where an inbox listens. The scripts build the same.
    pub(super) fn channel(&self, inbox: Inbox) -> String {
        format!("{}inbox:{inbox}", self.prefix)
    }

    /// What `SCAN` is to match for the hashes of names that start with `start`.
    pub(super) fn pattern(&self, start: &str) -> String {
        format!("{}{{{}*}}", escape_glob(&self.prefix), escape_glob(&encode(start)))
    }
}

/// Makes any text safe inside a hash tag.
fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '%' => encoded.push_str("%25"),
            '{' => encoded.push_str("%7B"),
            '}' => encoded.push_str("%7D"),
            other => encoded.push(other),
        }
    }
    encoded
}

/// Undoes [`encode`] and nothing else, so that two keys never have one name.
fn decode(tag: &str) -> Option<String> {
    let mut parts = tag.split('%');
    let mut text = parts.next()?.to_owned();
    for part in parts {
        let (c, rest) = match part.get(..2)? {
            "25" => ('%', &part[2..]),
            "7B" => ('{', &part[2..]),
            "7D" => ('}', &part[2..]),
            _ => return None,
        };
        text.push(c);
        text.push_str(rest);
    }
    (!tag.contains(['{', '}'])).then_some(text)
}

fn escape_glob(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '\\' | '^' | '-') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_comes_back_from_its_key() {
        let keys = Keys::new(DEFAULT_PREFIX).unwrap();
        for text in ["gpus", "a{b}c", "}{", "100%", "%7B", "zürich 東京", "a:o", "*[?]\\"] {
            let name = Name::new(text).unwrap();
            let [records, order] = keys.of(&name);
            assert_eq!(keys.name_of(&records), Some(name), "{records}");
            assert_eq!(keys.name_of(&order), None, "{order}");
        }
    }

    #[test]
    fn the_hash_tag_holds_the_whole_name() {
        let keys = Keys::new(DEFAULT_PREFIX).unwrap();
        let [records, order] = keys.of(&Name::new("a{b}c").unwrap());
        assert_eq!(records, "seinpaal:{a%7Bb%7Dc}");
        assert_eq!(order, "seinpaal:{a%7Bb%7Dc}:o");
    }

    #[test]
    fn a_key_that_was_not_encoded_by_us_has_no_name() {
        let keys = Keys::new(DEFAULT_PREFIX).unwrap();
        for key in ["seinpaal:{a%41}", "seinpaal:{a{b}", "other:{a}", "seinpaal:a", "seinpaal:{}"] {
            assert_eq!(keys.name_of(key), None, "{key}");
        }
    }

    #[test]
    fn a_prefix_with_a_brace_is_refused() {
        assert!(Keys::new("a{b").is_none());
    }

    #[test]
    fn what_a_glob_would_read_is_escaped() {
        let keys = Keys::new("s*:").unwrap();
        assert_eq!(keys.pattern("a?[x]"), "s\\*:{a\\?\\[x\\]*}");
    }
}
