//! What a node of a cluster is asked to do, and what may become of it.

use std::sync::Arc;

use redis::{Cmd, Value};
use seinpaal_store::StoreError;

use super::{
    node::{Link, Node},
    slots::Address,
};
use crate::script::{Operation, Scripts};

/// A script with its arguments, not yet addressed to anybody.
pub(super) struct Call {
    pub(super) operation: Operation,
    pub(super) keys: Vec<Vec<u8>>,
    pub(super) arguments: Vec<Vec<u8>>,
    /// How many bytes its answer may have.
    pub(super) room: usize,
}

/// What a node is asked to do.
pub(super) enum NodeTask<'a> {
    Evaluate(&'a Call),
    Listen(&'a str),
}

/// What became of it.
pub(super) enum TaskEnd {
    Done(Done),
    /// Not executed: another node owns the slot.
    Moved(Address),
    /// Not executed: another node has the keys, for now.
    Ask(Address),
    /// Not executed: another time, or by another node, it may be.
    Later(StoreError),
    /// Refused for good, or executed with an error.
    Refused(StoreError),
    /// Handed over, and never answered.
    Lost(StoreError),
}

/// What was answered, and by whom.
pub(super) struct Done {
    pub(super) answer: Value,
    /// Where a script was executed.
    pub(super) at: Option<(Arc<Node>, Link)>,
}

impl Call {
    pub(super) fn evalsha(&self, scripts: &Scripts) -> Cmd {
        self.with("EVALSHA", scripts.hash(self.operation))
    }

    /// Unlike loading it first this cannot be undone by somebody's `SCRIPT FLUSH` in between.
    pub(super) fn eval(&self, scripts: &Scripts) -> Cmd {
        self.with("EVAL", &scripts.source(self.operation))
    }

    fn with(&self, command: &str, script: &str) -> Cmd {
        let mut command = redis::cmd(command);
        command.arg(script).arg(self.keys.len()).arg(&self.keys).arg(&self.arguments);
        command
    }
}
