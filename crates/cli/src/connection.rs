//! The parts that commands share: a runtime, and a connection to the chosen store.

use std::time::{Duration, Instant};

use seinpaal::{ConnectError, Seinpaal, StoreErrorKind, store::url::StoreUrl};
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};

use crate::{
    args::{EntryArgs, Global},
    exit::Failure,
    output::{NamedStore, Voice, text::age},
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

/// How long a command that waits for permits or jobs tries to reach the store, unless the store's
/// URL says so (`connect-timeout`).
const PATIENCE: Duration = Duration::from_secs(30);
/// How long one that does not wait tries.
const HASTE: Duration = Duration::from_secs(3);
/// An outage that lasts this long at the start is told.
const WORTH_A_LINE: Duration = Duration::from_secs(1);

/// Returns how long to try to reach the store, which may be restarted or failed over just now.
pub(crate) fn patience(choice: &StoreChoice) -> Duration {
    match choice.url {
        StoreUrl::Embedded(_) | StoreUrl::Memory(_) => Duration::ZERO,
        _ => choice.url.connect_timeout().unwrap_or(PATIENCE),
    }
}

/// Returns the same for a request that may not wait for as long.
pub(crate) fn patience_of(choice: &StoreChoice, entry: &EntryArgs) -> Duration {
    let most = entry.wait.unwrap_or(if entry.nonblock { HASTE } else { Duration::MAX });
    patience(choice).min(most)
}

/// Connects, and tries again for as long as `patience` lasts if nobody answers. Any other error is
/// one at once.
async fn persist<T>(
    patience: Duration,
    voice: Voice,
    connect: impl AsyncFn() -> Result<T, ConnectError>,
) -> Result<T, ConnectError> {
    let (began, mut pause, mut is_told) = (Instant::now(), Duration::from_millis(50), false);
    loop {
        let error = match connect().await {
            Ok(connection) => return Ok(connection),
            Err(error) => error,
        };
        let may_pass = match &error {
            ConnectError::Store(error) => error.kind() == StoreErrorKind::Unreachable,
            _ => false,
        };
        if !may_pass || began.elapsed() + pause >= patience {
            return Err(error);
        }
        if began.elapsed() >= WORTH_A_LINE && !std::mem::replace(&mut is_told, true) {
            voice.say(format_args!("{error}; trying again for up to {}", age(patience)));
        }
        sleep(pause).await;
        pause = (2 * pause).min(Duration::from_secs(1));
    }
}

/// Connects to the store within this time, unless a signal comes first.
pub(crate) async fn connect(
    choice: &StoreChoice,
    ttl: Option<Duration>,
    client: &str,
    patience: Duration,
    voice: Voice,
    signals: &mut Signals,
) -> Result<Seinpaal, Failure> {
    choice.introduce(voice);
    let connect = async || {
        Seinpaal::builder(&choice.text).client(client).ttl(choice.ttl(ttl)).connect().await
    };
    let connecting = Box::pin(persist(patience, voice, connect));
    let seinpaal = unless_ended(signals, connecting).await??;
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
    patience: Duration,
    voice: Voice,
    signals: &mut Signals,
    task: &mut Option<JoinHandle<()>>,
) -> Result<Seinpaal, Failure> {
    choice.introduce(voice);
    let connect = async || {
        Seinpaal::builder(&choice.text).client(client).ttl(choice.ttl(ttl)).connect_here().await
    };
    let connecting = Box::pin(persist(patience, voice, connect));
    let (seinpaal, its_task) = unless_ended(signals, connecting).await??;
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
    ask_at(&settings::choose(global)?, Duration::ZERO, voice, client, name, question)
}

/// Does the same as [`ask`] for a store that is already chosen, and tries for so long to reach it.
pub(crate) fn ask_at<T, F>(
    choice: &StoreChoice,
    patience: Duration,
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
        let connect = async || {
            Seinpaal::builder(&choice.text).client(client).ttl(choice.ttl(None)).connect().await
        };
        let seinpaal = persist(patience, voice, connect).await?;
        explain_advice(&seinpaal, voice).await;
        tokio::select! {
            biased;
            answer = question(&seinpaal) => answer,
            full = full(&seinpaal) => Err(full),
        }
    });
    answer.map_err(|failure| failure.about(NamedStore::new(name, &choice.url)))
}
