//! The hub of a memory store, which its clients share: the names, the inboxes and the clock.

mod queues;

use std::{
    collections::BTreeMap,
    convert::Infallible,
    ops::Bound,
    sync::{Arc, Mutex, MutexGuard},
};

use seinpaal_proto::{
    Batch, Contact, Contacts, Inbox, MemoryState, Name, Replies, Reply, Request, Snapshot, Wakeup,
    execute, queue, time::Micros,
};

use tokio::sync::watch;

use crate::{
    Certainty, Examination, News, NewsSender, Reading, StoreError, StoreErrorKind, Together,
    boottime::ClientClock,
    clock::Clock,
    examination::{found, found_in_queue, found_in_state, look_at, look_at_queue},
    together,
};

/// The number of idle names that each call looks at. A call makes at most one name, so two are
/// enough to keep up.
const SWEEP: usize = 2;
/// The most waiters in a listed snapshot.
const LISTED_WAITERS: u32 = 64;

/// The "server" of a memory store. All clients that open the same hub share its names.
#[derive(Debug)]
pub struct MemoryHub {
    clock: Clock,
    /// The system's clock at the start, and the reading of the hub's own clock at that moment.
    born: (Micros, Micros),
    runs_by: ClientClock,
    inner: Mutex<HubState>,
    is_silent: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct HubState {
    names: BTreeMap<Name, MemoryState>,
    queues: BTreeMap<Name, queue::MemoryQueue>,
    inboxes: Inboxes,
    swept: Option<Name>,
    swept_queue: Option<Name>,
}

#[derive(Debug, Default)]
struct Inboxes(BTreeMap<Inbox, HubListener>);

#[derive(Debug)]
struct HubListener {
    news: NewsSender,
    hears: bool,
}

/// The hubs of this process, by label. A hub stays when its last client is gone, because limits and
/// pauses that are set there are meant to stay.
static HUBS: Mutex<BTreeMap<String, Arc<MemoryHub>>> = Mutex::new(BTreeMap::new());

impl MemoryHub {
    /// Makes a hub that nobody else can reach.
    #[must_use]
    pub fn new(clock: Clock) -> Arc<Self> {
        Self::running_by(ClientClock::Machine, clock)
    }

    /// Makes a hub whose clock a test may pause.
    #[doc(hidden)]
    #[must_use]
    pub fn running_by(runs_by: ClientClock, clock: Clock) -> Arc<Self> {
        let born = (clock.now(), runs_by.now());
        Arc::new(Self {
            clock,
            born,
            runs_by,
            inner: Mutex::default(),
            is_silent: watch::Sender::new(false),
        })
    }

    /// Leaves all calls without an answer, or answers again: those that wait, and all later ones.
    /// For tests of what a program does while its store is silent.
    pub fn set_silent(&self, is_silent: bool) {
        self.is_silent.send_replace(is_silent);
    }

    pub(super) fn is_silent(&self) -> bool {
        *self.is_silent.borrow()
    }

    /// Waits until the hub answers.
    pub(super) async fn until_heard(&self) {
        // The sender is part of the hub, so the channel is open.
        let _ = self.is_silent.subscribe().wait_for(|is_silent| !is_silent).await;
    }

    /// Returns the hub that this process knows by `label`. The URL `memory:` has the empty label,
    /// `memory:LABEL` another one.
    #[must_use]
    pub fn process(label: &str) -> Arc<Self> {
        // The map is whole even after a panic: an entry is either there or not.
        let mut hubs = HUBS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let hub = hubs.entry(label.to_owned()).or_insert_with(|| Self::new(Clock::System));
        Arc::clone(hub)
    }

    /// Takes a client's subscription away, or gives it back, as a broken connection would. For
    /// tests.
    #[doc(hidden)]
    pub fn set_hears(&self, inbox: Inbox, hears: bool) {
        let Ok(mut inner) = self.lock() else { return };
        if let Some(listener) = inner.inboxes.0.get_mut(&inbox) {
            listener.hears = hears;
            if hears {
                listener.tell(News::LookAgain);
            }
        }
    }

    /// Returns how many names the hub stores.
    #[cfg(test)]
    pub(super) fn names(&self) -> usize {
        self.lock().map_or(0, |inner| inner.names.len())
    }

    pub(super) fn register(&self, inbox: Inbox, news: NewsSender) {
        if let Ok(mut inner) = self.lock() {
            inner.inboxes.0.insert(inbox, HubListener { news, hears: true });
        }
    }

    /// Ends the leases of a client that is gone, and serves the waiters behind them.
    pub(super) fn bury(&self, inbox: Inbox) {
        if let Ok(mut inner) = self.lock() {
            let now = self.now(); // under the lock, as in `call`
            // The inbox is removed first, because the ledger must find the client dead when it
            // grants the client's permits to others.
            inner.inboxes.0.remove(&inbox);
            inner.end_leases(inbox, now);
            inner.end_deliveries(inbox, now);
        }
    }

    pub(super) fn call(&self, batch: &Batch) -> Result<Replies, StoreError> {
        let mut inner = self.lock()?;
        // The clock is read under the lock, so that it never runs backwards from one batch to the
        // next.
        let now = self.now();
        let replies = inner.execute(now, batch);
        inner.sweep(now);
        Ok(replies)
    }

    pub(super) fn call_together(&self, batches: &[Batch]) -> Result<Together, StoreError> {
        let mut inner = self.lock()?;
        let now = self.now();
        let Ok(together) =
            together::execute(batches, |batch| Ok::<_, Infallible>(inner.execute(now, batch)));
        Ok(together)
    }

    pub(super) fn list(&self, prefix: &str) -> Result<Vec<(Name, Snapshot)>, StoreError> {
        let mut inner = self.lock()?;
        let now = self.now();
        Ok(inner.names_from(prefix).filter_map(|name| inner.listed(now, name)).collect())
    }

    pub(super) fn examine(&self, most: usize) -> Result<Examination, StoreError> {
        let (mut inner, now) = (self.lock()?, self.now());
        let mut examination = Examination::default();
        for name in inner.names.keys().cloned().collect::<Vec<_>>() {
            if examination.is_full(most) {
                return Ok(examination);
            }
            let found = inner.found_at(now, &name);
            examination.take(&name, None, Ok(found))?;
        }
        for name in inner.queues.keys().cloned().collect::<Vec<_>>() {
            if examination.is_full(most) {
                break;
            }
            let replies = inner.execute_queue(now, &look_at_queue(&name));
            examination.take_queue(&name, Ok(found_in_queue(&replies)))?;
        }
        Ok(examination)
    }

    /// Returns the hub's time. It starts at the system's clock, and then runs by a clock that
    /// nobody can set.
    pub(super) fn now(&self) -> Micros {
        match &self.clock {
            Clock::System => self.born.0 + self.runs_by.now().saturating_sub(self.born.1),
            Clock::Manual(_) => self.clock.now(),
        }
    }

    /// Returns a reading of the clock, with the clients' time at which it was made.
    pub(super) fn reading(&self) -> Reading {
        // The clients' clock is read first, so that its instant lies before the reading of the
        // store's clock.
        let asked_at = self.runs_by.now();
        Reading { shows: self.now(), asked_at }
    }

    fn lock(&self) -> Result<MutexGuard<'_, HubState>, StoreError> {
        self.inner.lock().map_err(|_| {
            let what = "the memory store broke in an earlier call; please report that call's panic";
            StoreError::new(StoreErrorKind::Internal, Certainty::NotExecuted, what)
        })
    }
}

impl HubState {
    fn execute(&mut self, now: Micros, batch: &Batch) -> Replies {
        let state = self.names.entry(batch.name.clone()).or_default();
        let Ok(outcome) = execute(state, &mut self.inboxes, now, batch);
        if state.is_empty() {
            self.names.remove(&batch.name);
        }
        // The hub's lock is still held, so that news are sent in the order of the steps that cause
        // them.
        for wakeup in outcome.wakeups {
            self.inboxes.wake(wakeup);
        }
        outcome.replies
    }

    fn found_at(&mut self, now: Micros, name: &Name) -> Vec<String> {
        let in_state = self.names.get(name).map(found_in_state).unwrap_or_default();
        match in_state.is_empty() {
            true => found(&self.execute(now, &look_at(name))),
            false => in_state,
        }
    }

    fn settle(&mut self, now: Micros, name: Name) -> Replies {
        self.execute(now, &Batch { name, inbox: None, fence_seen: 0, requests: Vec::new() })
    }

    fn end_leases(&mut self, inbox: Inbox, now: Micros) {
        let names = self.names.iter_mut();
        let touched = names.filter_map(|(name, state)| state.end_leases_of(inbox).then_some(name));
        for name in touched.cloned().collect::<Vec<_>>() {
            // One step of the ledger does a bounded amount of work (rule 18).
            while self.settle(now, name.clone()).backlog {}
        }
    }

    /// Removes idle names with nothing left to remember (rule 12), even if nobody ever asks for
    /// them again.
    fn sweep(&mut self, now: Micros) {
        for _ in 0..SWEEP {
            // At the end of the names the next call begins at the first one again.
            let after = self.swept.take().map_or(Bound::Unbounded, Bound::Excluded);
            let next = self.names.range_mut((after, Bound::Unbounded)).next();
            let Some((name, state)) = next else { return };
            let (name, at_rest) = (name.clone(), state.is_at_rest());
            if at_rest {
                self.settle(now, name.clone());
            }
            self.swept = Some(name);
        }
    }

    fn names_from(&self, prefix: &str) -> impl Iterator<Item = Name> + use<> {
        // An empty prefix is no name, and neither is one that is too long. Then all names are
        // looked at.
        let from = Name::new(prefix).map_or(Bound::Unbounded, Bound::Included);
        let names = self.names.range((from, Bound::Unbounded)).map(|(name, _)| name);
        let names = names.take_while(|name| name.as_str().starts_with(prefix));
        names.cloned().collect::<Vec<_>>().into_iter()
    }

    fn listed(&mut self, now: Micros, name: Name) -> Option<(Name, Snapshot)> {
        let requests = vec![Request::Inspect { rows: LISTED_WAITERS }];
        let batch = Batch { name, inbox: None, fence_seen: 0, requests };
        let Reply::Snapshot(mut snapshot) = self.execute(now, &batch).replies.pop()? else {
            return None;
        };
        snapshot.holders.clear();
        snapshot.is_worth_listing().then_some((batch.name, snapshot))
    }
}

impl Inboxes {
    fn wake(&self, wakeup: Wakeup) {
        self.tell(wakeup.inbox, News::Wakeup(wakeup));
    }

    fn tell(&self, inbox: Inbox, news: News) {
        if let Some(listener) = self.0.get(&inbox).filter(|listener| listener.hears) {
            listener.tell(news);
        }
    }
}

impl Contacts for Inboxes {
    fn contact(&mut self, inbox: Inbox) -> Contact {
        match self.0.get(&inbox) {
            None => Contact::Dead,
            Some(HubListener { hears: false, .. }) => Contact::Silent,
            Some(_) => Contact::Listening,
        }
    }
}

impl HubListener {
    fn tell(&self, news: News) {
        // The client has dropped its receiver before its store, so it does not listen any more.
        let _ = self.news.send(news);
    }
}
