//! The scripts: their list, the pieces that each is made of, and the script that a batch takes.

mod constants;
mod hash;
mod requests;
mod table;

use std::sync::OnceLock;

use seinpaal_proto::{Batch, Request, time::micros};
use seinpaal_store::url::RestartGuard;

pub(super) use self::hash::hash_of;
pub(super) use self::requests::{FIRST_REQUEST, arguments, double, line, plain_arguments};
pub(super) use self::table::SCRIPTS;
use super::{head, queue::pieces::QUEUE};

/// The second piece of every script of names, behind how wakeups travel: formats and bounds.
pub(super) const FORMS: &str = include_str!("lua/forms.lua");
/// The piece that checks in the lean path whether the restart guard is over. With the guard on, it
/// takes the place of this line.
const OVER: &str = include_str!("lua/over.lua");
const PLACE_OF_OVER: &str = "    -- With restart-guard: over.\n";
/// The lean path, in the scripts that take packed requests.
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
/// The piece that comes next, and the one that follows it with the restart guard.
const BEGIN: &str = include_str!("lua/begin.lua");
const GUARD: &str = include_str!("lua/guard.lua");
/// The end of the script that acquires several names in one step. The scripts of acquire and cancel
/// stand before it.
const TOGETHER: &str = include_str!("lua/together.lua");
/// The end of the script in which batches about several names share a call. The script of all
/// operations stands before it.
const BUNDLE: &str = include_str!("lua/bundle.lua");

/// One operation, or the step that executes all of them.
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
    /// A guarded write, which is no operation of the ledger.
    Write,
    /// The list of the snapshots of many names, which is no operation of the ledger.
    List,
    /// Acquires of several names. It is made of the scripts of acquire and cancel.
    Together,
    /// Requests of any kind about a queue.
    Queue,
    /// Batches about several names. It is made of the script of the step.
    Bundle,
}

impl ScriptKind {
    /// The script for a batch: the script of its operation if it has one request, and the step
    /// otherwise. A few operations have no script of their own and also take the step.
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

    /// Returns whether this script takes packed requests.
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

/// How wakeups travel. The piece that says so is the first of every script.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Wire {
    /// One server: one channel an inbox.
    Single,
    /// A cluster: a channel for each name at which an inbox listens, in the slot of the name.
    Sharded,
    /// A node that is being given the slot, and does not know yet which clients listen.
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

/// A change to the source of every script that has the text. Tests use it to prove that they would
/// notice a mistake.
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

/// The scripts of one store with their hashes, each computed when it is first used.
#[derive(Debug)]
pub(super) struct Scripts {
    wire: Wire,
    /// Three scripts have no row in the table: together, queue and bundle.
    hashed: [OnceLock<String>; SCRIPTS.len() + 3],
    guard: Option<u64>,
    mutations: Vec<Mutation>,
}

impl Scripts {
    /// Makes the scripts. With a guard they expect the key of its marker as third key, and have its
    /// length as a constant.
    pub(super) fn new(wire: Wire, guard: Option<RestartGuard>, mutations: Vec<Mutation>) -> Self {
        let guard = guard.map(|guard| micros(guard.length()));
        Self { wire, guard, mutations, hashed: Default::default() }
    }

    /// The hash by which `EVALSHA` knows a script.
    pub(super) fn hash(&self, operation: ScriptKind) -> &str {
        self.hashed[operation as usize].get_or_init(|| hash_of(&self.source(operation)))
    }

    /// The text of a script, for `SCRIPT LOAD`.
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
        // Every source in the table starts with `begin`, and the guard goes behind that piece.
        let (begin, rest) = SCRIPTS[operation as usize].source.split_at(BEGIN.len());
        // A guarded write admits nobody, so it needs no guard. Its third key is that of the group's
        // id.
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
