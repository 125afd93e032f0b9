//! The scripts: the files of which each is made, and the hash by which the server knows it.

mod hash;

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

pub(super) use self::hash::hash_of;

macro_rules! files {
    ($($file:literal),*) => {
        concat!($(include_str!(concat!("lua/", $file, ".lua"))),*)
    };
}

/// A script.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Script {
    /// Acquire, release, renew, prove and cancel. A program that takes a permit and gives it back
    /// needs no other script.
    Hot,
    /// All requests about names, and all or none of several names.
    Admin,
    /// Reads many names.
    Read,
    /// All that is stored of a name, for the consistency check.
    Dump,
    /// A guarded write.
    Write,
    /// All requests about queues.
    Queue,
}

impl Script {
    const COUNT: usize = 6;

    /// The files, one after the other.
    fn files(self) -> &'static str {
        match self {
            Self::Hot => files!(
                "names/layout",
                "common",
                "names/guard",
                "names/ledger",
                "names/rare",
                "names/hot"
            ),
            Self::Admin => files!(
                "names/layout",
                "common",
                "names/guard",
                "names/ledger",
                "names/rare",
                "names/named",
                "names/rows",
                "names/admin",
                "names/run"
            ),
            Self::Read => files!(
                "names/layout",
                "common",
                "names/guard",
                "names/ledger",
                "names/rows",
                "names/read"
            ),
            Self::Dump => files!("names/dump"),
            Self::Write => files!("names/layout", "names/write"),
            Self::Queue => files!(
                "queues/layout",
                "common",
                "queues/begin",
                "queues/general",
                "queues/workers",
                "queues/time",
                "queues/operators",
                "queues/list",
                "queues/run"
            ),
        }
    }
}

/// Edits the files of every script. Tests use it to prove that they would notice a mistake.
pub type EditLua = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// The scripts of one store, each made when it is first used.
pub(super) struct Scripts {
    made: [OnceLock<(String, String)>; Script::COUNT],
    edit: Option<EditLua>,
}

impl Scripts {
    pub(super) fn new(edit: Option<EditLua>) -> Self {
        Self { edit, made: Default::default() }
    }

    /// The hash by which `EVALSHA` knows a script.
    pub(super) fn hash(&self, script: Script) -> &str {
        &self.made(script).0
    }

    /// The text of a script.
    pub(super) fn source(&self, script: Script) -> &str {
        &self.made(script).1
    }

    fn made(&self, script: Script) -> &(String, String) {
        self.made[script as usize].get_or_init(|| {
            let files = script.files();
            let files = self.edit.as_ref().map_or_else(|| files.to_owned(), |edit| edit(files));
            let source = without_comments(&files);
            (hash_of(&source), source)
        })
    }
}

impl fmt::Debug for Scripts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripts").finish_non_exhaustive()
    }
}

/// A script as it is sent. A comment begins with two dashes and a space, at the start of a line or
/// behind a space.
fn without_comments(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    for line in source.lines() {
        let line = line.trim();
        let line = if line.starts_with("--") { "" } else { line };
        let line = line.find(" -- ").map_or(line, |at| &line[..at]).trim_end();
        if !line.is_empty() {
            code.push_str(line);
            code.push('\n');
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_indents_are_not_sent() {
        let source =
            "-- A comment.\nlocal a = 1 -- why\n\n  if a then\n    --\n    return '--'\n  end\n";
        assert_eq!(without_comments(source), "local a = 1\nif a then\nreturn '--'\nend\n");
    }

    /// A program that takes a permit and gives it back sends this much to a server that does not
    /// know the script.
    #[test]
    fn the_script_that_everybody_needs_is_short() {
        let length = Scripts::new(None).source(Script::Hot).len();
        assert!(length <= 64 << 10, "{length} bytes");
    }
}
