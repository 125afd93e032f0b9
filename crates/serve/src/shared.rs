//! What all handlers share.

use std::{ops::Deref, sync::Arc};

use tokio::sync::Semaphore;

use crate::{
    act::asked::AskedItems, audit::Audit, deliveries::Deliveries, replay::ReplayedAnswers,
    source::StoreSource, under_way::ChangesUnderWay, watch::PageWatches,
};

/// What all handlers share.
pub(crate) struct HandlerState {
    pub(crate) source: Arc<StoreSource>,
    pub(crate) watches: PageWatches,
    pub(crate) audit: Audit,
    pub(crate) changes: ChangesUnderWay,
    /// The places for streams, and for requests of programs that wait or hold.
    pub(crate) streams: Arc<Semaphore>,
    /// Answers that are kept for clients that may repeat their request.
    pub(crate) answers: ReplayedAnswers,
    /// The items that questions of pages are about.
    pub(crate) asked: AskedItems,
    /// Items that are held for programs.
    pub(crate) deliveries: Deliveries,
    /// The secret in every form of this program, which no foreign page knows.
    pub(crate) csrf: String,
}

impl Deref for HandlerState {
    type Target = StoreSource;

    fn deref(&self) -> &StoreSource {
        &self.source
    }
}
