//! Looks at other clients of a line. A client that is among the first in line looks whether the
//! holders are alive: soon after it has come there, when a connection to one of them hangs up, and
//! once a second. Clients further back look once a second whether the first ones are alive.

use std::{collections::BTreeSet, mem};

use seinpaal_proto::Inbox;

use super::{Duration, Instant, StoreThread};
use crate::{line::LineOf, pages::ClientPage, watch::LineInView, wire};

/// How often a waiting client looks whether the holders are alive, even if it is told nothing.
const LOOK: Duration = Duration::from_secs(1);
/// The time in which a client that has become the first in line begins to watch the holders. Often
/// it is served within that time.
const CALM: Duration = Duration::from_millis(2);

/// The lines that must be looked at, and when.
#[derive(Debug)]
pub(super) struct DueLooks {
    /// Sites to look at once `soon_at` has come.
    soon: Vec<LineOf>,
    pub(super) soon_at: Option<Instant>,
    /// When to look at all lines where this client waits.
    pub(super) all_at: Option<Instant>,
    /// The time until the next look if some holder could not be watched.
    retry: Duration,
    /// The queues that are looked at once a second, because some client works there, or other
    /// workers are ahead of this one.
    busy: BTreeSet<LineOf>,
    only_when_told: bool,
}

impl Default for DueLooks {
    fn default() -> Self {
        Self {
            soon: Vec::new(),
            soon_at: None,
            all_at: None,
            retry: CALM,
            busy: BTreeSet::new(),
            only_when_told: false,
        }
    }
}

impl DueLooks {
    fn at_next_look(&self, now: Instant) -> Instant {
        if self.only_when_told { now + 3_600 * LOOK } else { now + LOOK }
    }
}

impl StoreThread {
    /// For tests: this client does not look once a second.
    pub(in super::super) fn look_only_when_told(&mut self, only_when_told: bool) {
        self.looks.only_when_told = only_when_told;
    }

    pub(super) fn look_soon(&mut self, line_of: LineOf) {
        if !self.looks.soon.contains(&line_of) {
            self.looks.soon.push(line_of);
        }
        self.looks.soon_at.get_or_insert_with(|| Instant::now() + CALM);
        let next_look = self.looks.at_next_look(Instant::now());
        self.looks.all_at.get_or_insert(next_look);
    }

    /// Looks at the lines that are due.
    pub(super) fn look_if_due(&mut self) {
        let now = Instant::now();
        let mut lines = Vec::new();
        if self.looks.soon_at.is_some_and(|at| at <= now) {
            self.looks.soon_at = None;
            lines = mem::take(&mut self.looks.soon);
        }
        let looks_at_all = self.looks.all_at.is_some_and(|at| at <= now);
        if looks_at_all {
            self.looks.all_at = None;
            // The lines that were due soon are among these, as far as this client still waits
            // there.
            lines = self.line.lines();
            self.let_go();
        }
        lines.iter().for_each(|line_of| self.look_at_holders(line_of));
        if looks_at_all && self.has_somebody_to_watch() {
            self.looks.all_at = Some(self.looks.at_next_look(now));
        }
    }

    /// Drops the connections of lines that this client has left, since other lines may need them.
    fn let_go(&mut self) {
        self.watches.retain(|line_of| self.line.has(line_of));
        self.looks.busy.retain(|line_of| self.line.has(line_of));
    }

    /// Returns whether there is a client to watch. The first idle worker looks again only while
    /// another client works: it is told when one begins.
    fn has_somebody_to_watch(&self) -> bool {
        self.line.waits_for_permits() || !self.looks.busy.is_empty()
    }

    /// Watches the holders at a line_of if this client is among the first in line. Buries the dead
    /// among them and among the first in line.
    fn look_at_holders(&mut self, line_of: &LineOf) {
        let in_view = match self.parts.read(|db| self.watches.look(db, line_of, self.parts.me)) {
            Ok(in_view) => self.as_seen_by_me(line_of, in_view),
            Err(error) => {
                return tracing::debug!(target: crate::TARGET, %error, "the holders could not be looked at");
            }
        };
        // The connection is made before the test, so that it tells of a death between the two.
        let missed = self.watches.set(line_of, &in_view.holders, &self.parts.presences);
        let is_dead = |inbox: &Inbox| self.parts.presences.is_dead(*inbox);
        let (dead, alive): (Vec<_>, Vec<_>) =
            in_view.holders.clients.into_iter().partition(is_dead);
        let dead_ahead: Vec<_> = in_view.first.into_iter().filter(is_dead).collect();
        self.try_again(line_of, alive.iter().filter(|inbox| missed.contains(inbox)));
        self.bury(&dead);
        // Other clients are the first in line now, perhaps this one.
        if !dead_ahead.is_empty() && self.bury(&dead_ahead) {
            self.look_soon(line_of.clone());
        }
    }

    /// Reduces a view of a line to the part that concerns this client: all of it if it is among the
    /// first in line, only the first ones if it is further back, and nothing if it is not in line.
    fn as_seen_by_me(&mut self, line_of: &LineOf, mut in_view: LineInView) -> LineInView {
        let me = self.parts.me;
        let is_among_first = in_view.first.contains(&me);
        let is_first = in_view.first.first() == Some(&me);
        if !is_among_first {
            in_view.holders = ClientPage::of_nobody();
        }
        in_view.holders.clients.retain(|inbox| *inbox != me);
        match self.line.has(line_of) {
            true => in_view.first.retain(|inbox| *inbox != me),
            false => in_view.first.clear(),
        }
        let is_busy = !in_view.holders.clients.is_empty() || !is_first;
        if matches!(line_of, LineOf::Items(_)) && is_busy && self.line.has(line_of) {
            self.looks.busy.insert(line_of.clone());
        } else {
            self.looks.busy.remove(line_of);
        }
        in_view
    }

    /// Plans a look soon, because some living client cannot be watched. Either there is no room for
    /// more watchers, or it is about to end, or another process lives on in its place.
    fn try_again<'a>(&mut self, line_of: &LineOf, missed: impl Iterator<Item = &'a Inbox>) {
        let accept = wire::encode_accept();
        if missed.map(|inbox| self.parts.socket.send(*inbox, &accept)).count() == 0 {
            self.looks.retry = CALM;
            return;
        }
        self.looks.soon.push(line_of.clone());
        self.looks.soon_at.get_or_insert_with(|| Instant::now() + self.looks.retry);
        self.looks.retry = LOOK.min(2 * self.looks.retry);
    }

    /// Handles hang-ups. A hang-up is no proof of death, because a child of that process may live
    /// on.
    pub(super) fn see_to_hung_up(&mut self, hung_up: &[Inbox]) {
        let lines = self.watches.take_hung_up(hung_up);
        self.bury(hung_up);
        lines.into_iter().for_each(|line_of| self.look_soon(line_of));
    }
}
