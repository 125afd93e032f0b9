//! The clients of a field. Each comes to its name, holds a permit, and goes.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use seinpaal::{Permit, Seinpaal, Semaphore};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{
    super::load::{HeldPermit, Pace},
    ClientField,
};

/// How often the field checks whether its time is over, and a holder whether it still holds.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How long a client rests at a quiet pace before it looks at the pace again.
const QUIET_FOR: Duration = Duration::from_millis(1);

impl ClientField {
    /// Lets all clients work until the field's time is over.
    pub(super) fn populate(self: Arc<Self>, url: &str) {
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

    /// Gives back every permit that is in hand at the end, since the tasks of the holders have
    /// ended.
    async fn give_all_back(&self) {
        for client in 0..self.load.clients {
            if let Some(permit) = self.take_from(client) {
                let _ = permit.release().await; // the tally has a loss already
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

    /// Holds a permit for as long as the load says, or until it is lost. Returns when it was last
    /// known to be held, and whether it was lost.
    async fn hold(&self, client: usize) -> (Instant, bool) {
        let pace = self.lock().pace;
        let mut known = Instant::now();
        let end = known + (self.load.hold)(client, pace, self.draws.next());
        loop {
            // The clock is read before the look, so `known` is never later than a moment at which
            // the permit was held.
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

    /// Puts a permit into a client's hand, and counts how many are held at the name. Only a grant
    /// can raise that number, so every breach of the limit is seen here.
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

    fn up_to(&self, longest: Duration) -> Duration {
        longest.mul_f64(self.draws.next() as f64 / u64::MAX as f64)
    }
}
