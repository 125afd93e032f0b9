//! Asks the store again and again, beside the view, which never waits for it.

use std::time::Duration;

use seinpaal::{Name, Seinpaal, Snapshot};
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
    time::timeout,
};

/// What the store said last.
#[derive(Debug)]
pub(super) enum Seen {
    /// All names, and the one that is open.
    All { names: Vec<Snapshot>, open: Option<Box<Snapshot>> },
    /// Why it said nothing.
    Nothing(String),
}

/// The task that asks. Ends when it is dropped.
pub(super) struct Watch {
    task: JoinHandle<()>,
    open: watch::Sender<Option<Name>>,
    seen: mpsc::Receiver<Seen>,
}

impl Watch {
    pub(super) fn start(seinpaal: &Seinpaal, prefix: &str, interval: Duration) -> Self {
        let (open, wanted) = watch::channel(None);
        let (sender, seen) = mpsc::channel(1);
        let task =
            tokio::spawn(ask_on(seinpaal.clone(), prefix.to_owned(), interval, wanted, sender));
        Self { task, open, seen }
    }

    /// Asks for this name as well, at once.
    pub(super) fn look_at(&self, name: Option<Name>) {
        self.open.send_replace(name);
    }

    /// The next answer. Cancel safe.
    pub(super) async fn next(&mut self) -> Seen {
        match self.seen.recv().await {
            Some(seen) => seen,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn ask_on(
    seinpaal: Seinpaal,
    prefix: String,
    interval: Duration,
    mut open: watch::Receiver<Option<Name>>,
    sender: mpsc::Sender<Seen>,
) {
    loop {
        let name = open.borrow_and_update().clone();
        if sender.send(ask(&seinpaal, &prefix, name).await).await.is_err() {
            return;
        }
        // Until it is time, or another name is opened.
        let _ = timeout(interval, open.changed()).await;
    }
}

async fn ask(seinpaal: &Seinpaal, prefix: &str, name: Option<Name>) -> Seen {
    let names = match seinpaal.list(prefix).await {
        Ok(names) => names,
        Err(error) => return Seen::Nothing(error.to_string()),
    };
    let Some(name) = name else { return Seen::All { names, open: None } };
    match seinpaal.semaphore(&name).snapshot().await {
        Ok(open) => Seen::All { names, open: Some(Box::new(open)) },
        Err(error) => Seen::Nothing(error.to_string()),
    }
}
