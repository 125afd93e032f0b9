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

pub(super) mod in_place;
mod queues;
mod vigil;

use std::{
    collections::BTreeSet,
    mem,
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use seinpaal_proto::{Batch, Inbox, Name, Replies, Snapshot, Wakeup, queue, time};

use super::{
    backlog::{Backlog, Need},
    bell::Bell,
    keeper::{AnswerTo, Keeper},
    line::WaitingHere,
    list,
    parts::Parts,
    turn::{Tell, Turn},
    watch::{QueuePosition, Watches, holders_to_watch},
    wire::{self, Message},
};
use seinpaal_store::{News, NewsSender, StoreError, Together, room::Room};
use vigil::{Ready, Vigil};

/// How often a client that waits looks whether those who hold are alive, whatever it is told.
const LOOK: Duration = Duration::from_secs(1);
/// How long a client that has become the first in line may take to watch the holders: often it is
/// served within that time.
const CALM: Duration = Duration::from_millis(2);
/// When nothing has been asked for so long, there is time to tidy up.
const IDLE: Duration = Duration::from_millis(100);
/// How often the dead are cleared away that nobody stumbles over.
const SWEEP_PAUSE: time::Micros = 300 * time::SECOND;
/// Names that a list reads at once: the log cannot begin anew while they are read.
const PAGE: usize = 500;
/// The most dead that one turn buries.
const MOST_BURIED: usize = 16;
/// The most files of each folder that a newcomer looks at, after what it came for.
const MOST_LOOKED_AT: usize = 64;

/// What the store is asked to do.
#[derive(Debug)]
pub(super) enum Job {
    Call { batch: Batch, answer: AnswerTo<Replies> },
    Together { batches: Vec<Batch>, answer: AnswerTo<Together> },
    List { prefix: String, answer: AnswerTo<Vec<(Name, Snapshot)>> },
    CallQueue { batch: queue::Batch, answer: AnswerTo<queue::Replies> },
    ListQueues { prefix: String, answer: AnswerTo<Vec<(Name, queue::Snapshot)>> },
}

#[derive(Debug)]
pub(super) struct Worker {
    parts: Parts,
    news: NewsSender,
    jobs: mpsc::Receiver<Job>,
    bell: Arc<Bell>,
    keeper: Keeper,
    backlog: Backlog,
    line: WaitingHere,
    watches: Watches,
    /// Sites to look at once `soon_at` has come.
    soon: Vec<QueuePosition>,
    soon_at: Option<Instant>,
    /// When to look at all sites where this client waits.
    look_at: Option<Instant>,
    /// How long until the next look where somebody could not be watched.
    retry: Duration,
    tidy_at: Option<Instant>,
    was_asked: bool,
    is_swept: bool,
    has_looked_around: bool,
    /// Whether the thread has begun.
    has_thread: bool,
    /// What a caller has left to be done about the log.
    owed: Need,
    /// Until when the thread sleeps if nothing wakes it; `None`: for good.
    sleeps_until: Option<Instant>,
}

impl Worker {
    pub(super) fn new(
        parts: Parts,
        news: NewsSender,
        jobs: mpsc::Receiver<Job>,
        bell: Arc<Bell>,
        keeper: Keeper,
    ) -> Self {
        let (line, watches) = (WaitingHere::default(), Watches::default());
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
            keeper,
            backlog,
            line,
            watches,
            soon: Vec::new(),
            soon_at: None,
            look_at: None,
            retry: CALM,
            tidy_at,
            was_asked: false,
            is_swept: false,
            has_looked_around: false,
            has_thread: false,
            owed: Need::Nothing,
            sleeps_until: tidy_at,
        }
    }

    /// What the thread does with a worker until the store is dropped, or a caller has panicked at work.
    pub(super) fn run(self, room: &Room<Self>) {
        room.open(self);
        Self::serve(room);
    }

    /// The same for a worker that is in the room already.
    pub(super) fn serve(room: &Room<Self>) {
        let mut ready = Ready::default();
        loop {
            let Some(mut worker) = room.enter() else { break };
            worker.has_thread = true;
            if !worker.go_on(&ready) {
                break;
            }
            let vigil = worker.begin_vigil();
            drop(worker);
            ready = vigil.keep();
        }
        drop(room.close());
    }

    /// The store is dropped, and the thread never began: clears away what the dead have left, as it would have, but
    /// waits for nobody.
    pub(super) fn part(&mut self) {
        if !self.was_asked || mem::replace(&mut self.has_looked_around, true) {
            return;
        }
        let dead = self.dead_among(MOST_LOOKED_AT);
        for some in dead.chunks(MOST_BURIED) {
            let bury =
                |turn: &mut Turn<'_>| some.iter().try_for_each(|inbox| turn.bury(*inbox)).map(Some);
            self.parts.try_turn(bury); // others will find them, too
        }
    }

    /// Whether there may be more to do, ever.
    fn go_on(&mut self, ready: &Ready) -> bool {
        if ready.hints {
            self.hear();
        }
        self.see_to_hung_up(&ready.hung_up);
        let owed = mem::replace(&mut self.owed, Need::Nothing);
        self.see_to_log(owed);
        if !self.work() {
            return false;
        }
        self.look_if_due();
        self.tidy_if_due();
        true
    }

    fn begin_vigil(&mut self) -> Vigil {
        self.sleeps_until = self.next_look();
        self.vigil()
    }

    fn vigil(&self) -> Vigil {
        Vigil {
            bell: Arc::clone(&self.bell),
            socket: self.parts.socket.fd(),
            connections: self.watches.connections(),
            until: self.sleeps_until,
        }
    }

    /// When to look at something without being told.
    fn next_look(&self) -> Option<Instant> {
        [self.soon_at, self.look_at, self.tidy_at].into_iter().flatten().min()
    }

    fn hear(&mut self) {
        for message in self.parts.socket.receive() {
            match message {
                Message::Wakeups(wakeups) => {
                    wakeups.into_iter().for_each(|wakeup| self.tell_wakeup(wakeup));
                }
                Message::Queue(wakeups) => self.pass_on_queue_wakeups(wakeups),
                Message::Watch(site) => self.look_soon(site),
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

    /// Whether there may be more to do, ever.
    fn work(&mut self) -> bool {
        loop {
            match self.jobs.try_recv() {
                Ok(job) => self.execute(job),
                Err(mpsc::TryRecvError::Empty) => {
                    if self.was_asked {
                        self.look_around();
                    }
                    return true;
                }
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

    fn see_to_log(&mut self, need: Need) {
        if need == Need::Nothing {
            return;
        }
        let under_way = self.keeper.write_back();
        if need == Need::WriteBackFirst {
            let _ = under_way.recv(); // nothing is ever sent: it ends when all is done
        }
        self.backlog.begin(self.parts.log_pages(), under_way);
    }

    fn note_that_it_was_asked(&mut self) {
        self.was_asked = true;
        self.tidy_at = Some(Instant::now() + IDLE);
    }

    /// An answer that nobody waits for any more is dropped; the batch was executed all the same.
    fn execute(&mut self, job: Job) {
        self.note_that_it_was_asked();
        match job {
            Job::Call { batch, answer } => {
                let _ = answer.send(self.call(&batch));
            }
            Job::Together { batches, answer } => {
                let together = self.turn(|turn| turn.call_together(&batches));
                let _ = answer.send(together.map(|(together, tell)| {
                    self.pass_on(tell);
                    together
                }));
            }
            Job::List { prefix, answer } => {
                let _ = answer.send(self.list(&prefix));
            }
            Job::CallQueue { batch, answer } => self.answer_queue(&batch, answer),
            Job::ListQueues { prefix, answer } => {
                let _ = answer.send(self.list_queues(&prefix));
            }
        }
    }

    fn call(&mut self, batch: &Batch) -> Result<Replies, StoreError> {
        let (replies, tell) = self.turn(|turn| turn.call(batch))?;
        let waits = self.line.note(batch, &replies);
        self.pass_on(tell);
        if waits && replies.replies.iter().any(is_queued) {
            self.look_soon(QueuePosition::Permits(batch.name.clone()));
        }
        Ok(replies)
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(Name, Snapshot)>, StoreError> {
        let mut found = Vec::new();
        let mut names = self.parts.read(|db| list::names(db, prefix))?.into_iter();
        loop {
            let page = names.by_ref().take(PAGE).map(|name| list::look(name, self.parts.me));
            let page: Vec<Batch> = page.collect();
            if page.is_empty() {
                return Ok(found);
            }
            for (batch, seen) in page.iter().zip(self.parts.glance(&page)?) {
                let replies = seen.map_or_else(|| self.inspect(batch), Ok)?;
                found.extend(list::shown(batch.name.clone(), replies));
            }
        }
    }

    fn inspect(&mut self, batch: &Batch) -> Result<Replies, StoreError> {
        let (replies, tell) = self.turn(|turn| turn.call(batch))?;
        self.pass_on(tell);
        Ok(replies)
    }

    /// What concerns this client's own tickets needs no datagram.
    fn pass_on(&mut self, tell: Tell) {
        let me = self.parts.me;
        let wakeups = tell.wakeups.into_iter().filter(|wakeup| wakeup.inbox == me);
        wakeups.for_each(|wakeup| self.tell_wakeup(wakeup));
        let wakeups = tell.queue_wakeups.into_iter();
        self.pass_on_queue_wakeups(wakeups.filter(|wakeup| wakeup.inbox == me).collect());
        for (_, site) in tell.watch.into_iter().filter(|(inbox, _)| *inbox == me) {
            self.look_soon(site);
        }
    }

    fn look_soon(&mut self, site: QueuePosition) {
        if !self.soon.contains(&site) {
            self.soon.push(site);
        }
        self.soon_at.get_or_insert_with(|| Instant::now() + CALM);
        self.look_at.get_or_insert_with(|| Instant::now() + LOOK);
    }

    fn look_if_due(&mut self) {
        let now = Instant::now();
        let mut sites = Vec::new();
        if self.soon_at.is_some_and(|at| at <= now) {
            self.soon_at = None;
            sites = mem::take(&mut self.soon);
        }
        let looks_at_all = self.look_at.is_some_and(|at| at <= now);
        if looks_at_all {
            self.look_at = None;
            sites = self.line.sites();
        }
        sites.iter().for_each(|site| self.look_at_holders(site));
        if looks_at_all && self.has_somebody_to_watch() {
            self.look_at = Some(now + LOOK);
        }
    }

    /// An idle worker looks again only while somebody works: it is told when somebody begins.
    fn has_somebody_to_watch(&self) -> bool {
        self.line.waits_for_permits() || self.line.sites().iter().any(|site| self.watches.has(site))
    }

    /// Watches those who hold where this client is among the first in line, and buries the dead.
    fn look_at_holders(&mut self, site: &QueuePosition) {
        let holders = match self.parts.read(|db| holders_to_watch(db, site, self.parts.me)) {
            Ok(holders) => holders,
            Err(error) => {
                return tracing::debug!(target: crate::TARGET, %error, "the holders could not be looked at");
            }
        };
        // Connected first, tested then: a death between the two is told by the connection.
        let missed = self.watches.set(site, holders.clone(), &self.parts.presences);
        let is_dead = |inbox: &Inbox| self.parts.presences.is_dead(*inbox);
        let (dead, alive): (Vec<_>, Vec<_>) = holders.into_iter().partition(is_dead);
        self.try_again(site, alive.iter().filter(|inbox| missed.contains(inbox)));
        self.bury(&dead);
    }

    /// Looks again soon where somebody lives and cannot be watched: either there is no room for more, or it is about
    /// to end, or another process lives on in its place.
    fn try_again<'a>(&mut self, site: &QueuePosition, missed: impl Iterator<Item = &'a Inbox>) {
        let accept = wire::encode_accept();
        if missed.map(|inbox| self.parts.socket.send(*inbox, &accept)).count() == 0 {
            self.retry = CALM;
            return;
        }
        self.soon.push(site.clone());
        self.soon_at.get_or_insert_with(|| Instant::now() + self.retry);
        self.retry = LOOK.min(2 * self.retry);
    }

    /// A connection that hung up is no proof: a child of that process may hold on.
    fn see_to_hung_up(&mut self, hung_up: &[Inbox]) {
        let sites = self.watches.take_hung_up(hung_up);
        self.bury(hung_up);
        sites.into_iter().for_each(|site| self.look_soon(site));
    }

    fn bury(&mut self, dead: &[Inbox]) {
        for some in dead.chunks(MOST_BURIED) {
            let buried = self.turn(|turn| some.iter().try_for_each(|inbox| turn.bury(*inbox)));
            match buried {
                Ok(((), tell)) => self.pass_on(tell),
                Err(error) => {
                    tracing::warn!(target: crate::TARGET, %error, "the dead could not be cleared away");
                }
            }
        }
    }

    fn tidy_if_due(&mut self) {
        if self.tidy_at.is_none_or(|at| at > Instant::now()) {
            return;
        }
        self.tidy_at = None;
        let need = self.backlog.note_idle(self.parts.log_pages());
        self.see_to_log(need);
        self.look_around();
        if !self.is_swept {
            self.is_swept = true;
            self.sweep();
        }
    }

    /// Clears away what the dead have left, as far as one newcomer comes: so programs that come and go leave no
    /// more behind than those that were killed last.
    fn look_around(&mut self) {
        if mem::replace(&mut self.has_looked_around, true) {
            return;
        }
        let dead = self.dead_among(MOST_LOOKED_AT);
        self.bury(&dead);
    }

    /// The dead that have a file, of the first `most` of each folder.
    fn dead_among(&self, most: usize) -> Vec<Inbox> {
        let (presences, socket) = (&self.parts.presences, &self.parts.socket);
        let files: BTreeSet<Inbox> =
            presences.all().take(most).chain(socket.all().take(most)).collect();
        let is_dead = |inbox: &Inbox| *inbox != self.parts.me && presences.is_dead(*inbox);
        files.into_iter().filter(is_dead).collect()
    }

    fn sweep(&mut self) {
        if !matches!(self.turn(|turn| turn.take_sweep(SWEEP_PAUSE)), Ok((true, _))) {
            return;
        }
        let dead = self.dead_among(usize::MAX);
        self.bury(&dead);
        self.forget_queues();
    }
}

fn is_queued(reply: &seinpaal_proto::Reply) -> bool {
    matches!(reply, seinpaal_proto::Reply::Queued { .. })
}
