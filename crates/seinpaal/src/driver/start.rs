//! Starting a driver: on a thread of its own, or on the caller's runtime.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicU64},
    mpsc as std_mpsc,
};

use seinpaal_proto::{
    Inbox,
    session::{Session, SessionConfig},
};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

use super::{
    Driver, DriverCommand, Handle, OpenStore, Pulse, QueueSessions, SharedDriver, Statistics,
    errors::{internal, internal_text},
    serving::Serving,
};
use crate::{
    boottime::ClientClock,
    room::Room,
    store::{News, NewsSender, Store, StoreError},
};

/// The parts of a driver, except its store.
pub(super) struct Makings {
    inbox: Inbox,
    config: SessionConfig,
    pub(super) clock: ClientClock,
    pub(super) address: Arc<str>,
    pub(super) statistics: Arc<Statistics>,
    pub(super) pulse: Arc<Pulse>,
    room: Arc<Room<SharedDriver>>,
    pub(super) commands: mpsc::UnboundedReceiver<DriverCommand>,
    pub(super) news: mpsc::UnboundedReceiver<News>,
}

/// The other ends of a driver's channels.
pub(super) struct Ends {
    config: SessionConfig,
    clock: ClientClock,
    address: Arc<str>,
    statistics: Arc<Statistics>,
    pulse: Arc<Pulse>,
    room: Arc<Room<SharedDriver>>,
    pub(super) commands: mpsc::UnboundedSender<DriverCommand>,
    pub(super) news: NewsSender,
}

/// Opens the store at `address` on a thread of its own, and serves it there until every handle is
/// gone.
pub(crate) async fn start(
    opening: OpenStore,
    config: SessionConfig,
    address: String,
) -> Result<Arc<Handle>, StoreError> {
    let (makings, ends) = makings(config, ClientClock::Machine, address.into())?;
    let (opened, is_opened) = oneshot::channel();
    let news = ends.news.clone();
    let is_over = on_a_thread(async move {
        let store = opening(makings.inbox, news).await;
        let is_open = store.as_ref().ok().cloned();
        // If the program gave up connecting, no receiver is left, and dropping the store closes it.
        if let (Ok(()), Some(store)) = (opened.send(store), is_open) {
            makings.serve(store).await;
        }
    })?;
    let store = is_opened.await.map_err(|_| internal_text("the driver stopped"))??;
    Ok(ends.handle(store, Some(is_over)))
}

/// Opens the store at `address`, and serves it as a task of the current runtime until every handle
/// is gone.
///
/// # Panics
/// Outside a tokio runtime.
pub(crate) async fn start_as_task(
    opening: OpenStore,
    config: SessionConfig,
    address: String,
) -> Result<(Arc<Handle>, JoinHandle<()>), StoreError> {
    let (makings, ends) = makings(config, ClientClock::Machine, address.into())?;
    let store = opening(makings.inbox, ends.news.clone()).await?;
    let task = tokio::spawn(makings.serve(Arc::clone(&store)));
    // The task is polled once, so that a caller can enter the driver with the first request: the
    // room is open, and the task has left its waker there.
    tokio::task::yield_now().await;
    Ok((ends.handle(store, None), task))
}

/// Opens a store that needs no waiting, and serves it on a thread of its own.
pub(crate) fn start_at_once(
    open: impl FnOnce(Inbox, NewsSender) -> Arc<dyn Store>,
    config: SessionConfig,
    address: String,
) -> Result<Arc<Handle>, StoreError> {
    let (makings, ends) = makings(config, ClientClock::Machine, address.into())?;
    let store = open(makings.inbox, ends.news.clone());
    let is_over = on_a_thread(makings.serve(Arc::clone(&store)))?;
    Ok(ends.handle(store, Some(is_over)))
}

/// Opens a store that needs no waiting, and serves it as a task of the current runtime, by its
/// clock.
///
/// # Panics
/// Outside a tokio runtime.
pub(crate) fn start_here(
    open: impl FnOnce(Inbox, NewsSender) -> Arc<dyn Store>,
    config: SessionConfig,
    clock: ClientClock,
    address: String,
) -> Result<Arc<Handle>, StoreError> {
    let (makings, ends) = makings(config, clock, address.into())?;
    let store = open(makings.inbox, ends.news.clone());
    tokio::spawn(makings.serve(Arc::clone(&store)));
    Ok(ends.handle(store, None))
}

pub(super) fn makings(
    config: SessionConfig,
    clock: ClientClock,
    address: Arc<str>,
) -> Result<(Makings, Ends), StoreError> {
    let mut seed = [0; 16];
    getrandom::fill(&mut seed).map_err(|error| internal("no random numbers", error))?;
    let inbox = Inbox(u128::from_le_bytes(seed));
    let (to_driver, commands) = mpsc::unbounded_channel();
    let (from_store, news) = mpsc::unbounded_channel();
    let statistics = Arc::new(Statistics::default());
    let pulse = Arc::new(Pulse::new(clock));
    let room = Arc::new(Room::new());
    let ends = Ends {
        config: config.clone(),
        clock,
        address: Arc::clone(&address),
        statistics: Arc::clone(&statistics),
        pulse: Arc::clone(&pulse),
        room: Arc::clone(&room),
        commands: to_driver,
        news: from_store,
    };
    let makings =
        Makings { inbox, config, clock, address, statistics, pulse, room, commands, news };
    Ok((makings, ends))
}

/// Runs the work on a thread with a runtime. The channel that this returns closes when the work has
/// ended.
///
/// The work runs as a task. If the thread blocked on it directly, every answer of a store would
/// wake it by a write to the runtime's eventfd, even from the same thread.
fn on_a_thread(
    work: impl Future<Output = ()> + Send + 'static,
) -> Result<std_mpsc::Receiver<()>, StoreError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| internal("cannot start a runtime", error))?;
    let (over, is_over) = std_mpsc::channel();
    std::thread::Builder::new()
        .name("seinpaal-driver".into())
        .spawn(move || {
            let work = runtime.spawn(work);
            // An error is a panic, which the panic hook has reported.
            let _ = runtime.block_on(work);
            drop(runtime);
            // The channel closes last, because a thread that waits for it may then end the program.
            drop(over);
        })
        .map_err(|error| internal("cannot start a thread", error))?;
    Ok(is_over)
}

/// The settings of a session at this store.
fn fitting(config: SessionConfig, store: &dyn Store) -> SessionConfig {
    match store.longest_lease() {
        Some(longest) => config.within(longest),
        None => config,
    }
}

impl Makings {
    async fn serve(self, store: Arc<dyn Store>) {
        let config = fitting(self.config.clone(), &*store);
        let reading = store.first_reading();
        let address = Arc::clone(&self.address);
        let queues = QueueSessions::new(self.inbox, config.clone(), reading, self.clock, address);
        let mut session = Session::new(self.inbox, config);
        session.learn_clock(reading.shows, reading.asked_at);
        let room = Arc::clone(&self.room);
        Serving::new(room, Driver::new(session, queues, store, self)).run().await;
    }
}

impl Ends {
    fn handle(self, store: Arc<dyn Store>, is_over: Option<std_mpsc::Receiver<()>>) -> Arc<Handle> {
        Arc::new(Handle {
            config: fitting(self.config, &*store),
            commands: Some(self.commands),
            is_over: Mutex::new(is_over),
            store: Some(store),
            room: Some(self.room),
            clock: self.clock,
            address: self.address,
            statistics: self.statistics,
            pulse: self.pulse,
            requests: AtomicU64::new(0),
            is_closed: AtomicBool::new(false),
            process: std::process::id(),
        })
    }
}
