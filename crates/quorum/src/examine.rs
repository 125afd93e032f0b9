//! Facts and advice about the nodes, for people, and the contradictions that the ledgers of each
//! node have.

use futures_util::future::join_all;
use seinpaal_proto::Name;
use seinpaal_store::{
    Advice, Diagnosis, Examination, Fact, StoreError,
    examination::{found_in, look_at},
};

use super::{Quorum, answer::NodeReply, line::line, matter::CallHeader, node::QuorumNode};
use seinpaal_redis::node::{KEPT_ON_DISK, together};

impl Quorum {
    /// Asks each node about itself, and tells which do not answer. Each fact stands there once.
    pub(super) async fn diagnose(&self) -> Diagnosis {
        let (up, down): (Vec<_>, Vec<_>) = self.nodes.iter().partition(|node| node.server.is_up());
        let answering = format!("{} of {} answer", up.len(), self.nodes.len());
        let (mut facts, mut advice) = (vec![Fact::new("nodes", answering)], Vec::new());
        for diagnosis in join_all(up.iter().map(|node| node.server.diagnose())).await {
            match diagnosis {
                Ok(of_node) => {
                    facts.extend(of_node.facts);
                    advice.extend(of_node.advice);
                }
                Err(error) => advice.push(Advice::risk(error.to_string())),
            }
        }
        // The quorum's own guard takes care of what nodes may forget.
        advice.retain(|advice| self.guard == 0 || !advice.text.contains(KEPT_ON_DISK));
        let silent: Vec<_> = down.into_iter().map(|node| node.shown().to_owned()).collect();
        if !silent.is_empty() {
            advice.push(Advice::risk(format!(
                "no answer from {}; the quorum survives the loss of {} of its {} nodes: check that all run and can be reached",
                silent.join(", "),
                self.nodes.len() - self.majority(),
                self.nodes.len(),
            )));
        }
        Diagnosis { facts: together(facts), advice, ..Diagnosis::default() }
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
