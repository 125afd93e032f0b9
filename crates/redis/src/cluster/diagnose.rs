//! Asks every master about itself, since each has settings, a disk and a clock of its own.

use futures_util::future::join_all;
use seinpaal_store::{Advice, Diagnosis, Fact, StoreError, StoreErrorKind};

use super::{Cluster, ClusterLinks, node::ClusterNode};
use crate::{
    diagnose::{Subject, diagnose, together, with_the_right_named},
    greeting::ServerKind,
};

impl Cluster {
    pub(crate) async fn diagnose(&self) -> Result<Diagnosis, StoreError> {
        let masters = self.masters().await?;
        let asked = masters.iter().map(|master| self.shared.diagnose(&master.0));
        let (mut facts, mut advice) =
            (vec![Fact::new("masters", masters.len().to_string())], Vec::new());
        for diagnosis in join_all(asked).await {
            let diagnosis = diagnosis?;
            facts.extend(diagnosis.facts);
            advice.extend(diagnosis.advice);
        }
        advice.extend(self.about_replicas());
        Ok(Diagnosis { facts: together(facts), advice, ..Diagnosis::default() })
    }

    fn about_replicas(&self) -> Option<Advice> {
        let Some(wanted) = self.shared.url.options.replicated else {
            let line = "grants may be lost in a fail-over, and be given twice: replicated=N, with N as \
                        many as each master has replicas, prevents that";
            return Some(Advice::risk(line));
        };
        let most = self.shared.map().most_replicas();
        let line = format!(
            "no master has more than {most} replicas, and replicated={wanted}: nothing is granted"
        );
        (most < wanted).then(|| Advice::risk(line))
    }
}

impl ClusterLinks {
    async fn diagnose(&self, node: &ClusterNode) -> Result<Diagnosis, StoreError> {
        let mut link = node.command_link().await?;
        let diagnosis = diagnose(&mut link.connection, &self.subject(node)).await;
        diagnosis.map_err(|failure| failure.at(&node.url().to_string()))
    }

    /// Names the right that a user lacks, if the error is about a right.
    pub(super) async fn with_the_right_named(
        &self,
        hash_slot: u16,
        error: StoreError,
    ) -> StoreError {
        let owner = self.map().owner(hash_slot).cloned();
        let owner = owner.filter(|_| error.kind() == StoreErrorKind::Forbidden);
        let Some(node) = owner.map(|owner| self.node(&owner)) else { return error };
        let Ok(mut link) = node.command_link().await else { return error };
        with_the_right_named(error, &mut link.connection, &self.subject(&node)).await
    }

    fn subject<'a>(&'a self, node: &'a ClusterNode) -> Subject<'a> {
        let (kind, keys, inbox) = (ServerKind::Cluster, &self.keys, self.inbox);
        Subject { url: node.url(), kind, may_move: false, keys, inbox }
    }
}
