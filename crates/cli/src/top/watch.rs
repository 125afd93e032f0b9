//! Asks the store again and again in a task of its own, so that the view never waits for the store.

mod open_queue;

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

pub(super) use open_queue::{OpenQueue, OpenWorkRow};
use seinpaal::{HoldTimes, Name, QueueSnapshot, Seinpaal, Snapshot};
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
    time::timeout,
};

/// The list that is shown.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum ListTab {
    #[default]
    Names,
    Queues,
}

/// The question to the store.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct StoreQuestion {
    pub(super) tab: ListTab,
    /// The open name or queue.
    pub(super) open: Option<Name>,
    /// The text that all listed items of an open queue contain. Empty: all items are listed.
    pub(super) matching: String,
}

/// The last answer of the store.
#[derive(Debug)]
pub(super) enum StoreAnswer {
    /// All names, and the open one.
    Names { names: Vec<Snapshot>, open: Option<Box<Snapshot>> },
    /// All queues, and the open one.
    Queues { queues: Vec<QueueSnapshot>, open: Option<Box<OpenQueue>> },
    /// The reason why there is no answer.
    Nothing(String),
}

impl StoreAnswer {
    /// Returns the list that the answer is about.
    pub(super) fn tab(&self) -> Option<ListTab> {
        match self {
            Self::Names { .. } => Some(ListTab::Names),
            Self::Queues { .. } => Some(ListTab::Queues),
            Self::Nothing(_) => None,
        }
    }
}

/// A search reads all items of a queue. Afterwards the watch waits for this many times as long as
/// the search took, so that other clients get their turn.
const REST: u32 = 10;

/// The holds that were seen to end, of the names that were opened.
struct OpenedNames {
    began: Instant,
    names: HashMap<Name, HoldTimes>,
}

impl OpenedNames {
    fn new() -> Self {
        Self { began: Instant::now(), names: HashMap::new() }
    }

    fn look(&mut self, seen: &mut Snapshot) {
        let holds = self.names.entry(seen.name.clone()).or_default();
        holds.look(seen, self.began.elapsed());
    }
}

/// The task that asks. It ends when this value is dropped.
pub(super) struct StoreWatch {
    task: JoinHandle<()>,
    look: watch::Sender<StoreQuestion>,
    seen: mpsc::Receiver<StoreAnswer>,
}

impl StoreWatch {
    pub(super) fn start(seinpaal: &Seinpaal, prefix: &str, interval: Duration) -> Self {
        let (look, wanted) = watch::channel(StoreQuestion::default());
        let (sender, seen) = mpsc::channel(1);
        let task =
            tokio::spawn(ask_on(seinpaal.clone(), prefix.to_owned(), interval, wanted, sender));
        Self { task, look, seen }
    }

    /// Asks this question at once, and from now on.
    pub(super) fn look_at(&self, look: StoreQuestion) {
        self.look.send_replace(look);
    }

    /// Waits for the next answer. Cancel safe.
    pub(super) async fn next(&mut self) -> StoreAnswer {
        match self.seen.recv().await {
            Some(seen) => seen,
            None => std::future::pending().await,
        }
    }
}

impl Drop for StoreWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn ask_on(
    seinpaal: Seinpaal,
    prefix: String,
    interval: Duration,
    mut look: watch::Receiver<StoreQuestion>,
    sender: mpsc::Sender<StoreAnswer>,
) {
    let mut past = OpenedNames::new();
    loop {
        let wanted = look.borrow_and_update().clone();
        let (began, searches) = (Instant::now(), !wanted.matching.is_empty());
        let mut seen = tokio::select! {
            seen = ask(&seinpaal, &prefix, wanted) => seen,
            // The question has changed, so the answer to the old one is not wanted any more.
            Ok(()) = look.changed() => continue,
        };
        if let StoreAnswer::Names { open: Some(open), .. } = &mut seen {
            past.look(open);
        }
        if sender.send(seen).await.is_err() {
            return;
        }
        // Waits until it is time to ask again, or the question changes.
        let rest = if searches { interval.max(REST * began.elapsed()) } else { interval };
        let _ = timeout(rest, look.changed()).await;
    }
}

async fn ask(seinpaal: &Seinpaal, prefix: &str, look: StoreQuestion) -> StoreAnswer {
    let seen = match look.tab {
        ListTab::Names => names(seinpaal, prefix, look.open).await,
        ListTab::Queues => queues(seinpaal, prefix, &look).await,
    };
    seen.unwrap_or_else(StoreAnswer::Nothing)
}

async fn names(
    seinpaal: &Seinpaal,
    prefix: &str,
    open: Option<Name>,
) -> Result<StoreAnswer, String> {
    let names = seinpaal.list(prefix).await.map_err(|error| error.to_string())?;
    let open = match open {
        None => None,
        Some(name) => {
            let seen = seinpaal.semaphore(&name).snapshot().await;
            Some(Box::new(seen.map_err(|error| error.to_string())?))
        }
    };
    Ok(StoreAnswer::Names { names, open })
}

async fn queues(
    seinpaal: &Seinpaal,
    prefix: &str,
    look: &StoreQuestion,
) -> Result<StoreAnswer, String> {
    let queues = seinpaal.queues(prefix).await.map_err(|error| error.to_string())?;
    let open = match &look.open {
        None => None,
        Some(name) => {
            let read = OpenQueue::read(seinpaal, look, name).await;
            Some(Box::new(read.map_err(|error| error.to_string())?))
        }
    };
    Ok(StoreAnswer::Queues { queues, open })
}
