//! The data of pages.

use std::time::Duration;

use seinpaal::Seinpaal;

use crate::{
    glances::Glances, history::NameHistories, lists::Lists, options::Options, tally::ServeTally,
};

/// How long a store may be silent without an outage.
const NOTICE: Duration = Duration::from_secs(2);

/// The store, the readings of it, and the options of the pages.
pub(crate) struct StoreSource {
    pub(crate) seinpaal: Seinpaal,
    pub(crate) options: Options,
    pub(crate) lists: Lists,
    pub(crate) history: NameHistories,
    pub(crate) glances: Glances,
    pub(crate) tally: ServeTally,
}

impl StoreSource {
    pub(crate) fn new(seinpaal: Seinpaal, options: Options) -> Self {
        let lists = Lists::new(seinpaal.clone());
        let tally = ServeTally::new(&options.metrics_of);
        let history = NameHistories::new(tally.clone());
        Self { seinpaal, options, lists, history, glances: Glances::default(), tally }
    }

    /// Notes an outage if a reading has failed, and the store really is silent.
    pub(crate) fn note_silence(&self, has_failed: bool) {
        let outage = self.seinpaal.outage().filter(|_| has_failed);
        if let Some(outage) = outage.filter(|outage| outage.lasted >= NOTICE) {
            self.history.silent(outage.lasted);
        }
    }
}
