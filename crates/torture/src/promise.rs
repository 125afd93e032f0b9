//! Which store promises to survive which fault. Each row cites the heading of docs/guarantees.md that says so.

use crate::{check::Check, fault::Fault, kind::Kind};

/// What a store promises about a fault.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Promise {
    /// All checks hold.
    Survives,
    /// All checks hold but these. They are a stated exception, and their breaches are counted.
    SurvivesBut(&'static [Check]),
    /// Nothing is promised. The fault is done only on request, and breaches of these checks are
    /// counted.
    Breaks(&'static [Check]),
}

/// A fault that the rig can do to a store, the promise about it, and the heading that states it.
pub type Row = (Fault, Promise, &'static str);

const LIVES: &str = "At most `limit` while the store lives";
const CRASH: &str = "A holder's crash frees its permit";
const FORGETS: &str = "After the store restarts with its data lost";
const FAILS_OVER: &str = "After fail-over";
const MOVES: &str = "While slots of a cluster move";
const QUORUM: &str = "Quorum";
const PAUSED: &str = "A paused holder";
const FENCE: &str = "The fence strictly grows";

/// Newcomers get in beside holders that have not noticed yet, and the line begins anew.
const MEMORY: Promise = Promise::Breaks(&[Check::Limit, Check::Slot, Check::Order, Check::Wakeup]);
/// A name that was forgotten while the clock was behind its fences may repeat a fence.
const CLOCK: Promise = Promise::SurvivesBut(&[Check::FenceBehind]);

/// Faults of a process and of a link, which any store can meet.
const CLIENTS: &[Row] = &[
    (Fault::KillWorker, Promise::Survives, CRASH),
    (Fault::StopWorker, Promise::Survives, PAUSED),
    (Fault::ClockClient, Promise::Survives, LIVES),
];
const LINKS: &[Row] = &[
    (Fault::Cut, Promise::Survives, LIVES),
    (Fault::Delay, Promise::Survives, LIVES),
    (Fault::HalfClose, Promise::Survives, LIVES),
    (Fault::Garble, Promise::Survives, LIVES),
    (Fault::LoseReply, Promise::Survives, LIVES),
    (Fault::Partition, Promise::Survives, LIVES),
];
const SERVER: &[Row] = &[
    (Fault::StopServer, Promise::Survives, LIVES),
    (Fault::SlowServer, Promise::Survives, LIVES),
    (Fault::ScriptFlush, Promise::Survives, LIVES),
    (Fault::OutOfMemory, Promise::Survives, LIVES),
    (Fault::ReadOnly, Promise::Survives, LIVES),
];
const EMBEDDED: &[Row] = &[
    (Fault::KillWorker, Promise::Survives, CRASH),
    (Fault::StopWorker, Promise::Survives, PAUSED),
    (Fault::ClockServer, CLOCK, FENCE),
    (Fault::DiskFull, Promise::Survives, LIVES),
];
const PERSISTENT: &[Row] = &[
    (Fault::Restart, Promise::Survives, LIVES),
    (Fault::ClockServer, CLOCK, FENCE),
    (Fault::Forget, MEMORY, FORGETS),
    (Fault::FlushAll, MEMORY, FORGETS),
    (Fault::DeleteKeys, MEMORY, FORGETS),
    (Fault::OverwriteKeys, MEMORY, FORGETS),
    (Fault::Evict, MEMORY, FORGETS),
];
const GUARDED: &[Row] = &[
    (Fault::Forget, Promise::Survives, FORGETS),
    (Fault::FlushAll, Promise::Survives, FORGETS),
    (Fault::ClockServer, CLOCK, FENCE),
    (Fault::DeleteKeys, MEMORY, FORGETS),
    (Fault::OverwriteKeys, MEMORY, FORGETS),
    (Fault::Evict, MEMORY, FORGETS),
];

const SENTINEL: &[Row] = &[
    (Fault::FailOver, Promise::Survives, FAILS_OVER),
    (Fault::Zombie, Promise::Survives, FAILS_OVER),
    (Fault::KillReplica, Promise::Survives, FAILS_OVER),
    (Fault::StopServer, Promise::Survives, LIVES),
];
const CLUSTER: &[Row] = &[
    (Fault::FailOver, Promise::Survives, FAILS_OVER),
    (Fault::KillReplica, Promise::Survives, FAILS_OVER),
    (Fault::MoveSlot, Promise::Survives, MOVES),
];
const NODES: &[Row] = &[
    (Fault::Restart, Promise::Survives, QUORUM),
    (Fault::Forget, Promise::Survives, QUORUM),
    (Fault::FlushAll, Promise::Survives, QUORUM),
    (Fault::ClockServer, CLOCK, FENCE),
];
const ENSEMBLE: &[Row] =
    &[(Fault::FailOver, Promise::Survives, LIVES), (Fault::KillReplica, Promise::Survives, LIVES)];

/// All faults that the rig can do to a store.
#[must_use]
pub fn rows(kind: Kind) -> Vec<Row> {
    let parts: &[&[Row]] = match kind {
        Kind::Embedded => &[EMBEDDED],
        Kind::Redis => &[CLIENTS, LINKS, SERVER, PERSISTENT],
        Kind::Guarded => &[CLIENTS, LINKS, SERVER, GUARDED],
        Kind::Sentinel => &[CLIENTS, SENTINEL],
        Kind::Cluster => &[CLIENTS, CLUSTER],
        Kind::Quorum => &[CLIENTS, LINKS, SERVER, NODES],
        Kind::Zookeeper => &[CLIENTS, LINKS, ENSEMBLE],
    };
    parts.concat()
}

/// The faults that the store promises to survive.
#[must_use]
pub fn survived(kind: Kind) -> Vec<Fault> {
    let is_survived = |row: &Row| (!matches!(row.1, Promise::Breaks(_))).then_some(row.0);
    rows(kind).iter().filter_map(is_survived).collect()
}

/// The checks whose breaches under these faults are counted, and not held against a store.
#[must_use]
pub fn not_promised(kind: Kind, faults: &[Fault]) -> Vec<Check> {
    let mut checks = Vec::new();
    for (fault, promise, _) in rows(kind) {
        match promise {
            Promise::SurvivesBut(but) | Promise::Breaks(but) if faults.contains(&fault) => {
                checks.extend_from_slice(but);
            }
            _ => {}
        }
    }
    checks.sort_unstable();
    checks.dedup();
    checks
}

/// The same checks for queues. A store that loses its memory loses items, and forgets which items
/// were done.
#[must_use]
pub fn queue_not_promised(kind: Kind, faults: &[Fault]) -> Vec<Check> {
    let forgets = |row: &Row| faults.contains(&row.0) && row.1 == MEMORY;
    let empties = |fault: &Fault| matches!(fault, Fault::Forget | Fault::FlushAll);
    let mut checks = Vec::new();
    if rows(kind).iter().any(forgets) || faults.iter().any(empties) {
        checks = vec![
            Check::Limit,
            Check::ItemLost,
            Check::Again,
            Check::ItemTwice,
            Check::Fence,
            Check::Order,
            Check::Wakeup,
            Check::Left,
        ];
    }
    if faults.contains(&Fault::ClockServer) {
        // Delays, order and the looks of idle workers go by that clock.
        checks.extend([Check::Fence, Check::Order, Check::Wakeup]);
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_cites_a_heading_of_the_guarantees() {
        let text = include_str!("../../../docs/guarantees.md");
        for kind in Kind::ALL {
            for (fault, _, heading) in rows(*kind) {
                assert!(
                    text.lines().any(|line| line == format!("## {heading}")),
                    "{fault}: {heading}"
                );
            }
        }
    }

    #[test]
    fn no_fault_has_two_promises() {
        for kind in Kind::ALL {
            let mut faults: Vec<_> = rows(*kind).iter().map(|row| row.0).collect();
            let count = faults.len();
            faults.sort_unstable();
            faults.dedup();
            assert_eq!(faults.len(), count, "{kind}");
        }
    }

    #[test]
    fn what_is_not_promised_depends_on_what_is_done() {
        assert_eq!(not_promised(Kind::Redis, &survived(Kind::Redis)), [Check::FenceBehind]);
        assert_eq!(not_promised(Kind::Redis, &[Fault::Restart]), []);
        assert!(not_promised(Kind::Redis, &[Fault::FlushAll]).contains(&Check::Limit));
        assert!(survived(Kind::Guarded).contains(&Fault::FlushAll));
    }
}
