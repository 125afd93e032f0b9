//! The table of stores and the faults that they promise to survive. Each row cites the heading of
//! docs/guide/promises.md that says so.

use crate::{check::Check, fault::TortureFault, kind::StoreKind};

/// The promise of a store about a fault.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Promise {
    /// All checks hold.
    Survives,
    /// All checks but these hold. The exception is stated in the guarantees, and breaches are
    /// counted.
    SurvivesBut(&'static [Check]),
    /// Nothing is promised. The fault is done only on request, and breaches of these checks are
    /// counted.
    Breaks(&'static [Check]),
}

/// A fault that the rig can do to a store, the promise about it, and the heading that states it.
pub type FaultPromise = (TortureFault, Promise, &'static str);

const LIVES: &str = "At most `limit` while the store lives";
const CRASH: &str = "A holder's crash frees its permit";
const FORGETS: &str = "After the store restarts with its data lost";
const FAILS_OVER: &str = "After fail-over";
const MOVES: &str = "While hash slots of a cluster move";
const QUORUM: &str = "Quorum";
const PAUSED: &str = "A paused holder";
const FENCE: &str = "The fencing token strictly grows";

/// A store that loses its memory admits new holders beside holders that have not noticed the loss
/// yet, and its line begins anew.
const MEMORY: Promise = Promise::Breaks(&[Check::Limit, Check::Slot, Check::Order, Check::Wakeup]);
/// A store that forgets a name while its clock is behind the name's fences may repeat a fence.
const CLOCK: Promise = Promise::SurvivesBut(&[Check::FenceBehind]);

/// The faults of a worker and of a connection, which any store can meet.
const CLIENTS: &[FaultPromise] = &[
    (TortureFault::KillWorker, Promise::Survives, CRASH),
    (TortureFault::StopWorker, Promise::Survives, PAUSED),
    (TortureFault::ClockClient, Promise::Survives, LIVES),
];
const LINKS: &[FaultPromise] = &[
    (TortureFault::Cut, Promise::Survives, LIVES),
    (TortureFault::Delay, Promise::Survives, LIVES),
    (TortureFault::HalfClose, Promise::Survives, LIVES),
    (TortureFault::Garble, Promise::Survives, LIVES),
    (TortureFault::LoseReply, Promise::Survives, LIVES),
    (TortureFault::Partition, Promise::Survives, LIVES),
];
const SERVER: &[FaultPromise] = &[
    (TortureFault::StopServer, Promise::Survives, LIVES),
    (TortureFault::SlowServer, Promise::Survives, LIVES),
    (TortureFault::ScriptFlush, Promise::Survives, LIVES),
    (TortureFault::OutOfMemory, Promise::Survives, LIVES),
    (TortureFault::ReadOnly, Promise::Survives, LIVES),
];
const EMBEDDED: &[FaultPromise] = &[
    (TortureFault::KillWorker, Promise::Survives, CRASH),
    (TortureFault::StopWorker, Promise::Survives, PAUSED),
    (TortureFault::ClockServer, CLOCK, FENCE),
    (TortureFault::DiskFull, Promise::Survives, LIVES),
];
const PERSISTENT: &[FaultPromise] = &[
    (TortureFault::Restart, Promise::Survives, LIVES),
    (TortureFault::ClockServer, CLOCK, FENCE),
    (TortureFault::Forget, MEMORY, FORGETS),
    (TortureFault::FlushAll, MEMORY, FORGETS),
    (TortureFault::DeleteKeys, MEMORY, FORGETS),
    (TortureFault::OverwriteKeys, MEMORY, FORGETS),
    (TortureFault::Evict, MEMORY, FORGETS),
];
const GUARDED: &[FaultPromise] = &[
    (TortureFault::Forget, Promise::Survives, FORGETS),
    (TortureFault::FlushAll, Promise::Survives, FORGETS),
    (TortureFault::ClockServer, CLOCK, FENCE),
    (TortureFault::DeleteKeys, MEMORY, FORGETS),
    (TortureFault::OverwriteKeys, MEMORY, FORGETS),
    (TortureFault::Evict, MEMORY, FORGETS),
];

const SENTINEL: &[FaultPromise] = &[
    (TortureFault::FailOver, Promise::Survives, FAILS_OVER),
    (TortureFault::Zombie, Promise::Survives, FAILS_OVER),
    (TortureFault::KillReplica, Promise::Survives, FAILS_OVER),
    (TortureFault::StopServer, Promise::Survives, LIVES),
];
const CLUSTER: &[FaultPromise] = &[
    (TortureFault::FailOver, Promise::Survives, FAILS_OVER),
    (TortureFault::KillReplica, Promise::Survives, FAILS_OVER),
    (TortureFault::MoveSlot, Promise::Survives, MOVES),
];
const NODES: &[FaultPromise] = &[
    (TortureFault::Restart, Promise::Survives, QUORUM),
    (TortureFault::Forget, Promise::Survives, QUORUM),
    (TortureFault::FlushAll, Promise::Survives, QUORUM),
    (TortureFault::ClockServer, CLOCK, FENCE),
];
const ENSEMBLE: &[FaultPromise] = &[
    (TortureFault::FailOver, Promise::Survives, LIVES),
    (TortureFault::KillReplica, Promise::Survives, LIVES),
];

/// Returns all faults that the rig can do to a store.
#[must_use]
pub fn rows(kind: StoreKind) -> Vec<FaultPromise> {
    let parts: &[&[FaultPromise]] = match kind {
        StoreKind::Embedded => &[EMBEDDED],
        StoreKind::Redis => &[CLIENTS, LINKS, SERVER, PERSISTENT],
        StoreKind::Guarded => &[CLIENTS, LINKS, SERVER, GUARDED],
        StoreKind::Sentinel => &[CLIENTS, SENTINEL],
        StoreKind::Cluster => &[CLIENTS, CLUSTER],
        StoreKind::Quorum => &[CLIENTS, LINKS, SERVER, NODES],
        StoreKind::Zookeeper => &[CLIENTS, LINKS, ENSEMBLE],
    };
    parts.concat()
}

/// Returns the faults that the store promises to survive.
#[must_use]
pub fn survived(kind: StoreKind) -> Vec<TortureFault> {
    let is_survived = |row: &FaultPromise| (!matches!(row.1, Promise::Breaks(_))).then_some(row.0);
    rows(kind).iter().filter_map(is_survived).collect()
}

/// Returns the checks whose breaches under these faults are counted, and not held against a store.
#[must_use]
pub fn not_promised(kind: StoreKind, faults: &[TortureFault]) -> Vec<Check> {
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

/// Returns these checks for queues. A store that loses its memory loses items, and forgets which
/// items were done.
#[must_use]
pub fn queue_not_promised(kind: StoreKind, faults: &[TortureFault]) -> Vec<Check> {
    let forgets = |row: &FaultPromise| faults.contains(&row.0) && row.1 == MEMORY;
    let empties =
        |fault: &TortureFault| matches!(fault, TortureFault::Forget | TortureFault::FlushAll);
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
    if faults.contains(&TortureFault::ClockServer) {
        // Delays, the order of items, and the looks of idle workers go by the store's clock.
        checks.extend([Check::Fence, Check::Order, Check::Wakeup]);
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_cites_a_heading_of_the_guarantees() {
        let text = include_str!("../../../docs/guide/promises.md");
        for kind in StoreKind::ALL {
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
        for kind in StoreKind::ALL {
            let mut faults: Vec<_> = rows(*kind).iter().map(|row| row.0).collect();
            let count = faults.len();
            faults.sort_unstable();
            faults.dedup();
            assert_eq!(faults.len(), count, "{kind}");
        }
    }

    #[test]
    fn what_is_not_promised_depends_on_what_is_done() {
        assert_eq!(
            not_promised(StoreKind::Redis, &survived(StoreKind::Redis)),
            [Check::FenceBehind]
        );
        assert_eq!(not_promised(StoreKind::Redis, &[TortureFault::Restart]), []);
        assert!(not_promised(StoreKind::Redis, &[TortureFault::FlushAll]).contains(&Check::Limit));
        assert!(survived(StoreKind::Guarded).contains(&TortureFault::FlushAll));
    }
}
