//! When SQLite's log is written back into the database.
//!
//! Writing the log back waits for the disk, which takes seconds on a slow one. By default SQLite
//! does it in a commit. Here no commit does, because a commit is inside the gate and everybody else
//! would wait. The thread for the disk does it beside the calls. If calls never pause, that thread
//! may never reach the end of the log; then writers wait for it, outside the gate.

use std::sync::mpsc::{Receiver, TryRecvError};

/// How many pages the log grows by before it is written back.
const LONG: u32 = 1024;
/// The first client that opens the store after all have left reads the whole log, 5 µs a page. So
/// for programs that come and go the log is kept short.
const LONG_FOR_A_NEWCOMER: u32 = 256;
/// How many commits a client may have made and still count as one that comes and goes.
const COMMITS_OF_A_NEWCOMER: u32 = 2;
/// No client writes to a log of this length before it has been written back: 32 MB.
const TOO_LONG: u32 = 8192;

/// How long the log has become since it was last written back.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    /// The length from which it was last asked to be written back.
    written_from: u32,
    commits: u32,
    under_way: Option<Receiver<()>>,
}

/// What to do about the log.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum LogNeed {
    Nothing,
    WriteBack,
    /// The log is to be written back, and every client that wants to write waits for that.
    WriteBackFirst,
}

impl Backlog {
    /// The backlog of a client that comes and goes. It did not read the log, and neither will the
    /// next one.
    pub(super) fn of_one_that_keeps_the_index() -> Self {
        Self { commits: COMMITS_OF_A_NEWCOMER, ..Self::default() }
    }

    /// Takes note of a commit that left the log with this many pages.
    pub(super) fn note(&mut self, pages: u32) -> LogNeed {
        self.commits = self.commits.saturating_add(1);
        if pages < self.written_from {
            self.written_from = 0; // it has begun anew
        }
        if pages >= TOO_LONG {
            return LogNeed::WriteBackFirst;
        }
        let is_newcomer = self.commits <= COMMITS_OF_A_NEWCOMER;
        let long = if is_newcomer { LONG_FOR_A_NEWCOMER } else { LONG };
        self.need_from(long, pages)
    }

    /// Called at a moment without requests. The short bound holds: a client that is idle may be the
    /// last to leave.
    pub(super) fn note_idle(&mut self, pages: u32) -> LogNeed {
        self.need_from(LONG_FOR_A_NEWCOMER, pages)
    }

    fn need_from(&mut self, long: u32, pages: u32) -> LogNeed {
        let is_long = pages >= self.written_from.saturating_add(long);
        let is_under_way = self.is_under_way();
        if is_long && !is_under_way { LogNeed::WriteBack } else { LogNeed::Nothing }
    }

    /// Returns whether this client's next commit may find the log written back. It begins the log
    /// anew then, and waits for the disk.
    pub(super) fn may_begin_anew(&self) -> bool {
        self.under_way.is_some()
    }

    fn is_under_way(&mut self) -> bool {
        let is = |way: &Receiver<()>| way.try_recv() != Err(TryRecvError::Disconnected);
        if !self.under_way.as_ref().is_some_and(is) {
            self.under_way = None;
        }
        self.under_way.is_some()
    }

    /// Takes note that the log of this many pages is being written back now.
    pub(super) fn begin(&mut self, pages: u32, under_way: Receiver<()>) {
        self.written_from = pages;
        self.under_way = Some(under_way);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn settled() -> Backlog {
        let mut backlog = Backlog::default();
        for _ in 0..COMMITS_OF_A_NEWCOMER {
            assert_eq!(backlog.note(1), LogNeed::Nothing);
        }
        backlog
    }

    #[test]
    fn a_newcomer_has_a_shorter_log_written_back_than_one_that_stays() {
        assert_eq!(Backlog::default().note(LONG_FOR_A_NEWCOMER), LogNeed::WriteBack);
        let mut backlog = Backlog::of_one_that_keeps_the_index();
        assert_eq!(backlog.note(LONG_FOR_A_NEWCOMER), LogNeed::Nothing);
        let mut backlog = settled();
        assert_eq!(backlog.note(LONG - 1), LogNeed::Nothing);
        assert_eq!(backlog.note(LONG), LogNeed::WriteBack);
        assert_eq!(backlog.note_idle(LONG_FOR_A_NEWCOMER), LogNeed::WriteBack);
    }

    #[test]
    fn a_log_that_is_being_written_back_is_not_asked_for_again_until_it_has_grown() {
        let mut backlog = settled();
        let (done, under_way) = channel();
        backlog.begin(LONG, under_way);
        assert_eq!(backlog.note(3 * LONG), LogNeed::Nothing, "under way");
        drop(done);
        assert_eq!(backlog.note(2 * LONG - 1), LogNeed::Nothing, "not grown");
        assert_eq!(backlog.note(2 * LONG), LogNeed::WriteBack);
    }

    #[test]
    fn a_log_that_began_anew_counts_from_its_beginning() {
        let mut backlog = settled();
        let (done, under_way) = channel();
        backlog.begin(LONG, under_way);
        drop(done);
        assert_eq!(backlog.note(7), LogNeed::Nothing);
        assert_eq!(backlog.note(LONG), LogNeed::WriteBack);
    }

    #[test]
    fn the_log_may_begin_anew_from_its_writing_back_to_the_first_commit_after_it() {
        let mut backlog = settled();
        assert!(!backlog.may_begin_anew());
        let (done, under_way) = channel();
        backlog.begin(LONG, under_way);
        assert_eq!(backlog.note(LONG + 1), LogNeed::Nothing);
        drop(done);
        assert!(backlog.may_begin_anew());
        assert_eq!(backlog.note(1), LogNeed::Nothing);
        assert!(!backlog.may_begin_anew());
    }

    #[test]
    fn nobody_writes_to_a_log_that_is_too_long() {
        assert_eq!(settled().note(TOO_LONG), LogNeed::WriteBackFirst);
    }
}
