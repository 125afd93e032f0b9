//! Facts and advice about the nodes, for people, and the contradictions that the ledgers of each
//! node have.

use seinpaal_proto::Name;
use seinpaal_store::{
    Advice, Examination, Fact, StoreError,
    examination::{found_in, look_at},
};

use super::{Quorum, answer::NodeReply, line::line, matter::CallHeader, node::QuorumNode};
use seinpaal_redis::node::{NOTHING_KEPT, together};

impl Quorum {
    /// Advice about each node that answers, and about the nodes that do not.
    pub(super) fn advice(&self) -> Vec<Advice> {
        let of_nodes = self.nodes.iter().flat_map(|node| node.server.advice());
        // The quorum's own guard takes care of what nodes may forget.
        let is_met = |advice: &Advice| self.guard > 0 && advice.text.contains(NOTHING_KEPT);
        let mut advice: Vec<_> = of_nodes.filter(|advice| !is_met(advice)).collect();
        let silent = self.nodes.iter().filter(|node| !node.server.is_up());
        let silent: Vec<_> = silent.map(|node| node.shown().to_owned()).collect();
        if !silent.is_empty() {
            advice.push(Advice::risk(format!(
                "no answer from {}; the quorum survives the loss of {} of its {} nodes: check that all run and can be reached",
                silent.join(", "),
                self.nodes.len() - self.majority(),
                self.nodes.len(),
            )));
        }
        advice
    }

    /// Facts about the nodes. Each value stands there once.
    pub(super) fn facts(&self) -> Vec<Fact> {
        let up = self.nodes.iter().filter(|node| node.server.is_up()).count();
        let answering = Fact::new("nodes", format!("{up} of {} answer", self.nodes.len()));
        let of_nodes = self.nodes.iter().flat_map(|node| node.server.facts());
        together([answering].into_iter().chain(of_nodes))
    }

    /// Looks at the ledgers of each node that answers, since every node decides by its own.
    pub(super) async fn examine_ledgers(&self, most: usize) -> Result<Examination, StoreError> {
        let mut examination = Examination::default();
        for node in self.nodes.iter().filter(|node| node.server.is_up()) {
            for name in node.server.names("").await? {
                if examination.is_full(most) {
                    return Ok(examination);
                }
                let looked = self.found_at(node, &name).await;
                examination.take(&name, Some(node.shown()), looked)?;
            }
        }
        Ok(examination)
    }

    async fn found_at(&self, node: &QuorumNode, name: &Name) -> Result<Vec<String>, StoreError> {
        let header = CallHeader { name, inbox: None, fence_seen: 0 };
        let lines: Vec<_> = look_at(name).requests.iter().map(line).collect();
        let answer = node.ask(&self.envelope(&header), &lines).await?;
        let found = answer.replies.iter().flat_map(|reply| match reply {
            NodeReply::Plain(reply) => found_in(reply),
            _ => Vec::new(),
        });
        Ok(found.collect())
    }
}
