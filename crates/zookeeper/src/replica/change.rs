//! The change that a batch makes to a name's znodes: either an addition at the end of the log, or a
//! new base with everything packed.

use super::{
    super::{
        header::Header,
        write::{Hint, put_hint},
    },
    CopiedNode, LONGEST_BASE, Replica,
};
use seinpaal_proto::State;
use seinpaal_store::packed::{Packer, pack};

/// The length in bytes above which the log is packed into the base. If a quarter of the base is
/// more, that counts.
const LONG_LOG: usize = 24 << 10;
/// The number of hints that outlive a packing. It is more than one call makes, so that a packing
/// drops no hint of the call that packs.
const KEPT_HINTS: usize = 192;

/// The change that a batch makes to a name's znodes.
#[derive(Debug)]
pub(in super::super) enum NodeChange {
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

impl Replica {
    /// Returns the change that gives every client the writes in `recorded`.
    pub(in super::super) fn change(
        &mut self,
        mut recorded: Packer,
        hints: &[Hint],
        longest_base: usize,
    ) -> NodeChange {
        let nothing_there = self.state.is_empty();
        let Some(node) = &self.node else {
            if nothing_there {
                return NodeChange::Nothing;
            }
            hints.iter().for_each(|hint| put_hint(&mut recorded, hint));
            let incarnation = fresh();
            let header = Header { incarnation, base_version: 0, hints_before: 0 };
            return NodeChange::Create { header, log: with_record(header.bytes(), recorded) };
        };
        let (version, header) = (node.version, node.header);
        if nothing_there {
            return NodeChange::Forget { version, header };
        }
        hints.iter().for_each(|hint| put_hint(&mut recorded, hint));
        let log = node.log.len() + recorded.byte_count();
        // The addition to the log counts as well. Otherwise a name would be found to be too long
        // only when it is packed.
        let may_be_full = node.base.len() + log > longest_base && longest_base < LONGEST_BASE;
        if may_be_full || log > LONG_LOG.max(node.base.len() / 4) {
            return self.packed(version, header, hints);
        }
        NodeChange::Append { version, header, log: with_record(node.log.clone(), recorded) }
    }

    /// Packs the whole state into a new base. The last hints begin the new log, for clients that
    /// have not read them.
    fn packed(&mut self, version: i32, header: Header, hints: &[Hint]) -> NodeChange {
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
        NodeChange::Pack { version, header, log, base }
    }

    /// Forgets a quarter of the memories, the oldest first, as the ledger does when there is no
    /// room. Returns whether there were any.
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

    /// Notes that the change was written, so that the copy is as new as the znodes.
    pub(in super::super) fn keep(&mut self, change: NodeChange, hints: Vec<Hint>) {
        self.is_spoiled = false;
        let packs = matches!(change, NodeChange::Pack { .. });
        let (version, header, log, base) = match change {
            NodeChange::Nothing => return,
            NodeChange::Forget { .. } => return self.clear(),
            NodeChange::Create { header, log } => (0, header, log, Some(Vec::new())),
            NodeChange::Append { version, header, log } => (version + 1, header, log, None),
            NodeChange::Pack { version, header, log, base } => {
                (version + 1, header, log, Some(base))
            }
        };
        let base = base.or_else(|| self.node.take().map(|node| node.base)).unwrap_or_default();
        self.recent.extend(hints);
        if packs {
            self.recent.drain(..self.recent.len().saturating_sub(KEPT_HINTS));
        }
        let total = header.hints_before + self.recent.len() as u64;
        self.seen = Some((header.incarnation, total));
        self.node = Some(CopiedNode { version, header, base, log });
    }
}

/// Returns a number for a new incarnation of a name. It is random, so that no call mistakes one
/// incarnation for another.
fn fresh() -> u64 {
    let mut bytes = [0; 8];
    // Without random numbers nothing here would run, because the client's own inbox was drawn
    // before.
    getrandom::fill(&mut bytes).map_or(0, |()| u64::from_le_bytes(bytes))
}

fn with_record(mut log: Vec<u8>, record: Packer) -> Vec<u8> {
    let mut length = Packer::bare();
    length.number(record.byte_count() as u64);
    log.extend(length.into_bytes());
    log.extend(record.into_bytes());
    log
}
