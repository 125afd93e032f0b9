//! The room for connections. Each connection is an open file, and the system bounds the files of a
//! process.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Connections beside the streams: pages, forms, scrapes, and requests of programs.
const BESIDE: usize = 3096;
/// Files that are no connections of clients: connections to the store, the audit, and the runtime's
/// own.
const OWN: usize = 64;

/// The largest numbers of connections and streams.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct StreamRoom {
    /// Streams of pages, together with requests of programs that wait or hold, for
    /// [`Options::streams`](crate::Options::streams).
    pub streams: usize,
    /// All connections, for [`serve`](crate::serve).
    pub connections: usize,
}

impl StreamRoom {
    /// Makes room for this many streams: raises the number of files that this process may open, as
    /// far as needed and as far as the system allows. If the system allows fewer files, there are
    /// fewer streams, and a quarter of the connections stays free for other requests.
    ///
    /// # Examples
    /// ```
    /// let room = seinpaal_serve::StreamRoom::make(10);
    /// assert!(room.streams <= 10 && room.streams < room.connections);
    /// ```
    #[must_use]
    pub fn make(streams: usize) -> Self {
        Self::share(streams, files(streams + BESIDE + OWN))
    }

    /// Shares out the files that the system allows.
    fn share(streams: usize, files: usize) -> Self {
        // With very few files, half of them are for connections, so that the program serves at
        // least a few requests.
        let connections = (files.saturating_sub(OWN)).max(files / 2).max(2);
        let connections = connections.min(streams + BESIDE);
        Self { streams: streams.min(connections * 3 / 4), connections }
    }
}

/// Asks for this many open files, and returns how many this process may open.
fn files(wanted: usize) -> usize {
    let wanted = wanted as u64;
    let mut limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(u64::MAX);
    if limit.current.is_some_and(|now| now < wanted) {
        let before = limit.current.replace(wanted.min(most));
        if setrlimit(Resource::Nofile, limit).is_err() {
            limit.current = before;
        }
    }
    usize::try_from(limit.current.unwrap_or(u64::MAX)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_leave_room_for_pages_and_for_the_files_of_the_program() {
        for (streams, files, wanted) in [
            (1000, usize::MAX, (1000, 4096)),
            (5000, 1 << 20, (5000, 8096)),
            (1000, 1024, (720, 960)),
            (100, 1024, (100, 960)),
            (1000, 256, (144, 192)),
            (1000, 40, (15, 20)),
            (1000, 0, (1, 2)),
        ] {
            let StreamRoom { streams, connections } = StreamRoom::share(streams, files);
            assert_eq!((streams, connections), wanted, "{files} files");
        }
    }
}
