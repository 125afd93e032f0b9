//! A client's copy of one name, and the layout of the name in znodes.
//!
//! The name's znode is a log: a header that names the base, and all writes since then. So a call
//! writes little, and a copy that is nearly up to date repeats only the writes that are new. When
//! the log has become long, the whole state is packed into a new base, and a new log begins.

mod change;

use std::collections::BTreeSet;

use seinpaal_proto::{Inbox, MemoryState, Standing};

use zookeeper_client::Stat;

pub(super) use change::NodeChange;

use super::{
    header::Header,
    recorder::Recorder,
    time,
    write::{Hint, replay},
};
use seinpaal_store::packed::{Damaged, number};

/// The longest base, in bytes. A server refuses requests of 1 MB, and a request contains more than
/// the base.
pub(super) const LONGEST_BASE: usize = 900 << 10;
/// The longest base for a request that adds something. A base also grows by itself: instants are
/// packed as distances from the last call, which grow, and a permit that was handed on is a longer
/// record than a place in line. The difference to [`LONGEST_BASE`] is room for that.
pub(super) const LONGEST_TO_ENTER: usize = 700 << 10;

/// The copy of a name.
#[derive(Debug, Default)]
pub struct Replica {
    pub(super) state: MemoryState,
    node: Option<CopiedNode>,
    /// The hints in the name's znode.
    recent: Vec<Hint>,
    /// The incarnation of the name, and how many of its hints were passed on as news.
    seen: Option<(u64, u64)>,
    /// Whether `state` has writes that are not in `node`, because they were not made yet, or never
    /// were.
    is_spoiled: bool,
    /// The number of the leader that did the last write seen here.
    leader: i64,
}

#[derive(Clone, Debug)]
struct CopiedNode {
    version: i32,
    header: Header,
    base: Vec<u8>,
    /// All bytes of the name's znode.
    log: Vec<u8>,
}

/// The news that a client learned from the writes of others.
#[derive(Debug, Default)]
pub struct Learned {
    pub(super) hints: Vec<Hint>,
    /// Whether some hints were packed away before they were read.
    pub(super) has_gap: bool,
}

impl Replica {
    /// Returns the header of a name's znode.
    pub fn header(log: &[u8]) -> Result<Header, Damaged> {
        Header::parse(log).map(|(header, _)| header)
    }

    pub(super) fn saw_leader(&mut self, stat: &Stat) {
        self.leader = self.leader.max(time::epoch(stat));
    }

    pub(super) fn leader(&self) -> i64 {
        self.leader
    }

    /// Returns whether this copy has the base that `header` names already.
    pub(super) fn has_base(&self, header: &Header) -> bool {
        self.node.as_ref().is_some_and(|node| node.header == *header)
    }

    /// Empties the copy of a name that is not there.
    pub(super) fn clear(&mut self) {
        *self = Self { leader: self.leader, ..Self::default() };
    }

    /// Empties the copy, and keeps count of the hints that were passed on as news.
    pub(super) fn drop_copy(&mut self) {
        *self = Self { leader: self.leader, seen: self.seen, ..Self::default() };
    }

    /// Takes over the content of the name's znode at `version`, with a new base if there is one.
    /// Returns the hints that others have written and that this client had not seen.
    pub fn follow(
        &mut self,
        version: i32,
        log: Vec<u8>,
        base: Option<Vec<u8>>,
    ) -> Result<Learned, Damaged> {
        let (header, records) = Header::parse(&log)?;
        let known = self.node.take().filter(|node| node.header == header);
        let base = match (base, known) {
            // The log has only grown, so only its new part has to be repeated.
            (None, Some(node)) if !self.is_spoiled && log.starts_with(&node.log) => {
                repeat(&log[node.log.len()..], &mut self.state, &mut self.recent)?;
                node.base
            }
            // There is a new base, or this copy has writes that were never made, so the state is
            // built anew.
            (base, known) => {
                let base = base.or_else(|| known.map(|node| node.base)).ok_or(Damaged)?;
                self.rebuild(&base, records)?;
                base
            }
        };
        self.is_spoiled = false;
        self.node = Some(CopiedNode { version, header, base, log });
        Ok(self.catch_up(header))
    }

    fn rebuild(&mut self, base: &[u8], records: &[u8]) -> Result<(), Damaged> {
        (self.state, self.recent) = (MemoryState::default(), Vec::new());
        if !base.is_empty() {
            replay(base, &mut self.state, &mut self.recent)?;
        }
        repeat(records, &mut self.state, &mut self.recent)
    }

    /// Returns the hints that were not seen yet. They count as seen from now on.
    fn catch_up(&mut self, header: Header) -> Learned {
        let total = header.hints_before + self.recent.len() as u64;
        let seen = self.seen.filter(|(incarnation, _)| *incarnation == header.incarnation);
        // The first look at an incarnation finds only history, and no news.
        let seen = seen.map_or(total, |(_, seen)| seen);
        self.seen = Some((header.incarnation, total));
        let fresh = total.saturating_sub(seen.max(header.hints_before)) as usize;
        let hints = self.recent[self.recent.len() - fresh..].to_vec();
        Learned { hints, has_gap: seen < header.hints_before }
    }

    /// Undoes the writes that were executed on the copy and could not be written.
    pub fn undo(&mut self) -> Result<(), Damaged> {
        if !self.is_spoiled {
            return Ok(());
        }
        match self.node.take() {
            None => self.state = MemoryState::default(),
            Some(CopiedNode { version, base, log, .. }) => {
                drop(self.follow(version, log, Some(base))?);
            }
        }
        self.is_spoiled = false;
        Ok(())
    }

    /// Returns a state that records the writes to it. The writes can be [undone](Self::undo) until
    /// they are [kept](Self::keep).
    pub(super) fn recorder(&mut self, at: u64) -> Recorder<'_> {
        self.is_spoiled = true;
        Recorder::new(&mut self.state, at)
    }

    /// Returns whether a client has a lease here.
    pub(super) fn has(&self, inbox: Inbox) -> bool {
        self.state.leases().any(|lease| lease.inbox == Some(inbox))
    }
}

/// Repeats all records of a log.
fn repeat(
    mut records: &[u8],
    state: &mut MemoryState,
    hints: &mut Vec<Hint>,
) -> Result<(), Damaged> {
    while !records.is_empty() {
        let (length, rest) = number(records)?;
        let length = usize::try_from(length).map_err(|_| Damaged)?;
        let (record, rest) = rest.split_at_checked(length).ok_or(Damaged)?;
        replay(record, state, hints)?;
        records = rest;
    }
    Ok(())
}

/// Returns the clients that hold permits of a name.
pub(super) fn holders(replica: &Replica) -> BTreeSet<Inbox> {
    let holds = replica.state.entries().filter(|e| matches!(e.standing, Standing::Holding { .. }));
    holds.filter_map(|entry| entry.inbox).collect()
}
