//! The clients that a turn concerns.

use std::collections::BTreeMap;

use seinpaal_proto::{Inbox, Name, Wakeup, queue};

use crate::line::LineOf;

/// The news that the turn has for each client once it is over.
#[derive(Debug, Default)]
pub(crate) struct Tell {
    pub(crate) wakeups: Vec<Wakeup>,
    pub(crate) queue_wakeups: Vec<queue::Wakeup>,
    /// Clients that are now first in line, where somebody new holds or works.
    pub(crate) watch: Vec<(Inbox, LineOf)>,
}

impl Tell {
    /// The wakeups of others, grouped, so that one datagram says all to one of them.
    pub(crate) fn by_inbox(&self, me: Inbox) -> Vec<(Inbox, &Name, Vec<&Wakeup>)> {
        let wakeups = self.wakeups.iter().filter(|wakeup| wakeup.inbox != me);
        group(wakeups.map(|wakeup| ((wakeup.inbox, &wakeup.name), wakeup)))
    }

    /// As above, for wakeups about queues.
    pub(crate) fn queues_by_inbox(&self, me: Inbox) -> Vec<(Inbox, &Name, Vec<&queue::Wakeup>)> {
        let wakeups = self.queue_wakeups.iter().filter(|wakeup| wakeup.inbox != me);
        group(wakeups.map(|wakeup| ((wakeup.inbox, &wakeup.name), wakeup)))
    }
}

fn group<'a, W>(
    wakeups: impl Iterator<Item = ((Inbox, &'a Name), &'a W)>,
) -> Vec<(Inbox, &'a Name, Vec<&'a W>)> {
    let mut groups: BTreeMap<(Inbox, &Name), Vec<&W>> = BTreeMap::new();
    for (key, wakeup) in wakeups {
        groups.entry(key).or_default().push(wakeup);
    }
    groups.into_iter().map(|((inbox, name), wakeups)| (inbox, name, wakeups)).collect()
}
