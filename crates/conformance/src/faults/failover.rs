//! Servers behind sentinels, whose masters are killed one after the other.

use std::{
    fmt,
    time::{Duration, Instant},
};

use seinpaal_rig::{SentinelServers, until};

use super::{
    field::BusyField,
    load::{ClientLoad, Pace},
    tally::{FieldTally, SortedTimes},
};

/// The ttl of permits: long enough to keep a permit over a fail-over.
const TTL: Duration = Duration::from_secs(15);
/// One client in this many holds its permits for so long that a fail-over falls into that time.
const PATIENT: usize = 8;
/// The longest time that a master goes on alone before it is killed.
const WITHOUT_REPLICAS: Duration = Duration::from_millis(300);

/// The plan of a run.
#[derive(Clone, Debug)]
pub struct FailoverPlan {
    /// How many clients, each with a connection of its own.
    pub clients: usize,
    /// How many permits they share.
    pub limit: u32,
    /// How many masters are killed, one after the other.
    pub kills: u32,
    /// How many replicas the master has.
    pub replicas: usize,
    /// The store option; `None` leaves it out.
    pub replicated: Option<u32>,
    /// The fault of the masters.
    pub fault: MasterFault,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// A fault of a master.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MasterFault {
    /// The master's process is killed. Its kernel still delivers what was sent to replicas.
    Killed,
    /// The master's last writes die with it, as if its whole machine had gone.
    LastWritesLost,
    /// As [`LastWritesLost`](Self::LastWritesLost), in the middle of a rush after a time in which
    /// no client held anything, so that replicas know of no holder.
    RushLost,
}

/// The results of a run.
#[derive(Clone, Debug, Default)]
pub struct FailoverReport {
    /// The figures of the clients.
    pub tally: FieldTally,
    /// For each kill and each client that does not hold on, the time until the client's next
    /// permit.
    pub recoveries: SortedTimes,
    /// For each kill, the time until most sentinels knew the next master.
    pub promotions: SortedTimes,
    /// For each kill, the time until the next master had all its replicas.
    pub wholes: SortedTimes,
}

impl fmt::Display for FailoverReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usual = [("after", 0.5), ("worst", 1.0)];
        write!(
            f,
            "{} | promoted {} | all replicas {} | clients after: {}",
            self.tally,
            self.promotions.seconds(&usual),
            self.wholes.seconds(&usual),
            self.recoveries.seconds(&[("p50", 0.5), ("p99", 0.99), ("worst", 1.0)])
        )
    }
}

/// A run under way.
struct FailoverRun<'a> {
    plan: &'a FailoverPlan,
    servers: SentinelServers,
    field: BusyField,
    report: FailoverReport,
}

/// Runs the plan on servers of its own.
///
/// # Panics
/// If a server does not start or a client does not recover within a minute.
#[must_use]
pub fn run(plan: &FailoverPlan) -> FailoverReport {
    let servers = SentinelServers::start(plan.replicas);
    let options = plan.replicated.map(|n| format!("?replicated={n}")).unwrap_or_default();
    let field = BusyField::start(load(plan), &servers.url(&options));
    let mut run = FailoverRun { plan, servers, field, report: FailoverReport::default() };
    drop(run.field.until_all_had_one(&run.impatient()));
    for kill in 0..plan.kills {
        if kill > 0 {
            run.servers.until_whole();
        }
        run.kill_one();
    }
    FailoverReport { tally: run.field.end().0, ..run.report }
}

fn load(plan: &FailoverPlan) -> ClientLoad {
    ClientLoad {
        clients: plan.clients,
        names: vec![("under fire".to_owned(), plan.limit)],
        ttl: Some(TTL),
        wait: None,
        hold: |client, pace, drawn| {
            let holds_on = pace == Pace::Rush || is_patient(client);
            Duration::from_millis(1 + drawn % if holds_on { 6000 } else { 20 })
        },
        // With this rest some permits are free now and then, and so at the moment of some faults.
        rest: Duration::from_millis(200),
        seed: plan.seed,
    }
}

fn is_patient(client: usize) -> bool {
    client.is_multiple_of(PATIENT)
}

impl FailoverRun<'_> {
    /// The clients that do not hold on.
    fn impatient(&self) -> Vec<usize> {
        (0..self.plan.clients).filter(|client| !is_patient(*client)).collect()
    }

    /// Kills the master after some more grants, and starts it again, empty, as a replica of the
    /// next one.
    fn kill_one(&mut self) {
        let clients = self.plan.clients as u64;
        let some = clients + self.field.draw(8 * clients);
        self.field.until_grants(some);
        let old = self.servers.master();
        if self.plan.fault != MasterFault::Killed {
            self.go_on_without_replicas(some);
        }
        let killed = self.field.mark();
        self.servers.kill(old);
        self.servers.resume_all();
        self.servers.until_promoted(old);
        self.report.promotions.add([killed.elapsed()]);
        self.servers.start_again(old);
        self.servers.until_all_follow();
        self.report.wholes.add([killed.elapsed()]);
        let firsts = self.field.until_all_had_one(&self.impatient());
        self.report.recoveries.add(firsts.into_iter().map(|first| first - killed));
        self.field.until_all_recovered(&self.impatient());
    }

    /// Lets the master grant this many more permits, for a short time only, while no replica hears
    /// of them.
    fn go_on_without_replicas(&self, some: u64) {
        let has_rush = self.plan.fault == MasterFault::RushLost;
        if has_rush {
            self.field.set_pace(Pace::Quiet);
            self.field.until_nobody_holds();
        }
        self.servers.cut_replication();
        self.field.set_pace(if has_rush { Pace::Rush } else { Pace::Normal });
        let (grants, soon) = (self.field.tally().grants, Instant::now() + WITHOUT_REPLICAS);
        let most = if has_rush { u64::from(self.plan.limit) } else { some };
        until("time passes", || {
            self.field.tally().grants >= grants + most || Instant::now() >= soon
        });
        self.field.set_pace(Pace::Normal);
    }
}
