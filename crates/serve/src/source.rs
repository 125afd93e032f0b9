//! What pages are made of.

use seinpaal::Seinpaal;

use crate::{history::History, lists::Lists, options::Options};

/// The store, and how it is to be shown.
pub(crate) struct Source {
    pub(crate) seinpaal: Seinpaal,
    pub(crate) options: Options,
    pub(crate) lists: Lists,
    pub(crate) history: History,
}

impl Source {
    pub(crate) fn new(seinpaal: Seinpaal, options: Options) -> Self {
        let lists = Lists::new(seinpaal.clone());
        Self { seinpaal, options, lists, history: History::new() }
    }
}
