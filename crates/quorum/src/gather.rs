//! One call to all nodes at the same time, and the wait for their answers.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::mpsc,
    time::{Instant, timeout_at},
};

use super::{
    answer::NodeAnswer,
    misconfigured,
    node::{Envelope, QuorumNode},
};
use seinpaal_store::{Certainty, StoreError, StoreErrorKind};

/// How long a majority may take to answer, which is much shorter than a ttl.
const MAJORITY_TIMEOUT: Duration = Duration::from_millis(1000);
/// How long the others may take, once a majority has answered.
const GRACE: Duration = Duration::from_millis(200);

/// A call to all nodes, with their answers so far.
pub(super) struct Gathering {
    nodes: Vec<Arc<QuorumNode>>,
    slots: Vec<NodeTurn>,
    inbound: mpsc::UnboundedReceiver<(usize, Result<NodeAnswer, StoreError>)>,
    began: Instant,
}

enum NodeTurn {
    /// Nothing was sent: there is no connection.
    Unsent,
    Waiting,
    Answered(NodeAnswer),
    Failed(StoreError),
    /// The node has answered, and is the same server as a node that answered before it. One server
    /// has one vote.
    Twin(StoreError),
}

impl Gathering {
    /// Sends these lines to every node that is connected, or to all nodes if the connected ones are
    /// no majority.
    pub(super) fn send(nodes: &[Arc<QuorumNode>], envelope: &Envelope, lines: &[String]) -> Self {
        let up: Vec<bool> = nodes.iter().map(|node| node.server.is_up()).collect();
        let has_majority = up.iter().filter(|is_up| **is_up).count() > nodes.len() / 2;
        let (sender, inbound) = mpsc::unbounded_channel();
        let slots = nodes.iter().zip(up).enumerate().map(|(index, (node, is_up))| {
            // Opening a link may take longer than the call. Without a majority the call has nothing
            // to lose by trying.
            if has_majority && !is_up {
                return NodeTurn::Unsent;
            }
            let (node, envelope, lines) = (Arc::clone(node), envelope.clone(), lines.to_vec());
            let sender = sender.clone();
            // Each node has a task, which may outlive this call, so that a slow node gets its
            // request in any case.
            tokio::spawn(async move {
                let answer = node.ask(&envelope, &lines).await;
                let _ = sender.send((index, answer));
            });
            NodeTurn::Waiting
        });
        let slots = slots.collect();
        Self { nodes: nodes.to_vec(), slots, inbound, began: Instant::now() }
    }

    /// Waits until the answers are enough, or for a majority and then a little for the other nodes.
    pub(super) async fn wait(&mut self, is_enough: impl Fn(&Self) -> bool, limit: Duration) {
        let majority_timeout = MAJORITY_TIMEOUT.min(limit);
        let mut until = self.began + majority_timeout;
        let mut has_majority = false;
        while self.is_worth_waiting() && !is_enough(self) {
            if !has_majority && self.answered() > self.nodes.len() / 2 {
                has_majority = true;
                // The grace counts from the answer that made the majority. It is for nodes that are
                // a little slower.
                until = Instant::now() + GRACE.min(majority_timeout);
            }
            match timeout_at(until, self.inbound.recv()).await {
                Ok(Some((index, Ok(answer)))) => self.take(index, answer),
                Ok(Some((index, Err(error)))) => self.slots[index] = NodeTurn::Failed(error),
                Ok(None) | Err(_) => {
                    self.note_silence();
                    return;
                }
            }
        }
    }

    /// Takes an answer, unless another node has answered with the same run of a server. A host name
    /// may lead to another server with every connection, so each call checks this.
    fn take(&mut self, index: usize, answer: NodeAnswer) {
        let run = &answer.guard.run;
        // A server that hides its run is not known to be another's twin.
        let is_twin = run != "-" && self.answers().flatten().any(|other| other.guard.run == *run);
        self.slots[index] = if is_twin {
            NodeTurn::Twin(misconfigured(&format!(
                "{} is the same server as another node: every node is a server of its own",
                self.nodes[index].shown()
            )))
        } else {
            NodeTurn::Answered(answer)
        };
    }

    /// Fails if two nodes are the same server.
    pub(super) fn refuse_twins(&self) -> Result<(), StoreError> {
        let twin = self.slots.iter().find_map(|slot| match slot {
            NodeTurn::Twin(error) => Some(error.clone()),
            _ => None,
        });
        twin.map_or(Ok(()), Err)
    }

    /// Returns whether an answer is still worth waiting for. It is if a node has not answered and
    /// either is not known to be slow or is needed for a majority.
    fn is_worth_waiting(&self) -> bool {
        let has_majority = self.answered() > self.nodes.len() / 2;
        self.nodes.iter().zip(&self.slots).any(|(node, slot)| {
            matches!(slot, NodeTurn::Waiting) && !(has_majority && node.is_silent())
        })
    }

    fn note_silence(&self) {
        for (node, slot) in self.nodes.iter().zip(&self.slots) {
            if matches!(slot, NodeTurn::Waiting) {
                node.was_silent();
            }
        }
    }

    fn answered(&self) -> usize {
        self.answers().flatten().count()
    }

    /// The answers of the nodes so far.
    pub(super) fn answers(&self) -> impl Iterator<Item = Option<&NodeAnswer>> + Clone {
        self.slots.iter().map(|slot| match slot {
            NodeTurn::Answered(answer) => Some(answer),
            _ => None,
        })
    }

    /// Returns whether this node was sent the lines.
    pub(super) fn was_sent(&self, index: usize) -> bool {
        !matches!(self.slots[index], NodeTurn::Unsent)
    }

    /// Fails if fewer nodes than a majority have answered.
    pub(super) fn majority(&self) -> Result<(), StoreError> {
        if self.answered() > self.nodes.len() / 2 { Ok(()) } else { Err(self.error()) }
    }

    /// The error if there is no majority. The call is certainly not executed only if that is
    /// certain of every node.
    fn error(&self) -> StoreError {
        let errors = || {
            self.slots.iter().filter_map(|slot| match slot {
                NodeTurn::Failed(error) | NodeTurn::Twin(error) => Some(error),
                _ => None,
            })
        };
        let is_certain = |slot: &NodeTurn| match slot {
            NodeTurn::Unsent => true,
            NodeTurn::Failed(error) => error.certainty() == Certainty::NotExecuted,
            // A node that answered has executed the call, and a silent node may have.
            NodeTurn::Waiting | NodeTurn::Answered(_) | NodeTurn::Twin(_) => false,
        };
        let is_certain = self.slots.iter().all(is_certain);
        let certainty = if is_certain { Certainty::NotExecuted } else { Certainty::Unknown };
        let worst = errors().find(|error| !error.is_passing()).or_else(|| errors().next());
        let kind = worst.map_or(StoreErrorKind::Unreachable, StoreError::kind);
        let why = worst.map_or_else(|| "the others do not answer".to_owned(), ToString::to_string);
        let (up, all) = (self.answered(), self.nodes.len());
        let message = format!("only {up} of {all} nodes of the quorum answer: {why}");
        StoreError::new(kind, certainty, message)
    }
}
