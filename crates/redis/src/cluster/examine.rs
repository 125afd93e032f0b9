//! Looks at every master, since each has settings, a disk and a clock of its own.

use seinpaal_store::{Advice, Fact, StoreError};

use super::{Cluster, ClusterLinks};
use crate::server::{LookedAt, ServerFindings, ServerKind, together};

impl Cluster {
    /// Looks at each master. From then on, advice and facts are about all of them, and no longer
    /// about the node that was asked first.
    pub(crate) async fn look_at_masters(&self) -> Result<(), StoreError> {
        let mut looks = Vec::new();
        for master in self.masters().await? {
            let shown = master.0.shown();
            let (kind, options) = (ServerKind::Cluster, &self.shared.url.options);
            let (keys, inbox) = (&self.shared.keys, self.shared.inbox);
            let subject = LookedAt::new(&shown, kind, keys, inbox, options);
            looks.push(master.0.look(&subject).await?);
        }
        *self.shared.looks_at_masters() = looks;
        Ok(())
    }
}

impl ClusterLinks {
    /// Advice about the masters, as far as they were looked at.
    pub(super) fn advice_about_nodes(&self) -> Vec<Advice> {
        let masters = self.looks_at_masters();
        let looks = masters.iter().chain(self.first_look.get().filter(|_| masters.is_empty()));
        looks.flat_map(|look| look.advice.clone()).collect()
    }

    /// Facts about the masters, or about the node that was asked first. Each value stands there
    /// once.
    pub(super) fn facts_about_nodes(&self) -> Vec<Fact> {
        let masters = self.looks_at_masters();
        let looks = masters.iter().chain(self.first_look.get().filter(|_| masters.is_empty()));
        let count = (!masters.is_empty()).then(|| Fact::new("masters", masters.len().to_string()));
        let of_nodes = looks.flat_map(|look| look.facts.clone());
        together(count.into_iter().chain(of_nodes))
    }

    fn looks_at_masters(&self) -> std::sync::MutexGuard<'_, Vec<ServerFindings>> {
        // The looks are replaced in one go, so they are sound even if the lock is poisoned.
        self.master_looks.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
