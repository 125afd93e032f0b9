//! Groups of commands that are applied in one step, and only while a permit is held.

mod commands;

use seinpaal_proto::{Fence, Name, Ticket};
use thiserror::Error;

use crate::{StoreError, StoreErrorKind};
pub use commands::Shape;

/// The commands of a guarded write, in order. See `Permit::guarded`.
///
/// Keys and values are bytes. Each method answers at its place in what `guarded` gives.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CommandGroup {
    pub commands: Vec<GuardedCommand>,
    bad: Option<BadGroup>,
}

/// One command of a group.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GuardedCommand {
    pub name: &'static str,
    pub shape: Shape,
    pub key: Vec<u8>,
    pub args: Vec<Vec<u8>>,
}

/// The answer of a command.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Nothing is there.
    Nil,
    /// A number, exact up to 2^53.
    Int(i64),
    /// A value; fractions, too, are text.
    Bytes(Vec<u8>),
    /// `OK`, or what else a command says of itself.
    Status(String),
    /// Several.
    List(Vec<Self>),
}

impl Value {
    /// Returns the number, or what can be read as one.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            Self::Bytes(bytes) => std::str::from_utf8(bytes).ok()?.parse().ok(),
            _ => None,
        }
    }

    /// Returns the bytes of a value.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// A guarded write: the permit that must be held, and the commands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GuardedWrite {
    /// The name whose permits they are.
    pub name: Name,
    /// All of these must hold.
    pub held: Vec<(Ticket, Fence)>,
    /// Drawn at random for this write. The store applies the write once, however often it arrives.
    pub id: u128,
    /// The commands.
    pub group: CommandGroup,
}

/// Why a group was not applied, or not wholly.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum GuardedError {
    /// The permit is not held (any more): nothing was written.
    #[error("the permit is not held any more: nothing was written")]
    NotHeld,
    /// The group is not one. Nothing was sent.
    #[error(transparent)]
    Bad(#[from] BadGroup),
    /// A key is in another hash slot of the cluster than the name. Nothing was sent.
    #[error("the key {0:?} is elsewhere in the cluster than the name: make keys with `permit.key`")]
    OtherHashSlot(String),
    /// A command cannot work (another type, not a number): nothing was written.
    #[error("command {} of the group cannot work, nothing was written: {why}", .command + 1)]
    Refused {
        /// Which, from 0.
        command: usize,
        /// What the server said.
        why: String,
    },
    /// A command failed that could not be foreseen. Those before it are applied, it and those after
    /// are not.
    #[error("command {} of the group failed, those before it are applied: {why}", .command + 1)]
    Partial {
        /// Which, from 0.
        command: usize,
        /// What the server said.
        why: String,
        /// The answers of the commands before it.
        answers: Vec<Value>,
    },
    /// The store did not answer in time: the group was applied wholly, once, or not at all.
    #[error("the group may have been applied or not: {0}")]
    Unknown(StoreError),
    /// The connection is closed (`Seinpaal::close`). A group that was under way then was applied
    /// wholly, once, or not at all.
    #[error("the connection is closed: the group may have been applied or not")]
    Closed,
    /// The store did not take it: nothing was written.
    #[error(transparent)]
    Store(StoreError),
    /// This store keeps permits and nothing else.
    #[error("guarded writes are not on this store: give the fence to what you write to")]
    NotOnThisStore,
}

/// A closed connection has a variant of its own.
impl From<StoreError> for GuardedError {
    fn from(error: StoreError) -> Self {
        match error.kind() {
            StoreErrorKind::Closed => Self::Closed,
            _ => Self::Store(error),
        }
    }
}

/// Why a group cannot be sent.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum BadGroup {
    /// Not one of the commands that may be in a group.
    #[error("{0} cannot be in a guarded write: only plain commands on one key can")]
    UnknownCommand(String),
    /// Too few or too many arguments.
    #[error("{0} takes {2} to {3} arguments besides its key, and was given {1}")]
    Arguments(&'static str, usize, usize, usize),
    /// No commands.
    #[error("a guarded write has at least one command")]
    Empty,
    /// Too many commands or bytes.
    #[error(
        "a guarded write has at most {} commands and {} bytes",
        CommandGroup::MOST,
        CommandGroup::MOST_BYTES
    )]
    TooLarge,
    /// A key in which the store keeps permits.
    #[error("the key {0:?} belongs to the store itself")]
    OurKey(String),
}

impl CommandGroup {
    /// The most commands in a group.
    pub const MOST: usize = 128;
    /// The most bytes of all keys and arguments together.
    pub const MOST_BYTES: usize = 8 << 20;

    /// Returns the commands of the group, or what is wrong with it.
    pub fn check(&self) -> Result<(), BadGroup> {
        if let Some(bad) = &self.bad {
            return Err(bad.clone());
        }
        if self.commands.is_empty() {
            return Err(BadGroup::Empty);
        }
        let sizes = self.commands.iter().flat_map(|command| &command.args).map(Vec::len);
        let bytes =
            sizes.chain(self.commands.iter().map(|command| command.key.len())).sum::<usize>();
        if self.commands.len() > Self::MOST || bytes > Self::MOST_BYTES {
            return Err(BadGroup::TooLarge);
        }
        Ok(())
    }

    /// Adds a command that has no method here, from those of one key that read or write plain data.
    ///
    /// One that is not among them, or has too few or too many arguments, fails the whole group
    /// before anything is sent.
    pub fn command(
        &mut self,
        name: &str,
        key: impl AsRef<[u8]>,
        args: &[impl AsRef<[u8]>],
    ) -> &mut Self {
        match commands::find(name, args.len()) {
            Ok((name, shape)) => self.commands.push(GuardedCommand {
                name,
                shape,
                key: key.as_ref().to_vec(),
                args: args.iter().map(|arg| arg.as_ref().to_vec()).collect(),
            }),
            Err(bad) => self.bad = self.bad.take().or(Some(bad)),
        }
        self
    }
}

/// The hash tag of a name, as Redis Cluster reads it: keys with it are where the name is.
pub fn hash_tag(name: &str) -> String {
    format!("{{{}}}", encode(name))
}

/// Makes any text safe inside a hash tag.
pub fn encode(text: &str) -> String {
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
