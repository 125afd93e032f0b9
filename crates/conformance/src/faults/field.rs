//! Clients that come and go at a few names, and a judge that looks at each grant.

mod clients;

use std::{
    ops::Deref,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use seinpaal::Permit;
use seinpaal_rig::until;

use super::{
    draws::Draws,
    load::{ClientLoad, HeldPermit, Pace},
    tally::FieldTally,
};

/// The names, the clients, and the notes of the judge about each client.
#[derive(Debug)]
pub struct ClientField {
    load: ClientLoad,
    state: Mutex<FieldState>,
    draws: Draws,
    is_over: AtomicBool,
}

#[derive(Debug, Default)]
struct FieldState {
    pace: Pace,
    /// The permit that each client has in hand.
    hands: Vec<Option<Permit>>,
    /// When each client first got a permit since [`ClientField::mark`].
    first: Vec<Option<Instant>>,
    /// When each permit was granted.
    grants: Vec<Instant>,
    /// The permits that were given back or lost.
    ended: Vec<HeldPermit>,
    tally: FieldTally,
}

/// A field with its clients at work.
#[derive(Debug)]
pub struct BusyField {
    field: Arc<ClientField>,
    clients: thread::JoinHandle<()>,
}

impl Deref for BusyField {
    type Target = ClientField;

    fn deref(&self) -> &ClientField {
        &self.field
    }
}

impl BusyField {
    /// Lets all clients work at the store with this URL.
    #[must_use]
    pub fn start(load: ClientLoad, url: &str) -> Self {
        let field = Arc::new(ClientField::new(load));
        let (theirs, url) = (Arc::clone(&field), url.to_owned());
        Self { field, clients: thread::spawn(move || theirs.populate(&url)) }
    }

    /// Ends the work of all clients. Returns their figures, and each permit that one of them gave
    /// back or lost.
    ///
    /// # Panics
    /// If a client has panicked.
    #[must_use]
    pub fn end(self) -> (FieldTally, Vec<HeldPermit>) {
        self.field.is_over.store(true, Ordering::SeqCst);
        self.clients.join().expect("the clients end");
        let mut state = self.field.lock();
        (state.tally, std::mem::take(&mut state.ended))
    }
}

impl ClientField {
    fn new(load: ClientLoad) -> Self {
        let mut state = FieldState::default();
        state.hands.resize_with(load.clients, || None);
        state.first.resize(load.clients, None);
        let draws = Draws::new(load.seed);
        Self { load, state: Mutex::new(state), draws, is_over: AtomicBool::new(false) }
    }

    /// The figures of the clients so far.
    #[must_use]
    pub fn tally(&self) -> FieldTally {
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

    /// The clients at those names whose numbers `is_meant` picks.
    pub fn clients_at(&self, is_meant: impl Fn(usize) -> bool) -> Vec<usize> {
        (0..self.load.clients).filter(|client| is_meant(self.name_of(*client))).collect()
    }

    /// Forgets the first permit of each client, and returns the present instant.
    /// [`until_all_had_one`](Self::until_all_had_one) then waits for permits that are granted from
    /// now on.
    #[must_use]
    pub fn mark(&self) -> Instant {
        let mut state = self.lock();
        state.first.fill(None);
        Instant::now()
    }

    /// Waits until each of these clients has had a permit since the last [`mark`](Self::mark), and
    /// returns when each had its first.
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

    /// Waits until each of these clients has had a permit since this call. A permit that a client
    /// was granted before a fault took effect says nothing about what comes after the fault.
    ///
    /// # Panics
    /// If that takes more than a minute.
    pub fn until_all_recovered(&self, clients: &[usize]) {
        let _ = self.mark();
        drop(self.until_all_had_one(clients));
    }

    /// Waits for this many more grants.
    ///
    /// # Panics
    /// If that takes more than a minute.
    pub fn until_grants(&self, more: u64) {
        let now = self.tally().grants;
        until("some more grants", || self.tally().grants >= now + more);
    }

    /// Waits until no client has a permit in hand.
    ///
    /// # Panics
    /// If that takes more than a minute.
    pub fn until_nobody_holds(&self) {
        until("nobody holds anything", || self.lock().hands.iter().all(Option::is_none));
    }

    /// Waits for this many grants after `since`, and returns the longest time without one.
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

    fn name_of(&self, client: usize) -> usize {
        client % self.load.names.len()
    }

    fn lock(&self) -> MutexGuard<'_, FieldState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permit_from_before_the_call_is_no_recovery() {
        let field = ClientField::new(ClientLoad {
            clients: 1,
            names: vec![("n".to_owned(), 1)],
            ttl: None,
            wait: None,
            hold: |_, _, _| Duration::ZERO,
            rest: Duration::ZERO,
            seed: 1,
        });
        field.lock().first[0] = Some(Instant::now());
        thread::scope(|scope| {
            let recovery = scope.spawn(|| field.until_all_recovered(&[0]));
            until("the old permit is forgotten", || field.lock().first[0].is_none());
            assert!(!recovery.is_finished());
            field.lock().first[0] = Some(Instant::now());
        });
    }
}
