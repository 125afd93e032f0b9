//! The times in which the store did not answer, as far as readings show.

use std::{
    collections::VecDeque,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use seinpaal_words::{calendar::instant, text::age};

/// How many outages are kept.
const MOST: usize = 20;

#[derive(Clone, Debug, Default)]
pub(super) struct Outages {
    /// The beginning of the outage that goes on.
    since: Option<Duration>,
    past: VecDeque<StoreOutage>,
}

#[derive(Clone, Copy, Debug)]
struct StoreOutage {
    begin: Duration,
    end: Duration,
    ended_at: SystemTime,
}

impl Outages {
    pub(super) fn silent(&mut self, begin: Duration) {
        self.since.get_or_insert(begin);
    }

    pub(super) fn answered(&mut self, now: Duration) {
        let Some(begin) = self.since.take() else { return };
        self.past.push_front(StoreOutage { begin, end: now, ended_at: SystemTime::now() });
        self.past.truncate(MOST);
    }

    /// Returns the outages that ended after a moment.
    pub(super) fn after(&self, moment: Duration) -> impl Iterator<Item = (Duration, Duration)> {
        let outages = self.past.iter().map(|outage| (outage.begin, outage.end));
        outages.take_while(move |(_, end)| *end > moment)
    }

    /// Returns the sentences about the outages that ended after a moment, the newest first.
    pub(super) fn words(&self, moment: Duration) -> Vec<String> {
        self.past.iter().take_while(|outage| outage.end > moment).map(StoreOutage::words).collect()
    }
}

impl StoreOutage {
    fn words(&self) -> String {
        let since_1970 = self.ended_at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let lasted = age(self.end.saturating_sub(self.begin));
        format!("The store did not answer for {lasted}, until {}.", instant(since_1970.as_secs()))
    }
}
