//! What pages are made of.

use seinpaal::Seinpaal;

use crate::{lists::Lists, options::Options};

/// The store, and how it is to be shown.
pub(crate) struct Source {
    pub(crate) seinpaal: Seinpaal,
    pub(crate) options: Options,
    pub(crate) lists: Lists,
}

impl Source {
    pub(crate) fn new(seinpaal: Seinpaal, options: Options) -> Self {
        Self { lists: Lists::new(seinpaal.clone()), seinpaal, options }
    }
}
