//! The matters of a call to all nodes, and their ends.

use seinpaal_proto::{Inbox, Name, Reply, Request, Ticket, time::Micros};

use super::{
    answer::{NodeAnswer, NodeReply},
    attach::Transfer,
    ballot::Ballot,
    gather::Gathering,
};

/// A request that is yet to be decided.
pub(super) struct OpenMatter {
    /// The place of the request in the batch.
    pub(super) index: usize,
    pub(super) matter: Matter,
    /// The place of its line in the call under way.
    pub(super) line: usize,
}

pub(super) enum Matter {
    Take(Ballot),
    Attach(Transfer),
    Set(Vec<(&'static str, String)>),
    Plain(Request),
}

/// The name that a call is about, and the fields of the batch besides its requests.
pub(super) struct CallHeader<'a> {
    pub(super) name: &'a Name,
    pub(super) inbox: Option<Inbox>,
    pub(super) fence_seen: u64,
}

/// The result of a call.
#[derive(Default)]
pub(super) struct Yield {
    pub(super) now: Micros,
    pub(super) backlog: bool,
    pub(super) replies: Vec<Option<Reply>>,
    pub(super) looks: Vec<Ticket>,
}

impl Yield {
    /// Takes the parts of a node's answer that belong to no line.
    pub(super) fn hear(&mut self, answer: &NodeAnswer) {
        self.now = self.now.max(answer.now);
        self.backlog |= answer.backlog;
        for ticket in &answer.state.looks {
            if !self.looks.contains(ticket) {
                self.looks.push(*ticket);
            }
        }
    }
}

/// Each node's answer to one line.
pub(super) fn at(
    gathering: &Gathering,
    line: usize,
) -> impl Iterator<Item = Option<(&NodeAnswer, &NodeReply)>> {
    gathering.answers().map(move |answer| answer.map(|answer| (answer, &answer.replies[line])))
}
