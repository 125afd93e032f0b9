//! The matters of a call to all nodes.

use seinpaal_proto::{Inbox, Name, Request};

use super::{
    answer::{NodeAnswer, NodeReply},
    attach::Transfer,
    ballot::Ballot,
    gather::Gathering,
};

/// Something to be decided.
pub(super) struct OpenMatter {
    /// Which request of the batch.
    pub(super) index: usize,
    pub(super) matter: Matter,
    /// The line in the call under way.
    pub(super) line: usize,
}

pub(super) enum Matter {
    Take(Ballot),
    Attach(Transfer),
    Set(Vec<(&'static str, String)>),
    Plain(Request),
}

/// The purpose of a call about a name.
pub(super) struct CallHeader<'a> {
    pub(super) name: &'a Name,
    pub(super) inbox: Option<Inbox>,
    pub(super) fence_seen: u64,
}

/// Each node's answer to one line.
pub(super) fn at(
    gathering: &Gathering,
    line: usize,
) -> impl Iterator<Item = Option<(&NodeAnswer, &NodeReply)>> {
    gathering.answers().map(move |answer| answer.map(|answer| (answer, &answer.replies[line])))
}
