//! What is shown, and where the cursor is: changed by keys and by answers, without any I/O.

use std::{
    cmp::Reverse,
    time::{Duration, Instant},
};

use seinpaal::{Name, Snapshot, Ticket};

use super::{keys::Key, watch::Seen};
use crate::args::SortBy;

/// Longer than the interval, by so much, before silence is worth a word.
const SILENCE: Duration = Duration::from_secs(2);

/// What a key asks of the loop.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Heard {
    Leave,
    /// Another name is open: ask for it.
    Look,
    Nothing,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) store: String,
    pub(super) sort: SortBy,
    pub(super) names: Vec<Snapshot>,
    /// The name that the cursor is on: it stays there when others come and go.
    chosen: Option<Name>,
    pub(super) open: Option<Name>,
    pub(super) seen: Option<Box<Snapshot>>,
    chosen_waiter: Option<Ticket>,
    /// How many rows a page has, as drawn last.
    pub(super) page: usize,
    heard: Instant,
    has_heard: bool,
    error: Option<String>,
    patience: Duration,
}

impl State {
    pub(super) fn new(store: String, sort: SortBy, interval: Duration) -> Self {
        Self {
            store,
            sort,
            names: Vec::new(),
            chosen: None,
            open: None,
            seen: None,
            chosen_waiter: None,
            page: 1,
            heard: Instant::now(),
            has_heard: false,
            error: None,
            patience: interval + SILENCE,
        }
    }

    /// What the store said.
    pub(super) fn take(&mut self, seen: Seen) {
        match seen {
            Seen::Nothing(error) => self.error = Some(error),
            Seen::All { names, open } => {
                (self.names, self.error) = (names, None);
                (self.heard, self.has_heard) = (Instant::now(), true);
                self.seen = open.filter(|open| Some(&open.name) == self.open.as_ref());
                self.arrange();
            }
        }
    }

    /// Whether anything was read yet.
    pub(super) fn has_heard(&self) -> bool {
        self.has_heard
    }

    /// For how long the store has said nothing, and why, if it is worth a word.
    pub(super) fn silence(&self) -> Option<(Duration, Option<&str>)> {
        let silent = self.heard.elapsed();
        let is_long = self.error.is_some() || silent > self.patience;
        is_long.then_some((silent, self.error.as_deref()))
    }

    pub(super) fn press(&mut self, key: Key) -> Heard {
        match key {
            Key::Leave => return Heard::Leave,
            Key::Open if self.open.is_none() => return self.enter(),
            Key::Back if self.open.is_some() => {
                (self.open, self.seen, self.chosen_waiter) = (None, None, None);
                return Heard::Look;
            }
            Key::Sort => {
                self.sort = self.sort.next();
                self.arrange();
            }
            key => self.step(key),
        }
        Heard::Nothing
    }

    fn enter(&mut self) -> Heard {
        let Some(chosen) = self.names.get(self.cursor()) else { return Heard::Nothing };
        self.open = Some(chosen.name.clone());
        // What the list knows of it, until the store has answered.
        self.seen = Some(Box::new(chosen.clone()));
        Heard::Look
    }

    fn step(&mut self, key: Key) {
        let rows = if self.open.is_some() { self.waiters() } else { self.names.len() };
        let at = if self.open.is_some() { self.waiter() } else { self.cursor() };
        let to = match key {
            Key::Up => at.saturating_sub(1),
            Key::Down => at + 1,
            Key::PageUp => at.saturating_sub(self.page),
            Key::PageDown => at + self.page,
            Key::First => 0,
            Key::Last => rows,
            _ => at,
        };
        let to = to.min(rows.saturating_sub(1));
        if self.open.is_some() {
            let waiters = self.seen.as_ref().map(|seen| &seen.waiters);
            self.chosen_waiter = waiters.and_then(|rows| rows.get(to)).map(|row| row.ticket);
        } else {
            self.chosen = self.names.get(to).map(|name| name.name.clone());
        }
    }

    /// Where the cursor is in the list of names.
    pub(super) fn cursor(&self) -> usize {
        let chosen = self.chosen.as_ref();
        self.names.iter().position(|name| Some(&name.name) == chosen).unwrap_or(0)
    }

    /// Where it is among the waiters of the name that is open.
    pub(super) fn waiter(&self) -> usize {
        let rows = self.seen.as_ref().map_or(&[][..], |seen| &seen.waiters);
        rows.iter().position(|row| Some(row.ticket) == self.chosen_waiter).unwrap_or(0)
    }

    fn waiters(&self) -> usize {
        self.seen.as_ref().map_or(0, |seen| seen.waiters.len())
    }

    fn arrange(&mut self) {
        arrange(&mut self.names, self.sort);
    }
}

/// Most first, and by name where there is no difference.
pub(crate) fn arrange(names: &mut [Snapshot], sort: SortBy) {
    names.sort_by(|a, b| a.name.cmp(&b.name));
    match sort {
        SortBy::Name => {}
        SortBy::Held => names.sort_by_key(|name| Reverse(name.permits_held)),
        SortBy::Waiting => names.sort_by_key(|name| Reverse(name.waiting_total)),
        SortBy::Oldest => names.sort_by_key(|name| Reverse(name.oldest_wait())),
    }
}
