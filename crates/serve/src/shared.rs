//! What all handlers share.

use std::{ops::Deref, sync::Arc};

use tokio::sync::Semaphore;

use crate::{
    audit::Audit, deliveries::Deliveries, replay::Answers, source::Source, watch::Watches,
};

/// What all handlers share.
pub(crate) struct Inner {
    pub(crate) source: Arc<Source>,
    pub(crate) watches: Watches,
    pub(crate) audit: Audit,
    pub(crate) streams: Arc<Semaphore>,
    /// Answers that are kept for clients that may repeat their request.
    pub(crate) answers: Answers,
    /// Items that are held for programs.
    pub(crate) deliveries: Deliveries,
    /// The secret in every form of this program, which no foreign page knows.
    pub(crate) csrf: String,
}

impl Deref for Inner {
    type Target = Source;

    fn deref(&self) -> &Source {
        &self.source
    }
}
