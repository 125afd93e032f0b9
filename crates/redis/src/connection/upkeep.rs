//! Opens a link, looks after it, and opens another in its place.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::time::{Instant, sleep, timeout};

use super::{
    ConnectionState,
    status::{LinkOutage, Status},
};
use crate::link::Link;
use seinpaal_store::{News, Reading, StoreError};

const SHORTEST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// The pause between two tries keeps a caller waiting for no longer than this.
const LONGEST_PAUSE_OF_CALLERS: Duration = Duration::from_millis(320);
/// How often a link is tried while a ticket waits for a wakeup. A half-open link says nothing by
/// itself.
const PING_EVERY: Duration = Duration::from_secs(5);

/// Keeps a connection open, until the task is aborted.
pub(super) async fn keep(shared: Arc<ConnectionState>) {
    loop {
        shared.until_lost_or_doubted().await;
        if shared.replace().await {
            // The new link subscribed before it was put in place. Wakeups that were published
            // before that are lost, so the session has to look again.
            let _ = shared.options.news.send(News::LookAgain);
        }
    }
}

impl ConnectionState {
    pub(super) async fn open(self: &Arc<Self>) -> Result<Reading, StoreError> {
        let (id, link) = self.open_where_it_is().await?;
        // The number is noted now, so that replicas that go away before the first grant are an
        // outage and not a mistake in the URL.
        let replicated = self.options.endpoint.options().replicated;
        if link.server.connected_replicas >= replicated && replicated.is_some() {
            self.had_replicas.store(true, Ordering::Relaxed);
        }
        let reading = link.server.reading;
        self.status.send_replace(Status::Up(id, link));
        Ok(reading)
    }

    /// Opens a link, and begins again whenever the server moves. The old server may hang, and may
    /// still take itself for the master when it goes on.
    async fn open_where_it_is(self: &Arc<Self>) -> Result<(u64, Link), StoreError> {
        let mut moves = self.moves.subscribe();
        loop {
            let id = self.opened.fetch_add(1, Ordering::Relaxed);
            tokio::select! {
                // A move counts even if a link is there at the same moment, because that link may
                // lead to the old server.
                biased;
                Ok(()) = moves.changed() => {}
                link = Link::open(&self.options, self.on_loss(id)) => return Ok((id, link?)),
            }
        }
    }

    async fn until_lost_or_doubted(&self) {
        let mut status = self.status.subscribe();
        loop {
            let trouble = status.wait_for(|status| !matches!(status, Status::Up(..)));
            if timeout(PING_EVERY, trouble).await.is_ok() {
                return;
            }
            if self.is_awaited.swap(false, Ordering::Relaxed) {
                self.ping().await;
            }
        }
    }

    async fn ping(&self) {
        let current = self.status.borrow().link().map(|(id, link)| (id, link.clone()));
        if let Some((id, mut link)) = current
            && !link.is_alive().await
        {
            self.lose(id);
        }
    }

    /// Opens a link, after as many tries as that takes. The first try comes at once, unless the
    /// last link answered nothing either.
    async fn reopen(self: &Arc<Self>) {
        let mut attempts = 0;
        loop {
            self.pause(self.tries.fetch_add(1, Ordering::Relaxed)).await;
            let Err(error) = self.open().await else { return };
            attempts += 1;
            tracing::debug!(target: crate::TARGET, %error, attempts, "no connection");
            let outage = LinkOutage { attempts, kind: error.kind(), message: error.to_string() };
            self.status.send_if_modified(|status| status.has_failed(outage));
        }
    }

    /// Opens a link in place of one that is lost or in doubt. If a link in doubt answers after all,
    /// the opening stops. Returns whether there is a new link.
    async fn replace(self: &Arc<Self>) -> bool {
        let mut status = self.status.subscribe();
        let is_replaced = tokio::select! {
            biased;
            () = self.reopen() => true,
            _ = status.wait_for(|status| matches!(status, Status::Up(..))) => false,
        };
        self.is_doubted.store(false, Ordering::Relaxed);
        is_replaced
    }

    /// Waits between two tries, longer every time. A caller's request ends the wait early, but not
    /// before the longest pause that callers can be made to wait.
    async fn pause(&self, tries: u64) {
        if tries == 0 {
            return;
        }
        let (began, pause) = (Instant::now(), pause_after(tries, LONGEST_PAUSE));
        tokio::select! {
            () = sleep(pause) => {}
            () = self.hurry.notified() => {}
        }
        sleep(pause.min(LONGEST_PAUSE_OF_CALLERS).saturating_sub(began.elapsed())).await;
    }
}

/// The pause between two tries that a caller makes itself.
pub(in super::super) fn pause_of_callers(tries: u64) -> Duration {
    match tries {
        0 => Duration::ZERO,
        _ => pause_after(tries, LONGEST_PAUSE).min(LONGEST_PAUSE_OF_CALLERS),
    }
}

/// The pause after so many failed tries, at least one. It grows with every try, and is drawn at
/// random so that clients do not all come back at the same moment.
pub(in super::super) fn pause_after(tries: u64, longest: Duration) -> Duration {
    let doublings = u32::try_from(tries.min(8)).unwrap_or(8);
    let most = (SHORTEST_PAUSE * 2u32.pow(doublings)).min(longest);
    // Without random numbers all clients would come back at the same moment, which costs only time.
    let share = getrandom::u32().unwrap_or(0);
    most / 2 + most.mul_f64(f64::from(share) / f64::from(u32::MAX) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_are_bounded() {
        for tries in 1..100 {
            let pause = pause_after(tries, LONGEST_PAUSE);
            assert!(pause >= SHORTEST_PAUSE && pause <= LONGEST_PAUSE, "{tries}: {pause:?}");
        }
        assert!(pause_after(1, LONGEST_PAUSE) < pause_after(8, LONGEST_PAUSE));
    }
}
