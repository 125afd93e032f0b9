//! The answers of a node.

use seinpaal_proto::{Cause, Kind, Reply, Slots, Ticket, time::Micros};
use seinpaal_redis::node::Value;

use super::{
    reply::reply,
    words::{ReplyWords, number},
};

/// A node's answer to one call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NodeAnswer {
    /// The node's clock.
    pub now: Micros,
    /// Whether the node has work left over.
    pub backlog: bool,
    pub guard: NodeGuard,
    /// One reply for each line, in their order.
    pub replies: Vec<NodeReply>,
    pub state: NodeState,
}

/// Each node's answer to one line, or `None` if the node has not answered.
pub type NodeAnswers<'a> = &'a [Option<(&'a NodeAnswer, &'a NodeReply)>];

/// How far a node is to be trusted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NodeGuard {
    /// The `run_id` of the server, which is new with every start.
    pub run: String,
    pub word: GuardWord,
    /// The length of the guard that is stored there.
    pub stored: Micros,
    /// For how much longer the node admits nobody.
    pub left: Micros,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GuardWord {
    /// There is no marker.
    None,
    /// There is a marker of this run, for this guard.
    Same,
    /// There is a marker of another run.
    Other,
    /// There is a marker for another guard.
    Differs,
}

/// The settings at a node, and the waiters of the asker that may look again.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct NodeState {
    /// The greatest fence that the node has voted for.
    pub fence: u64,
    pub stated: Register<Option<u32>>,
    pub pinned: Register<Option<u32>>,
    pub paused: Register<Option<String>>,
    /// Tickets of the asker whose turn may have come.
    pub looks: Vec<Ticket>,
}

/// A value with the version that was given with it. A value with version 0 was never set on
/// purpose.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Register<T> {
    pub version: u64,
    pub value: T,
}

/// A node's answer to one line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NodeReply {
    /// A vote for the ticket.
    Took(Vote),
    /// No vote.
    Not(NodeRefusal),
    /// A setting was taken over, and this is the limit that the node has now.
    Set(u32),
    /// A setting was not taken over, because the node has this later version of it.
    Stale(u64),
    Plain(Reply),
}

/// A vote for a ticket to have slots.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Vote {
    pub ticket: Ticket,
    pub fence: u64,
    pub slots: Slots,
    /// The time that is left of the ticket's lease there.
    pub left: Micros,
    /// The other holders. Their slots are told only if some are above the limit.
    pub others: NodeHolders,
}

/// The reason why a node does not vote for a ticket, and what the node knows.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NodeRefusal {
    pub ticket: Ticket,
    pub why: RefusedFor,
    /// The greatest fence that the node has voted for.
    pub fence: u64,
    pub held: u32,
    pub waiting: u32,
    pub holders: NodeHolders,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RefusedFor {
    Full,
    Paused,
    /// The node may have forgotten a lease.
    Guarded,
    /// Other tickets wait there already.
    Late,
    TooManyWaiting,
    /// The node has voted for a greater fence.
    Fence,
    /// The node has a later vote for the same ticket.
    Stale,
}

/// The holders at a node: the fence of each grant, and its slots.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct NodeHolders {
    pub known: Vec<(u64, Slots)>,
    /// Whether there are more holders than the node lists.
    pub is_cut: bool,
}

impl NodeAnswer {
    /// Reads the answer to a call with so many lines between the guard's and the state's. `None` if
    /// it cannot be read.
    // Used by fuzz/.
    pub fn read(value: &Value, lines: usize) -> Option<Self> {
        let Value::Array(answers) = value else { return None };
        let [done, guard, replies @ .., state] = answers.as_slice() else { return None };
        let mut done = ReplyWords::of(done)?;
        done.expect("done")?;
        let (now, backlog) = (done.number()?, done.flag()?);
        let replies = replies.iter().map(node_reply).collect::<Option<Vec<_>>>()?;
        let (guard, state) = (read_guard(guard)?, read_state(state)?);
        (replies.len() == lines).then_some(Self { now, backlog, guard, replies, state })
    }
}

fn read_guard(value: &Value) -> Option<NodeGuard> {
    let mut words = ReplyWords::of(value)?;
    words.expect("guard")?;
    let run = words.word()?.to_owned();
    let word = match words.word()? {
        "none" => GuardWord::None,
        "same" => GuardWord::Same,
        "other" => GuardWord::Other,
        "differs" => GuardWord::Differs,
        _ => return None,
    };
    Some(NodeGuard { run, word, stored: words.number()?, left: words.number()? })
}

fn read_state(value: &Value) -> Option<NodeState> {
    let mut words = ReplyWords::of(value)?;
    words.expect("state")?;
    let fence = words.number()?;
    let stated = Register { version: words.number()?, value: words.limit_or_none()? };
    let pinned = Register { version: words.number()?, value: words.limit_or_none()? };
    let pause_version = words.number()?;
    let looks = words.word()?.split(',').filter_map(|ticket| ticket.parse().ok()).collect();
    let paused = Register { version: pause_version, value: words.reason()? };
    Some(NodeState { fence, stated, pinned, paused, looks })
}

fn node_reply(value: &Value) -> Option<NodeReply> {
    if let Some(mut words) = ReplyWords::of(value) {
        match words.word()? {
            "took" => return took(&mut words).map(NodeReply::Took),
            "not" => return refusal(&mut words).map(NodeReply::Not),
            "set" => return words.parsed().map(NodeReply::Set),
            "stale" => return words.number().map(NodeReply::Stale),
            _ => {}
        }
    }
    reply(value).map(NodeReply::Plain)
}

fn took(words: &mut ReplyWords<'_>) -> Option<Vote> {
    let (ticket, fence, slots) = (words.parsed()?, words.number()?, words.parsed()?);
    // The limit is read from the settings in `NodeState`, where it has its version.
    let _limit: u32 = words.parsed()?;
    let left = words.number()?;
    Some(Vote { ticket, fence, slots, left, others: holders(words.rest())? })
}

fn refusal(words: &mut ReplyWords<'_>) -> Option<NodeRefusal> {
    let ticket = words.parsed()?;
    let why = match words.word()? {
        "full" => RefusedFor::Full,
        "paused" => RefusedFor::Paused,
        "guarded" => RefusedFor::Guarded,
        "late" => RefusedFor::Late,
        "too-many-waiting" => RefusedFor::TooManyWaiting,
        "fence" => RefusedFor::Fence,
        "stale" => RefusedFor::Stale,
        _ => return None,
    };
    let (fence, _limit, held, waiting) =
        (words.number()?, words.number()?, words.parsed()?, words.parsed()?);
    let _guard = words.number()?;
    Some(NodeRefusal { ticket, why, fence, held, waiting, holders: holders(words.rest())? })
}

fn holders(text: &str) -> Option<NodeHolders> {
    let mut holders = NodeHolders::default();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match word.split_once(':') {
            Some((fence, slots)) => {
                holders.known.push((number(fence)?, slots.parse().ok()?));
            }
            None => holders.is_cut = true,
        }
    }
    Some(holders)
}

impl NodeReply {
    /// The cause of the ticket's end, if the node says that the ticket has ended.
    pub fn ended(&self) -> Option<Cause> {
        match self {
            Self::Plain(Reply::Ended { cause, .. }) => Some(*cause),
            _ => None,
        }
    }

    /// The kind of lock that the node has under this name, if it is not the kind that was asked
    /// for.
    pub fn other_kind(&self) -> Option<Kind> {
        match self {
            Self::Plain(Reply::OtherKind { stored, .. }) => Some(*stored),
            _ => None,
        }
    }
}
