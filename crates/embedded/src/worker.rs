//! The one thread of a store. It owns the connection, executes batches, hears what it is told and
//! notices who dies.
//!
//! ```text
//!            jobs + bell ──┐
//!   inbox socket (hints) ──┼──▶ poll ──▶ turn inside the gate ──▶ replies, wakeups, datagrams
//!     hang-ups (deaths)  ──┘                    ▲
//!                         a caller, in place ───┘
//! ```
//!
//! While it polls, a caller may execute a batch with what is the thread's (`in_place.rs`).

mod dead;
mod examine;
pub(super) mod in_place;
mod jobs;
mod looks;
mod queues;
mod vigil;

use std::{
    mem,
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use seinpaal_proto::Wakeup;

use super::{
    backlog::{Backlog, LogNeed},
    bell::Bell,
    disk::DiskThread,
    line::WaitingHere,
    parts::Parts,
    turn::{Tell, Turn},
    watch::HolderWatches,
    wire::Message,
};
pub(super) use jobs::StoreJob;
use looks::DueLooks;
use seinpaal_store::{News, NewsSender, StoreError, room::Room};
use vigil::{PolledDescriptors, Ready};

/// When nothing has been asked for so long, there is time to tidy up.
const IDLE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct StoreThread {
    parts: Parts,
    news: NewsSender,
    jobs: mpsc::Receiver<StoreJob>,
    bell: Arc<Bell>,
    disk_thread: DiskThread,
    backlog: Backlog,
    line: WaitingHere,
    watches: HolderWatches,
    looks: DueLooks,
    tidy_at: Option<Instant>,
    was_asked: bool,
    is_swept: bool,
    has_looked_around: bool,
    /// Whether the thread has begun.
    has_thread: bool,
    /// The work on the log that a caller has left over.
    owed: LogNeed,
    /// Until when the thread sleeps if nothing wakes it; `None`: for good.
    sleeps_until: Option<Instant>,
}

impl StoreThread {
    pub(super) fn new(
        parts: Parts,
        news: NewsSender,
        jobs: mpsc::Receiver<StoreJob>,
        bell: Arc<Bell>,
        disk_thread: DiskThread,
    ) -> Self {
        let (line, watches) = (WaitingHere::default(), HolderWatches::default());
        let tidy_at = Some(Instant::now() + IDLE);
        let backlog = match parts.keeps_index {
            true => Backlog::of_one_that_keeps_the_index(),
            false => Backlog::default(),
        };
        Self {
            parts,
            news,
            jobs,
            bell,
            disk_thread,
            backlog,
            line,
            watches,
            looks: DueLooks::default(),
            tidy_at,
            was_asked: false,
            is_swept: false,
            has_looked_around: false,
            has_thread: false,
            owed: LogNeed::Nothing,
            sleeps_until: tidy_at,
        }
    }

    /// The thread's loop over a worker, until the store is dropped, or a caller has panicked at
    /// work.
    pub(super) fn run(self, room: &Room<Self>) {
        room.open(self);
        Self::serve(room);
    }

    /// As above, for a worker that is in the room already.
    pub(super) fn serve(room: &Room<Self>) {
        let mut ready = Ready::default();
        loop {
            let Some(mut worker) = room.enter() else { break };
            worker.has_thread = true;
            if !worker.go_on(&ready) {
                break;
            }
            // The room is left before the wait, so that callers can execute their batches
            // meanwhile.
            let vigil = worker.begin_vigil();
            drop(worker);
            ready = vigil.keep();
        }
        drop(room.close());
    }

    /// Returns whether there may be more to do, ever.
    fn go_on(&mut self, ready: &Ready) -> bool {
        if ready.hints {
            self.hear();
        }
        // Before the jobs: what the dead held is free when the next request is executed.
        self.see_to_hung_up(&ready.hung_up);
        let owed = mem::replace(&mut self.owed, LogNeed::Nothing);
        self.see_to_log(owed);
        if !self.work() {
            return false;
        }
        self.look_if_due();
        self.tidy_if_due();
        true
    }

    fn begin_vigil(&mut self) -> PolledDescriptors {
        self.sleeps_until = self.next_look();
        self.vigil()
    }

    fn vigil(&self) -> PolledDescriptors {
        PolledDescriptors {
            bell: Arc::clone(&self.bell),
            socket: self.parts.socket.fd(),
            connections: self.watches.connections(),
            until: self.sleeps_until,
        }
    }

    /// When to look at something without being told.
    fn next_look(&self) -> Option<Instant> {
        [self.looks.soon_at, self.looks.all_at, self.tidy_at].into_iter().flatten().min()
    }

    fn hear(&mut self) {
        for message in self.parts.socket.receive() {
            match message {
                Message::Wakeups(wakeups) => {
                    wakeups.into_iter().for_each(|wakeup| self.tell_wakeup(wakeup));
                }
                Message::Queue(wakeups) => self.pass_on_queue_wakeups(wakeups),
                Message::Watch(line_of) => self.look_soon(line_of),
                Message::LookAgain => self.tell(News::LookAgain),
                Message::Accept => self.parts.watchers.accept(),
            }
        }
    }

    fn tell_wakeup(&mut self, wakeup: Wakeup) {
        self.line.note_wakeup(&wakeup);
        self.tell(News::Wakeup(wakeup));
    }

    fn tell(&self, news: News) {
        // Nobody is left to be told when the session has gone before the store.
        let _ = self.news.send(news);
    }

    /// Returns whether there may be more to do, ever.
    fn work(&mut self) -> bool {
        loop {
            match self.jobs.try_recv() {
                Ok(job) => self.execute(job),
                Err(mpsc::TryRecvError::Empty) => {
                    // Only now that no caller waits: burials take turns of their own.
                    if self.was_asked {
                        self.look_around();
                    }
                    return true;
                }
                // The store was dropped, and with it the only sender.
                Err(mpsc::TryRecvError::Disconnected) => return false,
            }
        }
    }

    /// One step inside the gate. Outside again, the log is looked after.
    fn turn<T>(
        &mut self,
        work: impl FnMut(&mut Turn<'_>) -> rusqlite::Result<T>,
    ) -> Result<(T, Tell), StoreError> {
        let done = self.parts.turn(work)?;
        let need = self.backlog.note(self.parts.log_pages());
        self.see_to_log(need);
        Ok(done)
    }

    fn see_to_log(&mut self, need: LogNeed) {
        if need == LogNeed::Nothing {
            return;
        }
        let under_way = self.disk_thread.write_back();
        if need == LogNeed::WriteBackFirst {
            let _ = under_way.recv(); // nothing is ever sent: it ends when all is done
        }
        self.backlog.begin(self.parts.log_pages(), under_way);
    }

    /// News about this client's own tickets need no datagram.
    fn pass_on(&mut self, tell: Tell) {
        let me = self.parts.me;
        let wakeups = tell.wakeups.into_iter().filter(|wakeup| wakeup.inbox == me);
        wakeups.for_each(|wakeup| self.tell_wakeup(wakeup));
        let wakeups = tell.queue_wakeups.into_iter();
        self.pass_on_queue_wakeups(wakeups.filter(|wakeup| wakeup.inbox == me).collect());
        for (_, line_of) in tell.watch.into_iter().filter(|(inbox, _)| *inbox == me) {
            self.look_soon(line_of);
        }
    }
}
