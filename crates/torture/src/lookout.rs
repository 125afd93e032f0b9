//! The lookout sees when a store with replicas can grant and when it cannot. So the checker need
//! not guess how long the servers take to recover from a fault.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use seinpaal_rig::say;

use crate::{
    clock,
    history::{Pen, TortureWhat},
};

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long a server may take to answer. A slower server counts as away.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(200);

/// The servers to look at.
#[derive(Clone, Debug)]
pub struct ServersToWatch {
    /// The ports of the servers.
    pub ports: Vec<u16>,
    /// The number of masters with a replica when all is well.
    pub masters: usize,
}

/// The threads that look, one for each server. Dropping this value ends them.
#[derive(Debug)]
pub struct Lookout {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// The last look at each server: whether it was a master with a replica, and the moment of the
/// look.
struct SeenServers {
    pen: Pen,
    masters: usize,
    servers: Vec<(bool, u64)>,
    is_whole: bool,
    /// The moment of the last change that was written down.
    changed: u64,
}

impl Lookout {
    /// Starts to look, and writes down each change.
    #[must_use]
    pub fn start(watched: &ServersToWatch, pen: &Pen) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let servers = vec![(false, clock::now()); watched.ports.len()];
        let (pen, masters) = (pen.clone(), watched.masters);
        pen.write(TortureWhat::Broken);
        let seen = SeenServers { pen, masters, servers, is_whole: false, changed: clock::now() };
        let seen = Arc::new(Mutex::new(seen));
        let look = |(server, port): (usize, &u16)| {
            let (port, seen, is_over) = (*port, Arc::clone(&seen), Arc::clone(&is_over));
            thread::spawn(move || look(port, server, &seen, &is_over))
        };
        let threads = watched.ports.iter().enumerate().map(look).collect();
        Self { is_over, threads }
    }
}

impl Drop for Lookout {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join(); // a panic changes nothing: each look is already written down
        }
    }
}

fn look(port: u16, server: usize, seen: &Mutex<SeenServers>, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let is_well = say(port, &["ROLE"], ANSWER_TIMEOUT).is_ok_and(|role| has_replica(&role));
        seen.lock().unwrap_or_else(PoisonError::into_inner).take(server, is_well);
        thread::sleep(LOOK_EVERY);
    }
}

impl SeenServers {
    /// Notes a look at a server. A loss is dated back to the last look at which all was well,
    /// because it may have come at any time since then. It is not dated back beyond the last
    /// change, which another server may have made, because the history would then have the two in
    /// the wrong order.
    fn take(&mut self, server: usize, is_well: bool) {
        let now = clock::now();
        let (was_well, last) = std::mem::replace(&mut self.servers[server], (is_well, now));
        let is_whole = self.servers.iter().filter(|(is_well, _)| *is_well).count() >= self.masters;
        if is_whole != std::mem::replace(&mut self.is_whole, is_whole) {
            let what = if is_whole { TortureWhat::Whole } else { TortureWhat::Broken };
            self.changed = self.changed.max(if was_well { last } else { now });
            self.pen.write_at(self.changed, what);
        }
    }
}

/// Returns whether the server is a master that a replica follows. A master answers with its role,
/// its offset, and three words about each replica.
fn has_replica(role: &[String]) -> bool {
    role.first().is_some_and(|role| role == "master") && role.len() > 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history;

    #[test]
    fn a_master_without_replicas_and_a_replica_can_grant_nothing() {
        let is_well =
            |role: &str| has_replica(&role.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert!(is_well("master 9 127.0.0.1 1 9"));
        assert!(!is_well("master 9"));
        assert!(!is_well("slave 127.0.0.1 1 connected 9"));
    }

    #[test]
    fn what_changes_is_written_once_and_dated_back_to_when_it_was_last_seen_well() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history");
        let pen = Pen::open(&path, "rig").unwrap();
        let mut seen = watching(pen, 1, 2);
        for (server, is_well) in [(0, false), (1, true), (0, false), (1, true)] {
            seen.take(server, is_well);
        }
        let last = seen.servers[1].1;
        seen.take(1, false);
        let events: Vec<history::HistoryEvent> = history::read(&path).unwrap();
        let told: Vec<_> = events.iter().map(|event| event.what.clone()).collect();
        assert_eq!(told, [TortureWhat::Whole, TortureWhat::Broken]);
        assert_eq!(events[1].at, last);
    }

    fn watching(pen: Pen, masters: usize, servers: usize) -> SeenServers {
        SeenServers {
            pen,
            masters,
            servers: vec![(false, 0); servers],
            is_whole: false,
            changed: 0,
        }
    }

    #[test]
    fn a_loss_is_not_dated_back_beyond_what_another_server_changed_meanwhile() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history");
        let mut seen = watching(Pen::open(&path, "rig").unwrap(), 2, 2);
        // The first server is well once, then the second makes the pair whole, then the first is
        // found lost. The first was last seen well before the pair was whole.
        for (server, is_well) in [(0, true), (1, true), (0, false), (0, true)] {
            seen.take(server, is_well);
        }
        let events: Vec<history::HistoryEvent> = history::read(&path).unwrap();
        let told: Vec<_> = events.iter().map(|event| event.what.clone()).collect();
        assert_eq!(told, [TortureWhat::Whole, TortureWhat::Broken, TortureWhat::Whole]);
    }
}
