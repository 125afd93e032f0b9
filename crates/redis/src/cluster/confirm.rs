//! Asks whether replicas have what was written.

use std::sync::{Arc, atomic::Ordering};

use super::{
    Cluster,
    node::{ClusterNode, NodeLink},
};
use crate::replicas;
use seinpaal_store::StoreError;

/// The connection that executed a script. Only there does `WAIT` count the writes of that script.
pub(in super::super) struct ExecutedOnNode(pub(super) Option<(Arc<ClusterNode>, NodeLink)>);

impl Cluster {
    /// Makes sure that as many replicas as the URL asks for have everything that a node has written
    /// until now. If too few replicas have it, this is an error.
    pub(in super::super) async fn confirm(&self, proof: ExecutedOnNode) -> Result<(), StoreError> {
        let Some(wanted) = self.shared.url.options.replicated else { return Ok(()) };
        let count = self.replicas_of(proof).await?;
        if count >= wanted {
            self.shared.had_replicas.store(true, Ordering::Relaxed);
            return Ok(());
        }
        // Where there are or were enough replicas, too few now are an outage, which may pass.
        // Otherwise the URL asks for more replicas than there are.
        let has_known_some = self.shared.map().most_replicas() >= wanted;
        let had_enough = has_known_some || self.shared.had_replicas.load(Ordering::Relaxed);
        Err(replicas::too_few(count, wanted, had_enough))
    }

    /// Returns how many replicas have everything that a node has written until now. Waits a while
    /// for as many as the URL asks for.
    pub(in super::super) async fn replicas_of(
        &self,
        proof: ExecutedOnNode,
    ) -> Result<u32, StoreError> {
        match (self.shared.url.options.replicated, proof.0) {
            (Some(wanted), Some((node, link))) => {
                let confirmed = node.replicas_of(link, wanted).await;
                confirmed.inspect_err(|_| self.shared.is_doubtful.store(true, Ordering::Relaxed))
            }
            _ => Ok(0),
        }
    }
}
