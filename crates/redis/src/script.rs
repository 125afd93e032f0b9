//! The scripts: which there are, of which pieces they are made, and which of them a batch takes.

mod constants;
mod hash;
mod requests;
mod table;

use std::sync::OnceLock;

use seinpaal_proto::{Batch, Request, time::micros};
use seinpaal_store::url::RestartGuard;

pub(super) use self::hash::hash_of;
pub(super) use self::requests::{
    FIRST_REQUEST, acquire_line, arguments, attach_words, double, line, plain_arguments,
};
pub(super) use self::table::{SCRIPTS, ledger};
use super::{head, queue::pieces::QUEUE};

/// Where every script begins: formats, and without the restart guard what goes on most of the time.
pub(super) const FORMS: &str = include_str!("lua/forms.lua");
/// What stands in the lean path with the restart guard, and where: whether the guard is over.
const OVER: &str = include_str!("lua/over.lua");
const PLACE_OF_OVER: &str = "    -- With restart-guard: over.\n";
const LEAN: &str = concat!(
    include_str!("lua/lean.lua"),
    include_str!("lua/lean_end.lua"),
    include_str!("lua/line.lua"),
    include_str!("lua/line_session.lua"),
    include_str!("lua/line_acquire.lua"),
    include_str!("lua/line_release.lua"),
    include_str!("lua/line_renew.lua"),
    include_str!("lua/line_serve.lua"),
    include_str!("lua/line_end.lua"),
    include_str!("lua/lean_renew.lua"),
    include_str!("lua/lean_words.lua"),
);
/// What follows, and what follows that with the restart guard.
const BEGIN: &str = include_str!("lua/begin.lua");
const GUARD: &str = include_str!("lua/guard.lua");
/// What follows the scripts of acquire and cancel where several names are acquired in one step.
const TOGETHER: &str = include_str!("lua/together.lua");
/// What follows the script of all operations where batches about several names share a call.
const BUNDLE: &str = include_str!("lua/bundle.lua");

/// One operation, or the step that knows them all.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ScriptKind {
    Acquire,
    Renew,
    Release,
    Cancel,
    Evict,
    Configure,
    Inspect,
    Step,
    /// Not one of the ledger's: a guarded write.
    Write,
    /// Not one of the ledger's: what a list tells of many names.
    List,
    /// Acquires of several names; it is made of two others.
    Together,
    /// Requests of any kind about a queue.
    Queue,
    /// Batches about several names; it is made of the step.
    Bundle,
}

impl ScriptKind {
    /// The script for a batch: the lean one if it has one request.
    pub(super) fn of(batch: &Batch) -> Self {
        match batch.requests.as_slice() {
            [request] => Self::of_request(request),
            _ => Self::Step,
        }
    }

    fn of_request(request: &Request) -> Self {
        match request {
            Request::Acquire(_) => Self::Acquire,
            Request::Renew(_) => Self::Renew,
            Request::Release { .. } => Self::Release,
            Request::Cancel { .. } => Self::Cancel,
            Request::Evict { .. } => Self::Evict,
            Request::Configure(_) => Self::Configure,
            Request::Inspect { .. } => Self::Inspect,
            _ => Self::Step,
        }
    }

    /// Returns whether its script takes packed requests.
    fn may_be_plain(self) -> bool {
        matches!(self, Self::Acquire | Self::Renew | Self::Release | Self::Step)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Together => "together",
            Self::Queue => "queue",
            Self::Bundle => "bundle",
            _ => SCRIPTS[self as usize].name,
        }
    }
}

/// How wakeups travel, which is the first piece of every script.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Wire {
    /// One server: one channel an inbox.
    Single,
    /// A cluster: a channel for each name at which an inbox listens, in the slot of the name.
    Sharded,
    /// A node of a cluster that is being given the slot: who listens is not known there yet.
    Moving,
}

impl Wire {
    fn piece(self) -> &'static str {
        match self {
            Self::Single => include_str!("lua/wire_single.lua"),
            Self::Sharded => include_str!("lua/wire_sharded.lua"),
            Self::Moving => include_str!("lua/wire_moving.lua"),
        }
    }
}

/// A change to every script's source, with which tests prove that they would notice.
#[derive(Clone, Debug)]
pub(super) struct Mutation {
    pub(super) from: String,
    pub(super) to: String,
}

/// Returns whether a script has this text.
pub(super) fn is_anywhere(text: &str) -> bool {
    let others = [FORMS, OVER, LEAN, GUARD, TOGETHER, BUNDLE, QUEUE].concat();
    others.contains(text) || SCRIPTS.iter().any(|row| row.source.contains(text))
}

/// The scripts of one store with their hashes, each worked out when first used.
#[derive(Debug)]
pub(super) struct Scripts {
    wire: Wire,
    /// Three have no row in the table: together, queue and bundle.
    hashed: [OnceLock<String>; SCRIPTS.len() + 3],
    /// In microseconds.
    guard: Option<u64>,
    mutations: Vec<Mutation>,
}

impl Scripts {
    /// Those that expect the marker of a guard of this length as third key, or not.
    pub(super) fn new(wire: Wire, guard: Option<RestartGuard>, mutations: Vec<Mutation>) -> Self {
        let guard = guard.map(|guard| micros(guard.length()));
        Self { wire, guard, mutations, hashed: Default::default() }
    }

    /// The hash of a script, by which `EVALSHA` knows it.
    pub(super) fn hash(&self, operation: ScriptKind) -> &str {
        self.hashed[operation as usize].get_or_init(|| hash_of(&self.source(operation)))
    }

    /// Its text, for `SCRIPT LOAD`.
    pub(super) fn source(&self, operation: ScriptKind) -> String {
        if operation == ScriptKind::Together {
            return self.together();
        }
        if operation == ScriptKind::Bundle {
            let bundle = self.changed(BUNDLE.to_owned());
            return [self.function("batch", ScriptKind::Step), bundle].concat();
        }
        if operation == ScriptKind::Queue {
            let source = self.changed([self.wire.piece(), QUEUE].concat());
            return constants::written(&head::QUEUES.expand(&source));
        }
        let (begin, rest) = SCRIPTS[operation as usize].source.split_at(BEGIN.len());
        let guard = self.guard.filter(|_| operation != ScriptKind::Write);
        let (over, after) = guard.map_or(("", ""), |_| (OVER, GUARD));
        let lean = if operation.may_be_plain() { LEAN } else { "" };
        let lean = lean.replace(PLACE_OF_OVER, over);
        let pieces = [self.wire.piece(), FORMS, &lean, begin, after, rest];
        let length = guard.unwrap_or_default().to_string();
        let expanded = head::NAMES.expand(&self.changed(pieces.concat()));
        constants::written(&expanded).replace("GUARD_LENGTH", &length)
    }

    fn changed(&self, source: String) -> String {
        #[cfg(feature = "planted")]
        let source = crate::planted::spoil(source);
        self.mutations
            .iter()
            .fold(source, |source, mutation| source.replacen(&mutation.from, &mutation.to, 1))
    }

    fn together(&self) -> String {
        let acquire = self.function("acquire", ScriptKind::Acquire);
        [acquire, self.function("cancel", ScriptKind::Cancel), TOGETHER.to_owned()].concat()
    }

    /// A script as a function of its keys and arguments.
    fn function(&self, name: &str, operation: ScriptKind) -> String {
        format!("local function {name}(KEYS, ARGV)\n{}\nend\n", self.source(operation))
    }
}

#[cfg(test)]
mod tests;
