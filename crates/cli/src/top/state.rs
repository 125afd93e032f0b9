//! The state of the screen: rows and cursor. Keys and answers change it, without any I/O.

mod rows;

use std::{
    cmp::Reverse,
    time::{Duration, Instant},
};

use rows::OpenRow;
use seinpaal::{Name, QueueSnapshot, Snapshot};

use super::{
    deed::TopDeed,
    keys::Key,
    prompt::{Prompt, PromptOutcome, edit},
    watch::{ListTab, OpenQueue, StoreAnswer, StoreQuestion},
};
use crate::args::SortBy;

/// The store is called silent when it has not answered for this much longer than the interval.
const SILENCE: Duration = Duration::from_secs(2);
/// How long the result of an action is shown.
const TOLD: Duration = Duration::from_secs(15);

/// The request of a key to the loop.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum KeyRequest {
    Leave,
    /// The screen shows something else: read it from the store.
    Look,
    Do(Name, TopDeed),
    Nothing,
}

#[derive(Debug)]
pub(super) struct TopState {
    pub(super) store: String,
    pub(super) sort: SortBy,
    pub(super) look: StoreQuestion,
    pub(super) names: Vec<Snapshot>,
    pub(super) queues: Vec<QueueSnapshot>,
    pub(super) seen: Option<Box<Snapshot>>,
    pub(super) queue: Option<Box<OpenQueue>>,
    /// The text that listed names contain; `None` without a search.
    pub(super) filter: Option<String>,
    /// The filter is being typed.
    pub(super) is_filtering: bool,
    pub(super) prompt: Option<Prompt>,
    pub(super) shows_help: bool,
    /// The name or queue that the cursor is on: it stays there when others come and go.
    chosen: Option<Name>,
    chosen_row: Option<OpenRow>,
    /// How many rows a page has, as drawn last.
    pub(super) page: usize,
    told: Option<(String, Instant)>,
    heard: Instant,
    has_heard: bool,
    error: Option<String>,
    patience: Duration,
}

impl TopState {
    pub(super) fn new(store: String, sort: SortBy, interval: Duration) -> Self {
        Self {
            store,
            sort,
            look: StoreQuestion::default(),
            names: Vec::new(),
            queues: Vec::new(),
            seen: None,
            queue: None,
            filter: None,
            is_filtering: false,
            prompt: None,
            shows_help: false,
            chosen: None,
            chosen_row: None,
            page: 1,
            told: None,
            heard: Instant::now(),
            has_heard: false,
            error: None,
            patience: interval + SILENCE,
        }
    }

    /// Takes what the store said.
    pub(super) fn take(&mut self, seen: StoreAnswer) {
        let at = self.row();
        match seen {
            StoreAnswer::Nothing(error) => return self.error = Some(error),
            StoreAnswer::Names { names, open } => {
                self.names = names;
                self.seen = open.filter(|open| Some(&open.name) == self.look.open.as_ref());
                self.arrange();
            }
            StoreAnswer::Queues { queues, open } => {
                self.queues = queues;
                self.queues.sort_by(|a, b| a.name.cmp(&b.name));
                self.queue = open.filter(|open| Some(&open.seen.name) == self.look.open.as_ref());
            }
        }
        self.stay_at(at);
        self.error = None;
        (self.heard, self.has_heard) = (Instant::now(), true);
    }

    /// Takes the result of an action.
    pub(super) fn tell(&mut self, words: String) {
        self.told = Some((words, Instant::now()));
    }

    /// The result of the last action, while that is worth a line.
    pub(super) fn told(&self) -> Option<&str> {
        let told = self.told.as_ref().filter(|(_, at)| at.elapsed() < TOLD);
        told.map(|(words, _)| words.as_str())
    }

    /// Returns whether anything was read yet.
    pub(super) fn has_heard(&self) -> bool {
        self.has_heard
    }

    /// For how long the store has said nothing, and why, if it is worth a word.
    pub(super) fn silence(&self) -> Option<(Duration, Option<&str>)> {
        let silent = self.heard.elapsed();
        let is_long = self.error.is_some() || silent > self.patience;
        is_long.then_some((silent, self.error.as_deref()))
    }

    pub(super) fn press(&mut self, key: Key) -> KeyRequest {
        if let Some(prompt) = &mut self.prompt {
            let outcome = prompt.press(key);
            return self.after_prompt(outcome);
        }
        if self.is_filtering {
            self.type_filter(key);
            return KeyRequest::Nothing;
        }
        if std::mem::take(&mut self.shows_help) {
            return KeyRequest::Nothing;
        }
        self.command(key)
    }

    fn after_prompt(&mut self, outcome: PromptOutcome) -> KeyRequest {
        if outcome == PromptOutcome::Open {
            return KeyRequest::Nothing;
        }
        let was_asked = self.prompt.take().is_some_and(|prompt| prompt.asks_whether());
        match outcome {
            PromptOutcome::Do(name, deed) => return KeyRequest::Do(name, deed),
            _ if was_asked => self.tell("nothing was changed".to_owned()),
            _ => {}
        }
        KeyRequest::Nothing
    }

    fn type_filter(&mut self, key: Key) {
        match key {
            Key::Escape => (self.filter, self.is_filtering) = (None, false),
            Key::Enter => self.is_filtering = false,
            key => edit(self.filter.get_or_insert_default(), key),
        }
    }

    fn command(&mut self, key: Key) -> KeyRequest {
        match key {
            Key::Char('q') => return KeyRequest::Leave,
            Key::Enter | Key::Right | Key::Char('l') if self.look.open.is_none() => {
                return self.enter();
            }
            Key::Escape | Key::Left | Key::Backspace | Key::Char('h') => return self.back(),
            Key::Tab => return self.turn(),
            Key::Char('/') if self.look.open.is_none() => {
                (self.filter, self.is_filtering) = (Some(String::new()), true);
            }
            Key::Char('s') => {
                self.sort = self.sort.next();
                self.arrange();
            }
            Key::Char('a') => self.prompt = self.target().map(Prompt::new),
            Key::Char('?') => self.shows_help = true,
            key => self.step(key),
        }
        KeyRequest::Nothing
    }

    fn enter(&mut self) -> KeyRequest {
        let Some(chosen) = self.listed().get(self.cursor()).map(|name| (*name).clone()) else {
            return KeyRequest::Nothing;
        };
        // What the list knows of it, until the store has answered.
        let known = self.names.iter().find(|seen| seen.name == chosen);
        self.seen = known.filter(|_| self.look.tab == ListTab::Names).cloned().map(Box::new);
        self.look.open = Some(chosen);
        KeyRequest::Look
    }

    fn back(&mut self) -> KeyRequest {
        if self.look.open.is_none() {
            self.filter = None;
            return KeyRequest::Nothing;
        }
        (self.look.open, self.seen, self.queue, self.chosen_row) = (None, None, None, None);
        KeyRequest::Look
    }

    /// From names to queues, and back.
    fn turn(&mut self) -> KeyRequest {
        self.back();
        self.look.tab = match self.look.tab {
            ListTab::Names => ListTab::Queues,
            ListTab::Queues => ListTab::Names,
        };
        (self.chosen, self.has_heard) = (None, false);
        KeyRequest::Look
    }

    fn step(&mut self, key: Key) {
        let is_open = self.look.open.is_some();
        let rows = if is_open { self.rows().len() } else { self.listed().len() };
        let at = if is_open { self.row() } else { self.cursor() };
        let to = match key {
            Key::Up | Key::Char('k') => at.saturating_sub(1),
            Key::Down | Key::Char('j') => at + 1,
            Key::PageUp => at.saturating_sub(self.page),
            Key::PageDown => at + self.page,
            Key::First | Key::Char('g') => 0,
            Key::Last | Key::Char('G') => rows,
            _ => at,
        };
        let to = to.min(rows.saturating_sub(1));
        if is_open {
            self.chosen_row = self.rows().get(to).copied();
        } else {
            self.chosen = self.listed().get(to).map(|name| (*name).clone());
        }
    }

    /// The names or queues that the filter lets through, in their order.
    pub(super) fn listed(&self) -> Vec<&Name> {
        let wanted = self.filter.as_deref().unwrap_or_default().to_lowercase();
        let is_wanted = |name: &&Name| wanted.is_empty() || name.to_lowercase().contains(&wanted);
        match self.look.tab {
            ListTab::Names => self.names.iter().map(|seen| &seen.name).filter(is_wanted).collect(),
            ListTab::Queues => {
                self.queues.iter().map(|seen| &seen.name).filter(is_wanted).collect()
            }
        }
    }

    /// Where the cursor is in the list.
    pub(super) fn cursor(&self) -> usize {
        let chosen = self.chosen.as_ref();
        self.listed().iter().position(|name| Some(*name) == chosen).unwrap_or(0)
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
