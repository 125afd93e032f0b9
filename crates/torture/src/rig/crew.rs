//! The workers of the rig: processes that start and end, each behind proxies of its own.

use std::{io, process::Command, time::Duration};

use seinpaal_rig::{Clocks, Proxy, fork};

use super::TorturePlan;

use crate::{
    history::Pen,
    kind::{StartedStore, StoreKind},
    lives::Lives,
};

pub(super) struct WorkerCrew<'a> {
    plan: &'a TorturePlan,
    clocks: &'a Clocks,
    lives: Lives,
    ways: Vec<WayToStore>,
}

/// The way of one worker to the store.
struct WayToStore {
    url: String,
    proxies: Vec<Proxy>,
}

/// Returns the name of the clock that a worker goes by. Without a server, all workers go by the
/// machine's clock.
pub(super) fn clock_of(kind: StoreKind, worker: usize) -> String {
    if kind == StoreKind::Embedded { "machine".to_owned() } else { format!("w{worker}") }
}

impl WayToStore {
    fn open(site: &dyn StartedStore) -> io::Result<Self> {
        let proxies: Vec<_> =
            site.upstreams().into_iter().map(Proxy::start).collect::<io::Result<_>>()?;
        let ports: Vec<_> = proxies.iter().map(Proxy::port).collect();
        Ok(Self { url: site.url(&ports), proxies })
    }
}

impl<'a> WorkerCrew<'a> {
    pub(super) fn start(
        plan: &'a TorturePlan,
        clocks: &'a Clocks,
        pen: &Pen,
        site: &dyn StartedStore,
    ) -> io::Result<Self> {
        let ways: io::Result<_> = (0..plan.workers).map(|_| WayToStore::open(site)).collect();
        let mut crew = Self { plan, clocks, lives: Lives::new(pen, plan.workers), ways: ways? };
        (0..plan.workers).try_for_each(|worker| crew.begin_life(worker))?;
        Ok(crew)
    }

    pub(super) fn proxies(&self, worker: usize) -> &[Proxy] {
        &self.ways[worker].proxies
    }

    /// Starts a worker, or its next life.
    pub(super) fn begin_life(&mut self, worker: usize) -> io::Result<()> {
        let (plan, clocks, url) = (self.plan, self.clocks, &self.ways[worker].url);
        self.lives.begin(worker, |life, name| {
            let seed = fork(plan.seed, (worker as u64 + 1) << 32 | life).u64(..);
            let numbers = [seed, plan.ttl.as_millis() as u64, plan.tasks];
            let mut command = Command::new(&plan.program);
            command
                .args(["worker", url, name])
                .arg(&plan.history)
                .args(numbers.map(|number| number.to_string()))
                .arg(what_to_use(plan))
                .envs(clocks.environment(&clock_of(plan.kind, worker)));
            command
        })
    }

    pub(super) fn kill(&mut self, worker: usize) -> io::Result<()> {
        self.lives.kill(worker)
    }

    pub(super) fn stop(&self, worker: usize, time: Duration) {
        self.lives.stop(worker, time);
    }

    /// Tells all workers to finish. Waits until they have ended, at most for `bound`.
    pub(super) fn finish(&mut self, bound: Duration) {
        self.lives.finish(bound);
    }
}

/// Returns the argument that tells a worker to use the queue, or the names with their limits.
fn what_to_use(plan: &TorturePlan) -> String {
    if plan.queue {
        return "queue".to_owned();
    }
    let names: Vec<_> = plan.names.iter().map(|(name, limit)| format!("{name}:{limit}")).collect();
    names.join(",")
}
