//! A cluster whose masters are killed and whose hash slots move.

use std::{
    fmt,
    time::{Duration, Instant},
};

use seinpaal_rig::RedisCluster;

use super::{
    field::BusyField,
    load::ClientLoad,
    tally::{FieldTally, SortedTimes},
};

/// The ttl of permits: long enough to keep a permit over a fail-over.
const TTL: Duration = Duration::from_secs(15);
/// One client in this many holds its permit for so long that a fault falls into that time.
const PATIENT: usize = 16;
/// How many names each master has.
const NAMES: usize = 2;
const MASTERS: usize = 3;

/// The plan of a run.
#[derive(Clone, Debug)]
pub struct ClusterPlan {
    /// How many clients, each with connections of its own.
    pub clients: usize,
    /// How many permits each name has.
    pub limit: u32,
    /// How many masters are killed. Each comes back as a replica before the next is killed.
    pub kills: u32,
    /// How many times every hash slot in use is moved to another master.
    pub moves: u32,
    /// The store's options, such as `?replicated=1`.
    pub options: &'static str,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// The results of a run.
#[derive(Clone, Debug, Default)]
pub struct ClusterReport {
    /// The figures of the clients.
    pub tally: FieldTally,
    /// For each fault and each client that it hit, the time until the client's next permit.
    pub recoveries: SortedTimes,
    /// For each kill, the time until another node had the hash slots.
    pub promotions: SortedTimes,
}

impl fmt::Display for ClusterReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tally.fmt(f)?;
        if !self.promotions.is_empty() {
            let promoted = self.promotions.seconds(&[("p50", 0.5), ("worst", 1.0)]);
            write!(f, " | promoted after {promoted}")?;
        }
        let next = self.recoveries.seconds(&[("p50", 0.5), ("p99", 0.99), ("worst", 1.0)]);
        write!(f, " | next permit after {next}")
    }
}

/// A run under way.
struct ClusterRun {
    cluster: RedisCluster,
    names: Vec<String>,
    field: BusyField,
    report: ClusterReport,
}

/// Runs the plan on a cluster of its own.
///
/// # Panics
/// If a node does not start, or a client gets no permit within a minute after a fault.
#[must_use]
pub fn run(plan: &ClusterPlan) -> ClusterReport {
    let cluster = RedisCluster::start();
    let names = names(&cluster);
    let field = BusyField::start(load(plan, &names), &format!("{}{}", cluster.url(), plan.options));
    let mut run = ClusterRun { cluster, names, field, report: ClusterReport::default() };
    drop(run.field.until_all_had_one(&run.field.clients_at(|_| true)));
    (0..plan.kills).for_each(|_| run.kill_one());
    (0..plan.moves).for_each(|_| run.move_all());
    ClusterReport { tally: run.field.end().0, ..run.report }
}

fn load(plan: &ClusterPlan, names: &[String]) -> ClientLoad {
    ClientLoad {
        clients: plan.clients,
        names: names.iter().map(|name| (name.clone(), plan.limit)).collect(),
        ttl: Some(TTL),
        wait: None,
        hold: |client, _, drawn| {
            let longest = if is_patient(client) { 6000 } else { 20 };
            Duration::from_millis(1 + drawn % longest)
        },
        rest: Duration::ZERO,
        seed: plan.seed,
    }
}

fn is_patient(client: usize) -> bool {
    client.is_multiple_of(PATIENT)
}

/// Returns names, equally many at each master.
fn names(cluster: &RedisCluster) -> Vec<String> {
    let mut names = Vec::new();
    for master in 0..MASTERS {
        let all = (0..).map(|i| format!("under fire {i}"));
        names.extend(all.filter(|name| cluster.owner_of(&key(name)) == master).take(NAMES));
    }
    names
}

fn key(name: &str) -> String {
    format!("seinpaal:{{{name}}}")
}

impl ClusterRun {
    /// Kills a master after some more grants, and starts it again, empty, once its replica has
    /// taken over.
    fn kill_one(&mut self) {
        self.field.until_grants(50 + self.field.draw(500));
        let struck = key(&self.names[self.field.draw(self.names.len() as u64) as usize]);
        let old = self.cluster.owner_of(&struck);
        let owned: Vec<bool> =
            self.names.iter().map(|name| self.cluster.owner_of(&key(name)) == old).collect();
        let killed = self.field.mark();
        self.cluster.kill(old);
        self.cluster.await_owner(&struck);
        self.report.promotions.add([killed.elapsed()]);
        self.cluster.start_again(old);
        self.recover(killed, |name| owned[name]);
        self.cluster.await_health();
    }

    /// Moves the hash slot of every name to the next master, key by key.
    fn move_all(&mut self) {
        let masters = self.cluster.masters();
        for moved in 0..self.names.len() {
            self.field.until_grants(20 + self.field.draw(50));
            let key = key(&self.names[moved]);
            let (hash_slot, from) = (self.cluster.hash_slot_of(&key), self.cluster.owner_of(&key));
            let at = masters.iter().position(|master| *master == from);
            let next = (at.expect("an owner is a master") + 1) % masters.len();
            let began = self.field.mark();
            self.cluster.move_hash_slot(hash_slot, from, masters[next]);
            self.recover(began, |name| name == moved);
        }
    }

    /// Waits until each client of these names has a permit again. Clients that hold for long are
    /// left out, because they keep their permit over the fault.
    fn recover(&mut self, since: Instant, is_hit: impl Fn(usize) -> bool) {
        let mut hit = self.field.clients_at(is_hit);
        hit.retain(|client| !is_patient(*client));
        let firsts = self.field.until_all_had_one(&hit);
        self.report.recoveries.add(firsts.into_iter().map(|first| first - since));
        self.field.until_all_recovered(&hit);
    }
}
