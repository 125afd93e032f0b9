//! The state that all handlers share.

use std::{ops::Deref, sync::Arc};

use tokio::sync::Semaphore;

use crate::{
    act::asked::AskedItems, audit::Audit, deliveries::Deliveries, replay::ReplayedAnswers,
    source::StoreSource, under_way::ChangesUnderWay, watch::PageWatches,
};

/// The state that all handlers share.
pub(crate) struct HandlerState {
    pub(crate) source: Arc<StoreSource>,
    pub(crate) watches: PageWatches,
    pub(crate) audit: Audit,
    pub(crate) changes: ChangesUnderWay,
    /// The places for streams, and for requests of programs that wait or hold.
    pub(crate) streams: Arc<Semaphore>,
    /// The kept answers, for clients that may repeat a request.
    pub(crate) answers: ReplayedAnswers,
    /// The items that the questions of pages are about.
    pub(crate) asked: AskedItems,
    /// The items that this program holds for others.
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
