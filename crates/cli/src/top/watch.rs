//! Asks the store again and again, beside the view, which never waits for it.

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

/// Which list is shown.
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
    /// The name, or the queue, that is open.
    pub(super) open: Option<Name>,
    /// The text that listed items of an open queue contain; empty: any item is listed.
    pub(super) matching: String,
}

/// The last answer of the store.
#[derive(Debug)]
pub(super) enum StoreAnswer {
    /// All names, and the one that is open.
    Names { names: Vec<Snapshot>, open: Option<Box<Snapshot>> },
    /// All queues, and the one that is open.
    Queues { queues: Vec<QueueSnapshot>, open: Option<Box<OpenQueue>> },
    /// Why it said nothing.
    Nothing(String),
}

impl StoreAnswer {
    /// The list that it is about.
    pub(super) fn tab(&self) -> Option<ListTab> {
        match self {
            Self::Names { .. } => Some(ListTab::Names),
            Self::Queues { .. } => Some(ListTab::Queues),
            Self::Nothing(_) => None,
        }
    }
}

/// To find a text all items of a queue are read. Then the store has this many times as long for
/// others as that took.
const REST: u32 = 10;

/// The past of the names that were opened.
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

/// The task that asks. Ends when it is dropped.
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

    /// Asks for this, at once.
    pub(super) fn look_at(&self, look: StoreQuestion) {
        self.look.send_replace(look);
    }

    /// The next answer. Cancel safe.
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
            // The answer would be about something that nobody looks at any more.
            Ok(()) = look.changed() => continue,
        };
        if let StoreAnswer::Names { open: Some(open), .. } = &mut seen {
            past.look(open);
        }
        if sender.send(seen).await.is_err() {
            return;
        }
        // Until it is time, or something else is looked at.
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
