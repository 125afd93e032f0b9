//! The rows of the table, and the parts that they share.

mod embedded;
mod grants;
mod names;
mod ours;
mod pair;
mod program;
pub(crate) mod queue;
mod rates;

use std::io;

use crate::{
    peer::{self, Peer},
    report::Report,
};

/// A row: one measurement that is made of every peer.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Whether the peer with the smallest first figure is best, or the one with the largest.
    pub(crate) best: Best,
    measure: fn(&mut Bench, &Self) -> io::Result<()>,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Best {
    Least,
    Most,
}

/// The parts that all rows use.
pub(crate) struct Bench {
    /// The names of the peers to measure. `None` means every peer.
    pub(crate) wanted: Option<Vec<String>>,
    pub(crate) report: Report,
}

pub(crate) fn all() -> Vec<Row> {
    use Best::{Least, Most};
    let row = |name, title, best, measure| Row { name, title, best, measure };
    vec![
        row("pair", "acquire and release, nobody else: server instructions", Least, pair::alone),
        row(
            "dropped",
            "a permit dropped and asked for again: server instructions",
            Least,
            ours::dropped,
        ),
        row(
            "merged",
            "16 and 64 tasks at one name: server instructions a pair",
            Least,
            pair::merged,
        ),
        row(
            "handover",
            "queue a waiter and hand over to it: server instructions",
            Least,
            ours::handover,
        ),
        row("renewal", "renew all permits of one lease: server instructions", Least, ours::renewal),
        row(
            "guarded",
            "acquire and release with restart-guard: server instructions",
            Least,
            ours::guarded,
        ),
        row("write", "a guarded write of one value: server instructions", Least, ours::write),
        row(
            "growth",
            "a pair beside holders and waiters: server instructions",
            Least,
            ours::growth,
        ),
        row(
            "crowd",
            "clients that contend for a mutex, and for a readers-writer lock: server instructions",
            Least,
            ours::crowd,
        ),
        row(
            "queue",
            "a queue's push, and pop with acknowledge: server instructions an item",
            Least,
            queue::items,
        ),
        row("alone", "one task: pairs a second", Most, rates::alone),
        row("apart", "64 tasks at 64 names: pairs a second", Most, rates::apart),
        row("together", "64 tasks at one name, limit 64: pairs a second", Most, rates::together),
        row("handoff", "two processes, limit 1, each holds for 20 ms", Least, grants::handoff),
        row("commands", "limit 1, 20 ms in hand: commands a grant", Least, grants::commands),
        row(
            "fairness",
            "64 tasks, limit 1, no hold, 3 s: grants of one task",
            Most,
            grants::fairness,
        ),
        row(
            "idle",
            "waiting for a permit that does not come: commands a second",
            Least,
            grants::idle,
        ),
        row("names", "100 000 names of one client", Least, names::many),
        row("embedded", "one task, no server: pairs a second", Most, embedded::pairs),
        row("run", "run -- true beside flock", Least, program::run),
    ]
}

impl Bench {
    /// Measures a row. If that fails, the report gets a line with the error, and the next row can
    /// still be measured.
    pub(crate) fn measure(&mut self, row: &Row) -> io::Result<()> {
        match (row.measure)(self, row) {
            Ok(()) => Ok(()),
            Err(error) => self.report.left_out(row, ("all", ""), &error),
        }
    }

    pub(crate) fn wants(&self, name: &str) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted.iter().any(|it| it == name))
    }

    /// Returns whether to measure yardsticks and other forms of Seinpaal. They are left out if
    /// `--peers` names only other peers.
    pub(crate) fn wants_ours(&self) -> bool {
        self.wants(peer::OURS)
    }

    /// The peers that are wanted and that this machine has.
    pub(crate) fn peers(&mut self, row: &Row, fits: fn(&Peer) -> bool) -> io::Result<Vec<Peer>> {
        let mut ready = Vec::new();
        for peer in peer::all().into_iter().filter(fits) {
            if !self.wants(peer.name) {
                continue;
            }
            match peer.prepare() {
                Ok(()) => ready.push(peer),
                Err(error) => self.report.left_out(row, (peer.shown, peer.version), &error)?,
            }
        }
        Ok(ready)
    }

    /// Measures each of the peers by itself.
    pub(crate) fn each(
        &mut self,
        row: &Row,
        fits: fn(&Peer) -> bool,
        figures: impl Fn(&Peer) -> io::Result<Vec<(&'static str, f64)>>,
    ) -> io::Result<()> {
        for peer in self.peers(row, fits)? {
            match figures(&peer) {
                Ok(figures) => self.report.of(row, &peer, &figures)?,
                Err(error) => self.report.left_out(row, (peer.shown, peer.version), &error)?,
            }
        }
        Ok(())
    }
}

/// Runs a measurement in this process, on a runtime of its own.
fn block_on<T>(work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(work)
}

fn everyone(_: &Peer) -> bool {
    true
}

fn counting(peer: &Peer) -> bool {
    peer.counts
}
