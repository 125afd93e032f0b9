//! A client's copy of one name, and how it is laid out in znodes.
//!
//! The name's znode holds a line about its base and the writes since then, so a call writes little and a
//! copy that is nearly up to date repeats only what is new. When those writes have become many, all is
//! packed into the base and they start anew.

use std::collections::BTreeSet;

use seinpaal_proto::{Inbox, MemoryState, Standing, State};

use zookeeper_client::Stat;

use super::{
    header::Header,
    recorder::Recorder,
    time,
    write::{Hint, put_hint, replay},
};
use seinpaal_store::packed::{Damaged, Packer, number, pack};

/// The writes since the base are packed away above this many bytes, or above a quarter of the base.
const LONG_LOG: usize = 24 << 10;
/// The longest base: a server refuses a request of 1 MB, in which the base is not alone.
pub(super) const LONGEST_BASE: usize = 900 << 10;
/// The longest base for somebody who asks for more. What is there grows by itself: instants are packed as times before or
/// after the last call, and those grow; and a permit that is handed on is a longer record than a place in line.
pub(super) const LONGEST_TO_ENTER: usize = 700 << 10;
/// Hints that outlive a packing: more than one call makes.
const KEPT_HINTS: usize = 192;

/// What this client knows of a name.
#[derive(Debug, Default)]
pub(super) struct Replica {
    pub(super) state: MemoryState,
    node: Option<Node>,
    /// The hints in the name's znode.
    recent: Vec<Hint>,
    /// Up to which hint of which incarnation news were passed on.
    seen: Option<(u64, u64)>,
    /// `state` has writes that are not in `node`.
    is_spoiled: bool,
    /// The number of the leader that did the last write seen here.
    leader: i64,
}

#[derive(Clone, Debug)]
struct Node {
    version: i32,
    header: Header,
    base: Vec<u8>,
    /// All of the name's znode.
    log: Vec<u8>,
}

/// What a batch wants written.
#[derive(Debug)]
pub(super) enum Change {
    /// The name is not there and need not be.
    Nothing,
    Create {
        header: Header,
        log: Vec<u8>,
    },
    Append {
        version: i32,
        header: Header,
        log: Vec<u8>,
    },
    Pack {
        version: i32,
        header: Header,
        log: Vec<u8>,
        base: Vec<u8>,
    },
    Forget {
        version: i32,
        header: Header,
    },
}

/// What a client learned from the writes of others.
#[derive(Debug, Default)]
pub(super) struct Learned {
    pub(super) hints: Vec<Hint>,
    /// Some hints were packed away before they were read.
    pub(super) has_gap: bool,
}

impl Replica {
    /// The header of a name's znode.
    pub(super) fn header(log: &[u8]) -> Result<Header, Damaged> {
        Header::parse(log).map(|(header, _)| header)
    }

    pub(super) fn saw_leader(&mut self, stat: &Stat) {
        self.leader = self.leader.max(time::epoch(stat));
    }

    pub(super) fn leader(&self) -> i64 {
        self.leader
    }

    /// Whether the base that `header` names is here already.
    pub(super) fn has_base(&self, header: &Header) -> bool {
        self.node.as_ref().is_some_and(|node| node.header == *header)
    }

    /// The name is not there.
    pub(super) fn is_gone(&mut self) {
        *self = Self { leader: self.leader, ..Self::default() };
    }

    /// Takes over what the name's znode holds at `version`, with a new base if there is one. Says what
    /// others have written that this client had not seen.
    pub(super) fn follow(
        &mut self,
        version: i32,
        log: Vec<u8>,
        base: Option<Vec<u8>>,
    ) -> Result<Learned, Damaged> {
        let (header, records) = Header::parse(&log)?;
        let known = self.node.take().filter(|node| node.header == header);
        let mut hints = Vec::new();
        let base = match (base, known) {
            (None, Some(node)) if !self.is_spoiled && log.starts_with(&node.log) => {
                repeat(&log[node.log.len()..], &mut self.state, &mut hints)?;
                self.recent.append(&mut hints);
                node.base
            }
            (base, known) => {
                let base = base.or_else(|| known.map(|node| node.base)).ok_or(Damaged)?;
                self.state = MemoryState::default();
                if !base.is_empty() {
                    replay(&base, &mut self.state, &mut hints)?;
                }
                repeat(records, &mut self.state, &mut hints)?;
                self.recent = hints;
                base
            }
        };
        self.is_spoiled = false;
        self.node = Some(Node { version, header, base, log });
        Ok(self.catch_up(header))
    }

    fn catch_up(&mut self, header: Header) -> Learned {
        let total = header.hints_before + self.recent.len() as u64;
        let seen = self.seen.filter(|(incarnation, _)| *incarnation == header.incarnation);
        let seen = seen.map_or(total, |(_, seen)| seen);
        self.seen = Some((header.incarnation, total));
        let fresh = total.saturating_sub(seen.max(header.hints_before)) as usize;
        let hints = self.recent[self.recent.len() - fresh..].to_vec();
        Learned { hints, has_gap: seen < header.hints_before }
    }

    /// Undoes what was executed and could not be written.
    pub(super) fn undo(&mut self) -> Result<(), Damaged> {
        if !self.is_spoiled {
            return Ok(());
        }
        match self.node.take() {
            None => self.state = MemoryState::default(),
            Some(node) => drop(self.follow_again(node)?),
        }
        self.is_spoiled = false;
        Ok(())
    }

    fn follow_again(&mut self, node: Node) -> Result<Learned, Damaged> {
        self.is_spoiled = true;
        let Node { version, base, log, .. } = node;
        self.follow(version, log, Some(base))
    }

    /// A state that takes down what is written to it. Until the writes are [kept](Self::keep), they
    /// can be [undone](Self::undo).
    pub(super) fn recorder(&mut self, at: u64) -> Recorder<'_> {
        self.is_spoiled = true;
        Recorder::new(&mut self.state, at)
    }

    /// What to write so that everybody has what `recorded` says.
    pub(super) fn change(
        &mut self,
        mut recorded: Packer,
        hints: &[Hint],
        longest_base: usize,
    ) -> Change {
        let nothing_there = self.state.is_empty();
        let Some(node) = &self.node else {
            if nothing_there {
                return Change::Nothing;
            }
            hints.iter().for_each(|hint| put_hint(&mut recorded, hint));
            let incarnation = fresh();
            let header = Header { incarnation, base_version: 0, hints_before: 0 };
            return Change::Create { header, log: with_record(header.bytes(), recorded) };
        };
        let (version, header) = (node.version, node.header);
        if nothing_there {
            return Change::Forget { version, header };
        }
        hints.iter().for_each(|hint| put_hint(&mut recorded, hint));
        let log = node.log.len() + recorded.byte_count();
        // What is appended counts as well, or a name would be found to be too long only when it is packed.
        let may_be_full = node.base.len() + log > longest_base && longest_base < LONGEST_BASE;
        if may_be_full || log > LONG_LOG.max(node.base.len() / 4) {
            return self.packed(version, header, hints);
        }
        Change::Append { version, header, log: with_record(node.log.clone(), recorded) }
    }

    fn packed(&mut self, version: i32, header: Header, hints: &[Hint]) -> Change {
        let total = header.hints_before + (self.recent.len() + hints.len()) as u64;
        let all: Vec<&Hint> = self.recent.iter().chain(hints).collect();
        let kept = &all[all.len().saturating_sub(KEPT_HINTS)..];
        let header = Header {
            base_version: header.base_version + 1,
            hints_before: total - kept.len() as u64,
            ..header
        };
        let mut recorded = Packer::new(0);
        kept.iter().for_each(|hint| put_hint(&mut recorded, hint));
        let log = with_record(header.bytes(), recorded);
        let mut base = pack(&mut self.state);
        while base.len() > LONGEST_BASE && self.forget_some() {
            base = pack(&mut self.state);
        }
        Change::Pack { version, header, log, base }
    }

    /// The oldest memories go first when there is no room (as the ledger itself has it).
    fn forget_some(&mut self) -> bool {
        let Ok(mut head) = self.state.head();
        let many = (head.past / 4).max(1).min(head.past);
        let closed = self.state.closed_memories().take(many as usize);
        let oldest: Vec<_> = closed.map(|memory| memory.series).collect();
        head.past -= oldest.len() as u32;
        for series in &oldest {
            let Ok(()) = self.state.remove_memory(*series);
        }
        let Ok(()) = self.state.set_head(&head);
        !oldest.is_empty()
    }

    /// What was executed is written.
    pub(super) fn keep(&mut self, change: Change, hints: Vec<Hint>) {
        self.is_spoiled = false;
        let packs = matches!(change, Change::Pack { .. });
        let (version, header, log, base) = match change {
            Change::Nothing => return,
            Change::Forget { .. } => return self.is_gone(),
            Change::Create { header, log } => (0, header, log, Some(Vec::new())),
            Change::Append { version, header, log } => (version + 1, header, log, None),
            Change::Pack { version, header, log, base } => (version + 1, header, log, Some(base)),
        };
        let base = base.or_else(|| self.node.take().map(|node| node.base)).unwrap_or_default();
        self.recent.extend(hints);
        if packs {
            self.recent.drain(..self.recent.len().saturating_sub(KEPT_HINTS));
        }
        let total = header.hints_before + self.recent.len() as u64;
        self.seen = Some((header.incarnation, total));
        self.node = Some(Node { version, header, base, log });
    }

    /// Whether a client has anything here.
    pub(super) fn has(&self, inbox: Inbox) -> bool {
        self.state.leases().any(|lease| lease.inbox == Some(inbox))
    }
}

/// Drawn anew for each incarnation of a name, so that no call can take one for another.
fn fresh() -> u64 {
    let mut bytes = [0; 8];
    // Without random numbers nothing here would run: the client's own inbox was drawn before.
    getrandom::fill(&mut bytes).map_or(0, |()| u64::from_le_bytes(bytes))
}

fn with_record(mut log: Vec<u8>, record: Packer) -> Vec<u8> {
    let mut length = Packer::bare();
    length.number(record.byte_count() as u64);
    log.extend(length.into_bytes());
    log.extend(record.into_bytes());
    log
}

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

/// The clients that hold something.
pub(super) fn holders(replica: &Replica) -> BTreeSet<Inbox> {
    let holds = replica.state.entries().filter(|e| matches!(e.standing, Standing::Holding { .. }));
    holds.filter_map(|entry| entry.inbox).collect()
}
