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
    misconfigured,
    replicas::REPLICATION_TIMEOUT,
    script::{hash_of, ledger},
    servers::PAGE_ROOM,
};
use seinpaal_store::{Certainty, NewsSender, StoreError, StoreErrorKind, url::RedisUrl};

/// The pieces of the node script: the ledger's, but for the order of service, and what is a node's
/// own.
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

/// An answer tells of all tickets of a name, besides what was asked.
const NODE_ROOM: usize = 32 << 20;

/// One server of the quorum.
pub(super) struct QuorumNode {
    pub(super) connection: Connection,
    pub(super) shown: String,
    keys: Keys,
    /// The hash of the node script.
    hash: String,
    /// Whether the node let its last caller wait in vain. Nobody waits for such a node until it
    /// answers again.
    is_silent: AtomicBool,
}

/// The parts of a call besides its lines.
#[derive(Clone, Debug)]
pub(super) struct Envelope {
    pub(super) name: Name,
    pub(super) inbox: Option<Inbox>,
    pub(super) fence_seen: u64,
    pub(super) now: Option<Micros>,
    /// The guard and how it is begun: the arguments of `guard`.
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

    /// Executes lines, whole or not at all.
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
        // An answer, even one that cannot be read, shows that the node is worth waiting for.
        self.is_silent.store(false, Ordering::Relaxed);
        NodeAnswer::read(&value, lines.len()).ok_or_else(|| {
            let shown: String = format!("{value:?}").chars().take(200).collect();
            let message = format!("{} answered {shown}, which cannot be read", self.shown);
            StoreError::new(StoreErrorKind::Corrupt, Certainty::Unknown, message)
        })
    }

    /// `SCAN` may name a key twice, or one that is gone.
    pub(super) async fn names(&self, prefix: &str) -> Result<Vec<Name>, StoreError> {
        let (mut names, mut cursor) = (Vec::new(), 0);
        loop {
            let mut scan = redis::cmd("SCAN");
            scan.arg(cursor).arg("MATCH").arg(self.keys.pattern(prefix)).arg("COUNT").arg(1000);
            let page = self.connection.command(&scan, PAGE_ROOM).await?;
            let (next, keys): (u64, Vec<Vec<u8>>) = redis::from_redis_value(page)
                .map_err(|_| misconfigured("SCAN answered something else: is there a proxy?"))?;
            let keys = keys.into_iter().filter_map(|key| String::from_utf8(key).ok());
            names.extend(keys.filter_map(|key| self.keys.name_of(&key)));
            cursor = next;
            // `SCAN` is done when the cursor is 0 again.
            if cursor == 0 {
                return Ok(names);
            }
        }
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
    // Last, so that each answer also tells how the name stands after all that was asked.
    arguments.push("state ".to_owned());
    arguments
}

/// The highest fence seen that the ledger takes. Lua's numbers are exact up to 2^53.
const MOST_FENCE_SEEN: u64 = 1 << 52;

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
