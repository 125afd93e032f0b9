//! The state of the screen: rows and cursor. Keys and answers change it, without any I/O.

mod order;
mod rows;
mod search;

use std::time::{Duration, Instant};

use order::QueueOrder;
pub(crate) use order::arrange;
use rows::OpenRow;
use seinpaal::{Name, QueueSnapshot, Snapshot};

use super::{
    deed::TopDeed,
    keys::Key,
    prompt::{Prompt, PromptOutcome},
    watch::{ListTab, OpenQueue, StoreAnswer, StoreQuestion},
};
use crate::args::SortBy;

/// The store is called silent when it has not answered for this much longer than the interval.
const SILENCE: Duration = Duration::from_secs(2);
/// It may take this long while all items of a queue are read to find a text.
const SEARCH_SILENCE: Duration = Duration::from_secs(120);
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
    pub(super) queue_order: QueueOrder,
    pub(super) look: StoreQuestion,
    pub(super) names: Vec<Snapshot>,
    pub(super) queues: Vec<QueueSnapshot>,
    pub(super) seen: Option<Box<Snapshot>>,
    pub(super) queue: Option<Box<OpenQueue>>,
    /// The text that listed names contain; `None` without a search.
    pub(super) filter: Option<String>,
    /// The filter is being typed.
    pub(super) is_filtering: bool,
    /// The text to look for in the open queue, while it is being typed.
    pub(super) searching: Option<String>,
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
    silent_after: Duration,
}

impl TopState {
    pub(super) fn new(store: String, sort: SortBy, interval: Duration) -> Self {
        Self {
            store,
            sort,
            queue_order: QueueOrder::default(),
            look: StoreQuestion::default(),
            names: Vec::new(),
            queues: Vec::new(),
            seen: None,
            queue: None,
            filter: None,
            is_filtering: false,
            searching: None,
            prompt: None,
            shows_help: false,
            chosen: None,
            chosen_row: None,
            page: 1,
            told: None,
            heard: Instant::now(),
            has_heard: false,
            error: None,
            silent_after: interval + SILENCE,
        }
    }

    /// Takes what the store said.
    pub(super) fn take(&mut self, seen: StoreAnswer) {
        let at = self.row();
        match seen {
            StoreAnswer::Nothing(error) => return self.error = Some(error),
            StoreAnswer::Names { names, open } => {
                self.names = names;
                // An answer that was under way may be about what was open before.
                self.seen = open.filter(|open| Some(&open.name) == self.look.open.as_ref());
                self.arrange();
            }
            StoreAnswer::Queues { queues, open } => {
                self.queues = queues;
                self.queue_order.arrange(&mut self.queues);
                let (name, text) = (self.look.open.as_ref(), &self.look.matching);
                self.queue =
                    open.filter(|open| Some(&open.seen.name) == name && open.matching == *text);
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
        let searches = !self.look.matching.is_empty();
        let silent_after = if searches { SEARCH_SILENCE } else { self.silent_after };
        let is_long = self.error.is_some() || silent > silent_after;
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
        if self.searching.is_some() {
            return self.type_search(key);
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

    fn command(&mut self, key: Key) -> KeyRequest {
        match key {
            Key::Char('q') => return KeyRequest::Leave,
            Key::Enter | Key::Right | Key::Char('l') if self.look.open.is_none() => {
                return self.enter();
            }
            Key::Escape | Key::Left | Key::Backspace | Key::Char('h') => return self.back(),
            Key::Tab => return self.turn(),
            Key::Char('/') => self.begin_to_look_for(),
            Key::Char('s') => self.sort_by_next(),
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
        if !self.look.matching.is_empty() {
            return self.look_for(String::new());
        }
        self.close()
    }

    fn close(&mut self) -> KeyRequest {
        (self.look.open, self.seen, self.queue, self.chosen_row) = (None, None, None, None);
        self.look.matching.clear();
        KeyRequest::Look
    }

    /// From names to queues, and back.
    fn turn(&mut self) -> KeyRequest {
        self.close();
        self.filter = None;
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
        let is_listed = |name: &&Name| self.lets_through(name);
        match self.look.tab {
            ListTab::Names => self.names.iter().map(|seen| &seen.name).filter(is_listed).collect(),
            ListTab::Queues => {
                self.queues.iter().map(|seen| &seen.name).filter(is_listed).collect()
            }
        }
    }

    /// Where the cursor is in the list.
    pub(super) fn cursor(&self) -> usize {
        let chosen = self.chosen.as_ref();
        self.listed().iter().position(|name| Some(*name) == chosen).unwrap_or(0)
    }

    fn sort_by_next(&mut self) {
        match self.look.tab {
            ListTab::Names => self.sort = self.sort.next(),
            ListTab::Queues => self.queue_order = self.queue_order.next(),
        }
        self.queue_order.arrange(&mut self.queues);
        self.arrange();
    }

    fn arrange(&mut self) {
        arrange(&mut self.names, self.sort);
    }
}
