//! The subject of a line: a name, and the store that keeps it.

use seinpaal::store::url::StoreUrl;

/// A name at a store. Either may be missing: `list` has no name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedStore<'a> {
    pub(crate) name: &'a str,
    pub(crate) store: &'a StoreUrl,
}

impl<'a> NamedStore<'a> {
    pub(crate) fn new(name: &'a str, store: &'a StoreUrl) -> Self {
        Self { name, store }
    }

    /// Puts the name and the store before these words. If the words name the store already, as
    /// errors of a store do, it is left out.
    pub(crate) fn line(self, words: &str) -> String {
        let (name, store) = (self.name, self.store.to_string());
        match (name.is_empty(), words.contains(&store)) {
            (true, true) => words.to_owned(),
            (true, false) => format!("{store}: {words}"),
            (false, true) => format!("{name}: {words}"),
            (false, false) => format!("{name} ({store}): {words}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_store_stand_there_once() {
        let store = StoreUrl::parse("redis://ann:secret@cache").unwrap();
        let line = |name, words: &str| NamedStore::new(name, &store).line(words);
        assert_eq!(line("a", "evicted"), "a (redis://ann@cache:6379/0): evicted");
        assert_eq!(
            line("a", "redis://ann@cache:6379/0 is gone"),
            "a: redis://ann@cache:6379/0 is gone"
        );
        assert_eq!(line("", "evicted"), "redis://ann@cache:6379/0: evicted");
        assert_eq!(
            line("", "redis://ann@cache:6379/0 is gone"),
            "redis://ann@cache:6379/0 is gone"
        );
    }
}
