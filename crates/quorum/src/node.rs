//! One node: its connection, and calls of the node script.

use std::sync::{
    LazyLock,
    atomic::{AtomicBool, Ordering},
};

use seinpaal_proto::{Batch, Inbox, Name, time::Micros};
use seinpaal_redis::node::{Node, Script};
use seinpaal_store::{Certainty, NewsSender, StoreError, StoreErrorKind, url::RedisUrl};

use super::{answer::NodeAnswer, line::MOST_FENCE_SEEN, wakeup};

/// The files of the node script, in their order: each uses those before it.
const FILES: [&str; 12] = [
    include_str!("lua/call.lua"),
    include_str!("lua/slots.lua"),
    include_str!("lua/state.lua"),
    include_str!("lua/write.lua"),
    include_str!("lua/leases.lua"),
    include_str!("lua/guard.lua"),
    include_str!("lua/settings.lua"),
    include_str!("lua/waiters.lua"),
    include_str!("lua/vote.lua"),
    include_str!("lua/tickets.lua"),
    include_str!("lua/inspect.lua"),
    include_str!("lua/run.lua"),
];

/// The node script: the files one after the other, without comments and empty lines.
static SCRIPT: LazyLock<Script> = LazyLock::new(|| {
    let lines = FILES.iter().flat_map(|file| file.lines());
    let is_code = |line: &&str| !line.trim_start().starts_with("--") && !line.trim().is_empty();
    Script::new(lines.filter(is_code).collect::<Vec<_>>().join("\n"))
});

/// How many bytes an answer may have. Besides the replies, it may list tickets of the name.
const NODE_ROOM: usize = 32 << 20;

/// One server of the quorum.
pub(super) struct QuorumNode {
    pub(super) server: Node,
    /// Whether the last caller waited for this node in vain. No caller waits for such a node until
    /// it answers again.
    is_silent: AtomicBool,
}

/// The parts of a call besides its lines.
#[derive(Clone, Debug)]
pub(super) struct Envelope {
    pub(super) name: Name,
    pub(super) inbox: Option<Inbox>,
    pub(super) fence_seen: u64,
    pub(super) now: Option<Micros>,
    /// The arguments of `guard`: its length, and how to begin it.
    pub(super) guard: String,
}

impl QuorumNode {
    /// Begins to connect.
    pub(super) fn begin(url: RedisUrl, inbox: Inbox, news: NewsSender) -> Result<Self, StoreError> {
        let server = Node::begin(url, inbox, news, wakeup::read)?;
        Ok(Self { server, is_silent: AtomicBool::new(false) })
    }

    pub(super) fn shown(&self) -> &str {
        self.server.shown()
    }

    /// Has the node execute lines, all or none of them.
    pub(super) async fn ask(
        &self,
        envelope: &Envelope,
        lines: &[String],
    ) -> Result<NodeAnswer, StoreError> {
        let mut keys = self.server.keys_of(&envelope.name).to_vec();
        // The marker of the node's restart guard.
        keys.push(self.server.key("node"));
        let arguments = arguments(envelope, lines);
        let value = self.server.run(&SCRIPT, &keys, &arguments, NODE_ROOM).await?;
        // Any answer, even one that cannot be read, shows that the node is worth waiting for.
        self.is_silent.store(false, Ordering::Relaxed);
        NodeAnswer::read(&value, lines.len()).ok_or_else(|| {
            let shown: String = format!("{value:?}").chars().take(200).collect();
            let message = format!("{} answered {shown}, which cannot be read", self.shown());
            StoreError::new(StoreErrorKind::Corrupt, Certainty::Unknown, message)
        })
    }

    pub(super) fn is_silent(&self) -> bool {
        self.is_silent.load(Ordering::Relaxed)
    }

    pub(super) fn was_silent(&self) {
        self.is_silent.store(true, Ordering::Relaxed);
    }
}

fn arguments(envelope: &Envelope, lines: &[String]) -> Vec<String> {
    let mut arguments = vec![
        envelope.now.map(|now| now.to_string()).unwrap_or_default(),
        envelope.inbox.map(|inbox| inbox.to_string()).unwrap_or_default(),
        envelope.fence_seen.min(MOST_FENCE_SEEN).to_string(),
        format!("guard {}", envelope.guard),
    ];
    arguments.extend_from_slice(lines);
    // `state` is the last line, so that each answer also tells how the name stands after all
    // requests.
    arguments.push("state ".to_owned());
    arguments
}

/// The most lines in one call.
pub(super) const MOST_LINES: usize = 2 * Batch::MOST;
