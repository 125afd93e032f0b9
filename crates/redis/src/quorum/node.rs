//! One node: its connection, and calls of the node script.

use std::sync::{
    LazyLock,
    atomic::{AtomicBool, Ordering},
};

use seinpaal_proto::{Batch, Inbox, Name, time::Micros};

use super::answer::NodeAnswer;
use crate::{
    connection::{Connection, lasting::Text},
    endpoint::RedisEndpoint,
    head,
    keys::Keys,
    link::ConnectOptions,
    replicas::REPLICATION_TIMEOUT,
    script::{MOST_FENCE_SEEN, hash_of, ledger},
    servers::Scanned,
};
use seinpaal_store::{Certainty, NewsSender, StoreError, StoreErrorKind, url::RedisUrl};

/// The pieces of the node script: those of the ledger, and after them the node's own, which replace
/// the service of the queue and other functions.
const PIECES: &str = concat!(
    include_str!("../lua/wire_single.lua"),
    include_str!("../lua/forms.lua"),
    include_str!("../lua/begin.lua"),
    "local function unfold(text)\n",
    include_str!("../lua/unfold.lua"),
    "return lone_head, lone_field, lone_record\nend\n",
    ledger!(),
    include_str!("../lua/acquire.lua"),
    include_str!("../lua/renew.lua"),
    include_str!("../lua/attach.lua"),
    include_str!("../lua/release.lua"),
    include_str!("../lua/cancel.lua"),
    include_str!("../lua/evict.lua"),
    include_str!("../lua/rows.lua"),
    include_str!("../lua/inspect.lua"),
    include_str!("lua/guard.lua"),
    include_str!("lua/node.lua"),
    include_str!("lua/take.lua"),
    include_str!("../lua/refusal.lua"),
    include_str!("../lua/step.lua"),
);

/// The node script, with the fields of a head in their places.
static SOURCE: LazyLock<String> = LazyLock::new(|| head::NAMES.expand(PIECES));

/// How many bytes an answer may have. Besides the replies, it may list tickets of the name.
const NODE_ROOM: usize = 32 << 20;

/// One server of the quorum.
pub(super) struct QuorumNode {
    pub(super) connection: Connection,
    pub(super) shown: String,
    keys: Keys,
    /// The hash of the node script.
    hash: String,
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
    pub(super) fn begin(url: RedisUrl, keys: Keys, inbox: Inbox, news: NewsSender) -> Self {
        let shown = url.to_string();
        let options = ConnectOptions {
            endpoint: RedisEndpoint::Server(url),
            keys: keys.clone(),
            inbox,
            news,
            replication_timeout: REPLICATION_TIMEOUT,
        };
        let connection = Connection::begin(options);
        Self { connection, shown, keys, hash: hash_of(&SOURCE), is_silent: AtomicBool::new(false) }
    }

    /// Has the node execute lines, all or none of them.
    pub(super) async fn ask(
        &self,
        envelope: &Envelope,
        lines: &[String],
    ) -> Result<NodeAnswer, StoreError> {
        let mut keys = self.keys.of(&envelope.name).to_vec();
        keys.push(self.keys.node_marker());
        let text = Text { hash: &self.hash, source: &SOURCE };
        let arguments = arguments(envelope, lines);
        let value = self.connection.evaluate_text(text, &keys, &arguments, NODE_ROOM).await?;
        // Any answer, even one that cannot be read, shows that the node is worth waiting for.
        self.is_silent.store(false, Ordering::Relaxed);
        NodeAnswer::read(&value, lines.len()).ok_or_else(|| {
            let shown: String = format!("{value:?}").chars().take(200).collect();
            let message = format!("{} answered {shown}, which cannot be read", self.shown);
            StoreError::new(StoreErrorKind::Corrupt, Certainty::Unknown, message)
        })
    }

    /// The names at this node that begin with `prefix`. A name may come twice, or be gone by now.
    pub(super) async fn names(&self, prefix: &str) -> Result<Vec<Name>, StoreError> {
        let (server, pattern) = (Scanned::One(&self.connection), self.keys.pattern(prefix));
        let (mut names, mut cursor) = (Vec::new(), Some(0));
        while let Some(at) = cursor {
            let (next, keys) = server.page(&pattern, at).await?;
            names.extend(keys.iter().filter_map(|key| self.keys.name_of(key)));
            cursor = next;
        }
        Ok(names)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_head_are_in_their_places() {
        assert!(PIECES.contains("FIELDS_OF_HEAD"));
        for word in ["OF_HEAD", "HEAD_WITH", "UNTOUCHED_HEAD", "HEAD_AS_PACKED"] {
            assert!(!SOURCE.contains(word), "{word}");
        }
    }
}
