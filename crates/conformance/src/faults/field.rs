//! Clients that come and go at a few names, and a judge who looks at each grant.

use std::{
    ops::Deref,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use seinpaal::{Permit, Seinpaal, Semaphore};
use seinpaal_rig::until;
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{
    draws::Draws,
    load::{HeldPermit, Load, Pace},
    tally::Tally,
};

/// How often clients are asked to end, and a holder looks whether it still holds.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How long a client that is to take nothing rests before it asks again whether that is so.
const QUIET_FOR: Duration = Duration::from_millis(1);

/// Where the clients are.
#[derive(Debug)]
pub struct Field {
    load: Load,
    state: Mutex<State>,
    draws: Draws,
    is_over: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    pace: Pace,
    /// What each client has in hand.
    hands: Vec<Option<Permit>>,
    /// When each client first got a permit since [`Field::mark`].
    first: Vec<Option<Instant>>,
    /// When each permit was granted.
    grants: Vec<Instant>,
    /// What was held, and given back or lost.
    ended: Vec<HeldPermit>,
    tally: Tally,
}

/// A field with its clients at work.
#[derive(Debug)]
pub struct Busy {
    field: Arc<Field>,
    clients: thread::JoinHandle<()>,
}

impl Deref for Busy {
    type Target = Field;

    fn deref(&self) -> &Field {
        &self.field
    }
}

impl Busy {
    /// Lets all clients work at the store with this URL.
    #[must_use]
    pub fn start(load: Load, url: &str) -> Self {
        let field = Arc::new(Field::new(load));
        let (theirs, url) = (Arc::clone(&field), url.to_owned());
        Self { field, clients: thread::spawn(move || theirs.populate(&url)) }
    }

    /// Ends the work of all clients: what they saw, and each permit that one of them gave back or lost.
    ///
    /// # Panics
    /// If a client did.
    #[must_use]
    pub fn end(self) -> (Tally, Vec<HeldPermit>) {
        self.field.is_over.store(true, Ordering::SeqCst);
        self.clients.join().expect("the clients end");
        let mut state = self.field.lock();
        (state.tally, std::mem::take(&mut state.ended))
    }
}

impl Field {
    fn new(load: Load) -> Self {
        let mut state = State::default();
        state.hands.resize_with(load.clients, || None);
        state.first.resize(load.clients, None);
        let draws = Draws::new(load.seed);
        Self { load, state: Mutex::new(state), draws, is_over: AtomicBool::new(false) }
    }

    /// What the clients have seen so far.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.lock().tally
    }

    /// A number below `end`, from the seed of the run.
    #[must_use]
    pub fn draw(&self, end: u64) -> u64 {
        self.draws.next() % end
    }

    /// Sets how clients behave from now on.
    pub fn set_pace(&self, pace: Pace) {
        self.lock().pace = pace;
    }

    /// The clients at names that `is_meant` picks by their numbers.
    pub fn clients_at(&self, is_meant: impl Fn(usize) -> bool) -> Vec<usize> {
        (0..self.load.clients).filter(|client| is_meant(self.name_of(*client))).collect()
    }

    /// Forgets who had a permit when. What [`until_all_had_one`](Self::until_all_had_one) measures begins now.
    #[must_use]
    pub fn mark(&self) -> Instant {
        let mut state = self.lock();
        state.first.fill(None);
        Instant::now()
    }

    /// Waits until each of these clients has had a permit since the last [`mark`](Self::mark), and says when each
    /// had its first.
    ///
    /// # Panics
    /// If that takes more than a minute.
    #[must_use]
    pub fn until_all_had_one(&self, clients: &[usize]) -> Vec<Instant> {
        let mut firsts = Vec::new();
        until("every client has had a permit", || {
            let state = self.lock();
            let found: Option<Vec<_>> = clients.iter().map(|client| state.first[*client]).collect();
            found.map(|found| firsts = found).is_some()
        });
        firsts
    }

    /// Waits for so many more grants.
    ///
    /// # Panics
    /// If that takes more than a minute.
    pub fn until_grants(&self, more: u64) {
        let now = self.tally().grants;
        until("some more grants", || self.tally().grants >= now + more);
    }

    /// Waits until nobody has anything in hand.
    ///
    /// # Panics
    /// If that takes more than a minute.
    pub fn until_nobody_holds(&self) {
        until("nobody holds anything", || self.lock().hands.iter().all(Option::is_none));
    }

    /// Waits for so many grants after `since`, and says how long the longest time without one was.
    ///
    /// # Panics
    /// If that takes more than a minute.
    #[must_use]
    pub fn longest_pause(&self, since: Instant, grants: usize) -> Duration {
        let before = self.lock().grants.partition_point(|at| *at < since);
        until("some more grants", || self.lock().grants.len() >= before + grants);
        let (mut last, mut longest) = (since, Duration::ZERO);
        for at in &self.lock().grants[before..before + grants] {
            longest = longest.max(at.saturating_duration_since(last));
            last = last.max(*at);
        }
        longest
    }

    /// Lets all clients work until it is over.
    fn populate(self: Arc<Self>, url: &str) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let mut tasks = JoinSet::new();
            for client in 0..self.load.clients {
                tasks.spawn(Arc::clone(&self).come_and_go(client, url.to_owned()));
            }
            while !self.is_over.load(Ordering::SeqCst) {
                let ended = timeout(LOOK_EVERY, tasks.join_next()).await;
                assert!(ended.is_err(), "a client ended: {ended:?}");
            }
            tasks.shutdown().await;
            self.give_all_back().await;
        });
    }

    /// Whatever is still in hand at the end is given back here, since its holder is stopped.
    async fn give_all_back(&self) {
        for client in 0..self.load.clients {
            if let Some(permit) = self.take_from(client) {
                let _ = permit.release().await; // that it was lost is in the tally already
            }
        }
    }

    async fn come_and_go(self: Arc<Self>, client: usize, url: String) {
        let mut builder = Seinpaal::builder(&url);
        if let Some(ttl) = self.load.ttl {
            builder = builder.ttl(ttl);
        }
        let seinpaal = builder.connect().await.expect("a connection");
        let (name, limit) = &self.load.names[self.name_of(client)];
        let semaphore = seinpaal.semaphore(name).limit(*limit);
        loop {
            if self.lock().pace == Pace::Quiet {
                sleep(QUIET_FOR).await;
                continue;
            }
            self.visit(client, &semaphore).await;
            sleep(self.up_to(self.load.rest)).await;
        }
    }

    async fn visit(&self, client: usize, semaphore: &Semaphore) {
        let asked = Instant::now();
        let acquire = semaphore.acquire();
        let acquired = match self.load.wait {
            Some(wait) => acquire.timeout(wait).await,
            None => acquire.await,
        };
        let Ok(permit) = acquired else {
            self.lock().tally.errors += 1;
            return;
        };
        let mut held = HeldPermit {
            ticket: permit.ticket(),
            slot: permit.slot(),
            fence: permit.fence().0,
            asked,
            from: Instant::now(),
            until: Instant::now(),
            was_lost: false,
        };
        self.give_to(client, permit);
        (held.until, held.was_lost) = self.hold(client).await;
        let Some(permit) = self.take_from(client) else { return };
        let released = permit.release().await;
        let mut state = self.lock();
        state.tally.errors += u64::from(released.is_err() && !held.was_lost);
        state.ended.push(held);
    }

    /// Holds for as long as it is to, or until the permit is lost. Returns when it was last known to be held, and
    /// whether it was lost.
    async fn hold(&self, client: usize) -> (Instant, bool) {
        let pace = self.lock().pace;
        let mut known = Instant::now();
        let end = known + (self.load.hold)(client, pace, self.draws.next());
        loop {
            let now = Instant::now();
            if !self.lock().hands[client].as_ref().is_some_and(Permit::is_held) {
                return (known, true);
            }
            known = now;
            if now >= end {
                return (known, false);
            }
            sleep(end.saturating_duration_since(now).min(LOOK_EVERY)).await;
        }
    }

    /// A permit is in hand: this is the only moment at which there can be more than before.
    fn give_to(&self, client: usize, permit: Permit) {
        let (name, names) = (self.name_of(client), self.load.names.len());
        let mut state = self.lock();
        state.hands[client] = Some(permit);
        state.first[client].get_or_insert_with(Instant::now);
        state.grants.push(Instant::now());
        let mates = state.hands.iter().skip(name).step_by(names);
        let held = mates.flatten().filter(|permit| permit.is_held()).count();
        state.tally.grants += 1;
        state.tally.over_admissions += u64::from(held > self.load.names[name].1 as usize);
        state.tally.most_held = state.tally.most_held.max(held);
    }

    fn take_from(&self, client: usize) -> Option<Permit> {
        let mut state = self.lock();
        let permit = state.hands[client].take()?;
        state.tally.lost += u64::from(!permit.is_held());
        Some(permit)
    }

    fn name_of(&self, client: usize) -> usize {
        client % self.load.names.len()
    }

    fn up_to(&self, longest: Duration) -> Duration {
        longest.mul_f64(self.draws.next() as f64 / u64::MAX as f64)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
