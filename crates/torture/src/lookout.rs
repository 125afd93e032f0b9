//! The lookout: sees when a store with replicas can grant, and when it cannot, whatever fault it is that is to
//! blame and however long its servers take to sort themselves out.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::{
    clock,
    history::{Pen, What},
};

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// A server that takes longer for a word answers nobody.
const PATIENCE: Duration = Duration::from_millis(200);

/// What to look at.
#[derive(Clone, Debug)]
pub struct Watched {
    /// Where the servers listen.
    pub ports: Vec<u16>,
    /// How many masters with a replica that follows it there are when all is well.
    pub masters: usize,
}

/// Threads that look, one a server. They end with this.
#[derive(Debug)]
pub struct Lookout {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// What was last seen of each server: whether it is a master with a replica, and when that was.
struct Seen {
    pen: Pen,
    masters: usize,
    servers: Vec<(bool, u64)>,
    is_whole: bool,
}

impl Lookout {
    /// Looks from now on, and writes down what changes.
    #[must_use]
    pub fn start(watched: &Watched, pen: &Pen) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let servers = vec![(false, clock::now()); watched.ports.len()];
        let (pen, masters) = (pen.clone(), watched.masters);
        pen.write(What::Broken);
        let seen = Arc::new(Mutex::new(Seen { pen, masters, servers, is_whole: false }));
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
            let _ = thread.join(); // it only looks: what it saw is written
        }
    }
}

fn look(port: u16, server: usize, seen: &Mutex<Seen>, is_over: &AtomicBool) {
    let mut link = None;
    while !is_over.load(Ordering::Relaxed) {
        let role = link.take().map_or_else(|| connect(port), Ok).and_then(role);
        let is_well = role.as_ref().is_ok_and(|(_, role)| has_replica(role));
        link = role.ok().map(|(link, _)| link);
        seen.lock().unwrap_or_else(PoisonError::into_inner).take(server, is_well);
        thread::sleep(LOOK_EVERY);
    }
}

impl Seen {
    /// What went away was last there when it was last seen.
    fn take(&mut self, server: usize, is_well: bool) {
        let now = clock::now();
        let (was_well, last) = std::mem::replace(&mut self.servers[server], (is_well, now));
        let is_whole = self.servers.iter().filter(|(is_well, _)| *is_well).count() >= self.masters;
        if is_whole != std::mem::replace(&mut self.is_whole, is_whole) {
            let what = if is_whole { What::Whole } else { What::Broken };
            self.pen.write_at(if was_well { last } else { now }, what);
        }
    }
}

fn connect(port: u16) -> io::Result<TcpStream> {
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let link = TcpStream::connect_timeout(&address, PATIENCE)?;
    link.set_read_timeout(Some(PATIENCE))?;
    Ok(link)
}

fn role(mut link: TcpStream) -> io::Result<(TcpStream, String)> {
    link.write_all(b"ROLE\r\n")?;
    let mut bytes = [0; 1024]; // an answer of some words comes in one piece
    let count = link.read(&mut bytes)?;
    if count == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok((link, String::from_utf8_lossy(&bytes[..count]).into_owned()))
}

/// A master's answer is its role, its offset and the replicas that follow it.
fn has_replica(role: &str) -> bool {
    let lines: Vec<_> = role.lines().collect();
    lines.get(2) == Some(&"master") && lines.get(4).is_some_and(|replicas| *replicas != "*0")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history;

    #[test]
    fn a_master_without_replicas_and_a_replica_can_grant_nothing() {
        let one =
            "*3\r\n$6\r\nmaster\r\n:9\r\n*1\r\n*3\r\n$9\r\n127.0.0.1\r\n$1\r\n1\r\n$1\r\n9\r\n";
        assert!(has_replica(one));
        assert!(!has_replica("*3\r\n$6\r\nmaster\r\n:9\r\n*0\r\n"));
        assert!(!has_replica(
            "*5\r\n$5\r\nslave\r\n$9\r\n127.0.0.1\r\n:1\r\n$9\r\nconnected\r\n:9\r\n"
        ));
        assert!(!has_replica("-LOADING\r\n"));
    }

    #[test]
    fn what_changes_is_written_once_and_dated_back_to_when_it_was_last_seen_well() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history");
        let pen = Pen::open(&path, "rig").unwrap();
        let mut seen = Seen { pen, masters: 1, servers: vec![(false, 0); 2], is_whole: false };
        for (server, is_well) in [(0, false), (1, true), (0, false), (1, true)] {
            seen.take(server, is_well);
        }
        let last = seen.servers[1].1;
        seen.take(1, false);
        let events: Vec<history::Event> = history::read(&path).unwrap();
        let told: Vec<_> = events.iter().map(|event| event.what.clone()).collect();
        assert_eq!(told, [What::Whole, What::Broken]);
        assert_eq!(events[1].at, last);
    }
}
