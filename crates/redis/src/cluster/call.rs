//! The tasks of a node of a cluster.

use redis::Cmd;

use crate::{
    encode,
    script::{Script, Scripts},
};

/// A script with its arguments, not yet addressed to anybody.
#[derive(Clone)]
pub(super) struct ScriptCall {
    pub(super) script: Script,
    pub(super) keys: Vec<Vec<u8>>,
    pub(super) arguments: Vec<Vec<u8>>,
    /// How many bytes the answer may have.
    pub(super) room: usize,
}

/// A task of a node.
pub(super) enum NodeTask<'a> {
    Evaluate(&'a ScriptCall),
    Listen(&'a str),
}

impl ScriptCall {
    pub(super) fn evalsha(&self, scripts: &Scripts) -> Cmd {
        self.with("EVALSHA", scripts.hash(self.script))
    }

    /// The script as a text. If it were loaded first, another client's `SCRIPT FLUSH` could remove
    /// it before the call.
    pub(super) fn eval(&self, scripts: &Scripts) -> Cmd {
        self.with("EVAL", scripts.source(self.script))
    }

    /// The same call to a node that the hash slot is on its way to. Which clients listen there is
    /// not known yet.
    pub(super) fn to_the_next_node(&self) -> Self {
        let mut call = self.clone();
        if matches!(self.script, Script::Hot | Script::Admin | Script::Queue) {
            encode::set_option(&mut call.arguments[0], encode::HASH_SLOT_MOVES);
        }
        call
    }

    fn with(&self, command: &str, script: &str) -> Cmd {
        let mut command = redis::cmd(command);
        command.arg(script).arg(self.keys.len()).arg(&self.keys).arg(&self.arguments);
        command
    }
}
