//! The data of pages.

use seinpaal::Seinpaal;

use crate::{
    glances::Glances, history::NameHistories, lists::Lists, options::Options, tally::ServeTally,
};

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
}
