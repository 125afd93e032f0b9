//! Opening a store: on the caller's thread if no other client is in the way, or else on a thread of
//! its own.

use std::{
    path::{Path, PathBuf},
    process,
    sync::{Arc, atomic::AtomicBool, mpsc},
    time::Duration,
};

use seinpaal_proto::Inbox;
use seinpaal_store::{Certainty, NewsSender, Reading, StoreError, clock::Clock, room::Room};
use tokio::sync::oneshot;

use super::{
    EmbeddedStore, LOOK, TARGET,
    bell::Bell,
    disk::{Disk, DiskThread, WatchedDisk},
    gate::GateWait,
    log::LogOnDisk,
    open_options::OpenOptions,
    parts::{Parts, Signs},
    stay::Stay,
    thread_is_gone, thread_of_store, trouble,
    worker::{StoreJob, StoreThread},
};

/// How long a store that was opened without a thread stays without one. The thread handles events
/// that other clients cause, and most commands that end sooner would only wait for it.
const ALONE: Duration = Duration::from_millis(20);

type Opened = Result<(Signs, Reading), StoreError>;

impl EmbeddedStore {
    /// Opens the store as [`open`](Self::open) does, with options for tests.
    ///
    /// # Errors
    /// As with [`open`](Self::open).
    #[doc(hidden)]
    pub fn open_with(
        dir: &Path,
        options: OpenOptions,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        let (tell, opened) = mpsc::channel();
        let tell = move |done| tell.send(done).is_ok();
        let opening = OpeningStore::begin(dir, options, inbox, news, tell)?;
        let done = is_opened(&opened, &opening.wait)?;
        Ok(opening.end(done, true))
    }

    /// Opens the store on the caller's thread if that needs no waiting, or else by a thread of its
    /// own.
    pub(super) async fn open_for(
        stay: Stay,
        dir: &Path,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        if let Some(store) = Self::open_alone(stay, dir, inbox, &news) {
            store.start_soon();
            return Ok(store);
        }
        let (tell, mut opened) = oneshot::channel();
        let tell = move |done| tell.send(done).is_ok();
        let opening = OpeningStore::begin(dir, OpenOptions::default(), inbox, news, tell)?;
        loop {
            match tokio::time::timeout(LOOK, &mut opened).await {
                Ok(Ok(done)) => return Ok(opening.end(done?, true)),
                Ok(Err(_)) => return Err(thread_is_gone(false)),
                Err(_) => opening.wait.trouble(Certainty::NotExecuted).map_or(Ok(()), Err)?,
            }
        }
    }

    /// Gives the store a thread, if the store is still open by then.
    fn start_soon(self: &Arc<Self>) {
        // The reference is weak, so that a command that is done sooner is not kept open for a
        // thread that it does not need.
        let soon = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(ALONE).await;
            if let Some(Err(error)) = soon.upgrade().map(|store| store.start()) {
                tracing::warn!(target: TARGET, %error, "the store has no thread");
            }
        });
    }

    /// Opens the store on this thread. `None`: opening would have to wait, or would fail.
    fn open_alone(stay: Stay, dir: &Path, inbox: Inbox, news: &NewsSender) -> Option<Arc<Self>> {
        let (bell, wait) = (Arc::new(Bell::new().ok()?), Arc::new(GateWait::new(dir)));
        let (parts, signs) = Parts::try_open(dir, Clock::System, inbox, Arc::clone(&wait), stay)?;
        let disk_thread =
            DiskThread::new(dir, Box::new(LogOnDisk::new(parts.database().to_owned())));
        let (jobs, inside) = mpsc::channel();
        // The clock is read here, because the room owns the parts afterwards.
        let first_reading = parts.read_clock();
        let room = Arc::new(Room::new());
        room.open(StoreThread::new(parts, news.clone(), inside, Arc::clone(&bell), disk_thread));
        let opening = OpeningStore { place: dir.to_owned(), jobs, room, bell, wait, stay };
        Some(opening.end((signs, first_reading), false))
    }
}

/// A store that is being opened, by its own thread or by the caller's.
struct OpeningStore {
    place: PathBuf,
    jobs: mpsc::Sender<StoreJob>,
    room: Arc<Room<StoreThread>>,
    bell: Arc<Bell>,
    wait: Arc<GateWait>,
    stay: Stay,
}

impl OpeningStore {
    /// Starts the thread. The thread reports the result of the opening, and goes on if somebody has
    /// received it.
    fn begin(
        dir: &Path,
        options: OpenOptions,
        inbox: Inbox,
        news: NewsSender,
        tell: impl FnOnce(Opened) -> bool + Send + 'static,
    ) -> Result<Self, StoreError> {
        let bell = Arc::new(Bell::new().map_err(trouble::at(dir))?);
        let wait = Arc::new(GateWait::new(dir));
        let (jobs, inside) = mpsc::channel();
        let room = Arc::new(Room::new());
        let place_of_work = Arc::clone(&room);
        let (place, waits, rung) = (dir.to_owned(), Arc::clone(&wait), Arc::clone(&bell));
        let OpenOptions { clock, sync, on_connection, looks_only_when_told } = options;
        let live = move || match Parts::open(&place, clock, inbox, waits) {
            Ok((mut parts, signs)) => {
                if let Some(on_connection) = on_connection {
                    on_connection(parts.connection());
                }
                let disk: Box<dyn Disk> = match sync {
                    Some(sync) => Box::new(WatchedDisk(sync)),
                    None => Box::new(LogOnDisk::new(parts.database().to_owned())),
                };
                let disk_thread = DiskThread::new(&place, disk);
                // If the caller has given up waiting, the signs are dropped with the channel.
                if tell(Ok((signs, parts.read_clock()))) {
                    let mut thread = StoreThread::new(parts, news, inside, rung, disk_thread);
                    thread.look_only_when_told(looks_only_when_told);
                    thread.run(&place_of_work);
                }
            }
            // A caller that has given up needs no error.
            Err(error) => drop(tell(Err(error))),
        };
        thread_of_store().spawn(live).map_err(trouble::at(dir))?;
        let stay = Stay::UntilDropped;
        Ok(Self { place: dir.to_owned(), jobs, room, bell, wait, stay })
    }

    fn end(self, (signs, first_reading): (Signs, Reading), is_started: bool) -> Arc<EmbeddedStore> {
        let Self { place, jobs, room, bell, wait, stay } = self;
        let (jobs, room, process) = (Some(jobs), Some(room), process::id());
        let is_started = AtomicBool::new(is_started);
        Arc::new(EmbeddedStore {
            place,
            signs,
            jobs,
            room,
            bell,
            wait,
            first_reading,
            process,
            is_started,
            stay,
        })
    }
}

/// Waits until the thread has opened everything, or stands at the gate for too long.
fn is_opened(opened: &mpsc::Receiver<Opened>, wait: &GateWait) -> Opened {
    loop {
        match opened.recv_timeout(LOOK) {
            Ok(opened) => return opened,
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err(thread_is_gone(false)),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                wait.trouble(Certainty::NotExecuted).map_or(Ok(()), Err)?;
            }
        }
    }
}
