//! Three nodes of a quorum. One after the other is stopped, paused, or restarted empty.

use std::{
    fmt, thread,
    time::{Duration, Instant},
};

use seinpaal_rig::{RedisServer, until};

use super::{field::BusyField, load::ClientLoad, tally::FieldTally};

/// The plan of a run.
#[derive(Clone, Debug)]
pub struct QuorumPlan {
    /// How many clients there are, each with connections of its own. Half of them use a mutex, and
    /// half a semaphore of three.
    pub clients: usize,
    /// The lease of each permit.
    pub ttl: Duration,
    /// The restart guard. `None` runs without one.
    pub guard: Option<Duration>,
    /// The shortest length of a phase. A phase in which a majority answers goes on until permits
    /// were granted in it.
    pub phase: Duration,
    /// How often all phases are repeated.
    pub rounds: u32,
    /// The seed from which the holds are drawn.
    pub seed: u64,
}

/// The results of a run.
#[derive(Debug)]
pub struct QuorumReport {
    /// A row for each phase, over all rounds.
    pub phases: Vec<PhaseRow>,
    /// The figures of the clients.
    pub tally: FieldTally,
}

/// The figures of one phase.
#[derive(Clone, Debug)]
pub struct PhaseRow {
    /// The action on the servers.
    pub phase: &'static str,
    /// Whether a majority answers and may admit clients.
    pub must_go_on: bool,
    /// The length of the phase, over all rounds.
    pub time: Duration,
    /// How many permits were granted in the phase.
    pub grants: u64,
    /// How often more clients than the limit believed to hold.
    pub over_admissions: u64,
}

/// An action on the three servers.
type Deed = fn(&mut [RedisServer; 3]);

/// How many phases a round has.
pub const PHASES: usize = EACH.len();

/// The phases: a name, whether permits must still be granted, and the action. In the last phase two
/// of three nodes may have forgotten a holder, so with the guard they admit no client until the
/// guard ends.
const EACH: [(&str, bool, Deed); 9] = [
    ("all three", true, |_| {}),
    ("one stopped", true, |nodes| nodes[0].kill()),
    ("it is back, empty", true, |nodes| nodes[0].start_again()),
    ("another paused", true, |nodes| nodes[1].pause()),
    ("it goes on", true, |nodes| nodes[1].resume()),
    ("the third restarted empty", true, |nodes| nodes[2].start_again()),
    ("all three again", true, |_| {}),
    ("one stopped", true, |nodes| nodes[0].kill()),
    ("it is back and another restarted, both empty", false, |nodes| {
        nodes[1].kill();
        nodes[0].start_again();
        nodes[1].start_again();
    }),
];

/// Runs all phases and reports.
///
/// # Panics
/// If servers or clients cannot be started, or if a majority answers in a phase and nobody is
/// granted anything for a minute.
#[must_use]
pub fn run(plan: &QuorumPlan) -> QuorumReport {
    let mut nodes: [RedisServer; 3] = std::array::from_fn(|_| RedisServer::start());
    let field = BusyField::start(load(plan), &url(&nodes, plan.guard));
    // The first grants come after the restart guard of the new servers.
    field.until_grants(plan.clients as u64);
    let phases = go_through(plan, &mut nodes, &field);
    QuorumReport { phases, tally: field.end().0 }
}

fn load(plan: &QuorumPlan) -> ClientLoad {
    ClientLoad {
        clients: plan.clients,
        names: vec![("room for 1".to_owned(), 1), ("room for 3".to_owned(), 3)],
        ttl: Some(plan.ttl),
        wait: Some(Duration::from_secs(2)),
        hold: |_, _, drawn| match drawn % 64 {
            0 => LONG_HOLD,
            _ => Duration::from_millis(2 + drawn % 20),
        },
        rest: Duration::ZERO,
        seed: plan.seed,
    }
}

/// A hold that is longer than the lease of any plan. A client draws it now and then.
const LONG_HOLD: Duration = Duration::from_secs(3);

fn url(nodes: &[RedisServer; 3], guard: Option<Duration>) -> String {
    let nodes = nodes.each_ref().map(|node| format!("127.0.0.1:{}", node.port())).join(",");
    let guard = guard.map_or_else(|| "off".to_owned(), |guard| format!("{}ms", guard.as_millis()));
    format!("redis+quorum://{nodes}?restart-guard={guard}")
}

fn go_through(plan: &QuorumPlan, nodes: &mut [RedisServer; 3], field: &BusyField) -> Vec<PhaseRow> {
    let row = |(phase, must_go_on, _): (&'static str, bool, Deed)| PhaseRow {
        phase,
        must_go_on,
        time: Duration::ZERO,
        grants: 0,
        over_admissions: 0,
    };
    let mut rows: Vec<PhaseRow> = EACH.into_iter().map(row).collect();
    for round in 0..plan.rounds {
        for (row, (_, must_go_on, deed)) in rows.iter_mut().zip(EACH) {
            let (before, began) = (field.tally(), Instant::now());
            deed(nodes);
            if must_go_on {
                until_it_goes_on(row.phase, plan, field);
            }
            thread::sleep(plan.phase.saturating_sub(began.elapsed()));
            let after = field.tally();
            row.time += began.elapsed();
            row.grants += after.grants - before.grants;
            row.over_admissions += after.over_admissions - before.over_admissions;
        }
        // Every node plays another part in the next round.
        nodes.rotate_left(1 + round as usize % 2);
        field.until_grants(10); // after the guard
    }
    rows
}

/// Waits for more grants than clients can have asked for before the phase began. If a majority
/// answers, the wait ends on any machine, however slow it is.
fn until_it_goes_on(phase: &str, plan: &QuorumPlan, field: &BusyField) {
    let before = field.tally().grants;
    let is_enough = || field.tally().grants - before > plan.clients as u64;
    until(&format!("permits are granted while {phase}"), is_enough);
}

impl fmt::Display for QuorumReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| phase | seconds | grants a second | more than the limit |\n|---|---|---|---|"
        )?;
        for row in &self.phases {
            let seconds = row.time.as_secs_f64();
            let rate = row.grants as f64 / seconds;
            writeln!(f, "| {} | {seconds:.1} | {rate:.1} | {} |", row.phase, row.over_admissions)?;
        }
        let FieldTally { grants, over_admissions, lost, .. } = self.tally;
        writeln!(f, "{grants} grants, more than the limit {over_admissions} times, {lost} lost")
    }
}
