//! The settings of a layer, and how its requests get their permits.

use std::time::Duration;

use seinpaal::{AcquireError, Permit, Seinpaal};

use crate::{Demand, Refusal};

#[derive(Clone, Debug)]
pub(crate) struct LayerSettings {
    pub(crate) seinpaal: Seinpaal,
    pub(crate) wait: Duration,
    pub(crate) max_waiting: Option<u32>,
    pub(crate) retry_after: Duration,
    pub(crate) lets_through: bool,
}

impl LayerSettings {
    /// Acquires a permit, or returns `None` for a request that may pass without one.
    pub(crate) async fn enter(&self, demand: Demand) -> Result<Option<Permit>, Refusal> {
        match self.acquire(&demand).await {
            Ok(permit) => Ok(Some(permit)),
            Err(error) if error.is_unavailable() && self.lets_through => Ok(None),
            Err(error) => {
                let (name, retry_after) = (demand.name, self.retry_after);
                Err(Refusal::Acquire { name, error, retry_after })
            }
        }
    }

    async fn acquire(&self, demand: &Demand) -> Result<Permit, AcquireError> {
        let mut semaphore = self.seinpaal.semaphore(&demand.name);
        if let Some(limit) = demand.limit {
            semaphore = semaphore.limit(limit).on_mismatch(demand.on_mismatch);
        }
        let request = semaphore.acquire().permits(demand.permits).priority(demand.priority);
        let request = request.timeout(self.wait);
        match self.max_waiting {
            Some(waiting) => request.max_waiting(waiting).await,
            None => request.await,
        }
    }
}
