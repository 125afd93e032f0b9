//! The parts that commands share: a runtime, and a connection to the chosen store.

use std::time::Duration;

use seinpaal::Seinpaal;
use tokio::{task::JoinHandle, time::timeout};

use crate::{
    args::Global,
    exit::Failure,
    output::{NamedStore, Voice},
    run::{Signals, full, unless_ended},
    settings::{self, StoreChoice},
};

/// How long a closing connection may take to give back the remaining permits.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Runs `work` on this thread, which must be the main thread: see [`run`](crate::run).
pub(crate) fn on_runtime<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::internal(format!("cannot start: {error}")))?.block_on(work)
}

/// Connects to the store, unless a signal comes first.
pub(crate) async fn connect(
    choice: &StoreChoice,
    ttl: Option<Duration>,
    client: &str,
    voice: Voice,
    signals: &mut Signals,
) -> Result<Seinpaal, Failure> {
    choice.introduce(voice);
    let connecting = Seinpaal::builder(&choice.text).client(client).ttl(choice.ttl(ttl)).connect();
    let seinpaal = unless_ended(signals, Box::pin(connecting)).await??;
    unless_ended(signals, Box::pin(explain_advice(&seinpaal, voice))).await?;
    Ok(seinpaal)
}

/// Prints the store's advice for `-v`. The store is asked only then, which may take a while.
async fn explain_advice(seinpaal: &Seinpaal, voice: Voice) {
    if voice.is_explaining() {
        match seinpaal.diagnose().await {
            Ok(diagnosis) => diagnosis.advice.iter().for_each(|line| voice.explain(line)),
            Err(error) => voice.explain(error),
        }
    }
}

/// Makes the connection of a `run`. If the connection has no thread of its own, its task is put
/// into `task`. The caller must await the task after it has dropped the rest of the connection.
pub(crate) async fn connect_here(
    choice: &StoreChoice,
    ttl: Option<Duration>,
    client: &str,
    voice: Voice,
    signals: &mut Signals,
    task: &mut Option<JoinHandle<()>>,
) -> Result<Seinpaal, Failure> {
    choice.introduce(voice);
    let connecting = Seinpaal::builder(&choice.text).client(client).ttl(choice.ttl(ttl));
    let (seinpaal, its_task) = unless_ended(signals, Box::pin(connecting.connect_here())).await??;
    *task = its_task;
    unless_ended(signals, Box::pin(explain_advice(&seinpaal, voice))).await?;
    Ok(seinpaal)
}

/// Waits until the task of a connection has given back the remaining permits, for a second at most.
pub(crate) async fn part(task: Option<JoinHandle<()>>) {
    if let Some(task) = task {
        let _ = timeout(LAST_WORDS, task).await; // the end of the process gives them back, too
    }
}

/// Connects, and asks `question`. A failure names the store, and also `name` unless that is empty.
pub(crate) fn ask<T, F>(
    global: &Global,
    voice: Voice,
    client: &str,
    name: &str,
    question: F,
) -> Result<T, Failure>
where
    F: AsyncFnOnce(&Seinpaal) -> Result<T, Failure>,
{
    ask_at(&settings::choose(global)?, voice, client, name, question)
}

/// Does the same as [`ask`] for a store that is already chosen.
pub(crate) fn ask_at<T, F>(
    choice: &StoreChoice,
    voice: Voice,
    client: &str,
    name: &str,
    question: F,
) -> Result<T, Failure>
where
    F: AsyncFnOnce(&Seinpaal) -> Result<T, Failure>,
{
    let answer = on_runtime(async {
        choice.introduce(voice);
        let connecting = Seinpaal::builder(&choice.text).client(client).ttl(choice.ttl(None));
        let seinpaal = connecting.connect().await?;
        explain_advice(&seinpaal, voice).await;
        tokio::select! {
            biased;
            answer = question(&seinpaal) => answer,
            full = full(&seinpaal) => Err(full),
        }
    });
    answer.map_err(|failure| failure.about(NamedStore::new(name, &choice.url)))
}
