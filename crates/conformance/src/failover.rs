//! A fault run: many clients share a few permits behind sentinels while master after master is killed.
//!
//! What is judged is what clients *believe*, by one monotonic clock: a permit counts from the moment at
//! which its holder has it in hand for as long as the holder's guard says that it is held.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use seinpaal::{Permit, Seinpaal};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::draws::Draws;
use seinpaal_rig::{SentinelServers, until};

const NAME: &str = "under fire";
/// Long enough to keep a permit over a fail-over.
const TTL: Duration = Duration::from_secs(15);
/// One client in so many holds on to its permits for so long that a fail-over falls into it.
const PATIENT: usize = 8;
/// How often clients are asked to end.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How clients behave: as they are, or taking no permits, or holding on to all they take.
const NORMAL: u8 = 0;
const QUIET: u8 = 1;
const RUSH: u8 = 2;
/// How long a master goes on alone before it is killed, at most.
const WITHOUT_REPLICAS: Duration = Duration::from_millis(300);

/// What to do.
#[derive(Clone, Debug)]
pub struct Plan {
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
    /// What happens to masters.
    pub fault: Fault,
    /// From which what is left to chance is drawn.
    pub seed: u64,
}

/// What happens to a master.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// Its process is killed. What it had sent to replicas its kernel still delivers.
    Killed,
    /// What it last wrote dies with it, as if its whole machine had gone.
    LastWritesLost,
    /// The same, and it was in a rush after a time in which nobody held anything: replicas know of no holder.
    RushLost,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Permits acquired.
    pub grants: u64,
    /// Acquisitions that made it more than `limit` at that moment.
    pub over_admissions: u64,
    /// The most permits that were believed in at one moment.
    pub most_held: usize,
    /// Permits that their holders lost.
    pub lost: u64,
    /// Requests that ended in an error.
    pub errors: u64,
    /// For each kill and client (but those that hold on), in order of length: how long until its next permit.
    pub recoveries: Vec<Duration>,
    /// For each kill, in order of length: how long until most sentinels knew the next master.
    pub promotions: Vec<Duration>,
    /// For each kill, in order of length: how long until the next master had all its replicas.
    pub wholes: Vec<Duration>,
}

impl Report {
    /// Every client had a permit again no later than this after each kill.
    #[must_use]
    pub fn worst_recovery(&self) -> Duration {
        share(&self.recoveries, 1.0)
    }
}

/// What this share of all is no longer than.
fn share(sorted: &[Duration], share: f64) -> Duration {
    let at = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
    sorted.get(at).copied().unwrap_or_default()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |all, part| share(all, part).as_secs_f64();
        write!(
            f,
            "{} grants | over-admissions {} | most held {} | lost {} | errors {} | promoted after {:.2} s, \
             worst {:.2} s | all replicas after {:.2} s, worst {:.2} s | clients after: p50 {:.2} s, p99 {:.2} s, worst {:.2} s",
            self.grants,
            self.over_admissions,
            self.most_held,
            self.lost,
            self.errors,
            seconds(&self.promotions, 0.5),
            seconds(&self.promotions, 1.0),
            seconds(&self.wholes, 0.5),
            seconds(&self.wholes, 1.0),
            seconds(&self.recoveries, 0.5),
            seconds(&self.recoveries, 0.99),
            seconds(&self.recoveries, 1.0)
        )
    }
}

/// Runs it, on servers of its own.
///
/// # Panics
/// If a server does not start or a client does not recover within a minute.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut servers = SentinelServers::start(plan.replicas);
    let options = plan.replicated.map(|n| format!("?replicated={n}")).unwrap_or_default();
    let field = Arc::new(Field::new(plan));
    let clients = {
        let (field, url) = (Arc::clone(&field), servers.url(&options));
        thread::spawn(move || field.populate(&url))
    };
    field.until_all_had_one();
    let mut times = Report::default();
    for kill in 0..plan.kills {
        if kill > 0 {
            servers.until_whole();
        }
        kill_one(&mut servers, &field, &mut times);
    }
    field.is_over.store(true, Ordering::SeqCst);
    clients.join().expect("the clients end");
    let Report { mut recoveries, mut promotions, mut wholes, .. } = times;
    [&mut recoveries, &mut promotions, &mut wholes].into_iter().for_each(|times| times.sort());
    Report { recoveries, promotions, wholes, ..field.report() }
}

/// Kills the master after some more grants, and starts it again, empty, as a replica of the next.
fn kill_one(servers: &mut SentinelServers, field: &Field, times: &mut Report) {
    let clients = field.plan.clients as u64;
    let (now, some) = (field.report().grants, clients + field.draws.next() % (8 * clients));
    until("some more grants", || field.report().grants >= now + some);
    let old = servers.master();
    let has_rush = field.plan.fault == Fault::RushLost;
    if has_rush {
        field.pace.store(QUIET, Ordering::SeqCst);
        until("nobody holds anything", || field.lock().hands.iter().all(Option::is_none));
    }
    if field.plan.fault != Fault::Killed {
        servers.cut_replication();
        field.pace.store(if has_rush { RUSH } else { NORMAL }, Ordering::SeqCst);
        let (grants, soon) = (field.report().grants, Instant::now() + WITHOUT_REPLICAS);
        let most = if has_rush { u64::from(field.plan.limit) } else { some };
        until("time passes", || field.report().grants >= grants + most || Instant::now() >= soon);
        field.pace.store(NORMAL, Ordering::SeqCst);
    }
    let killed = Instant::now();
    field.lock().first.fill(None);
    servers.kill(old);
    servers.resume_all();
    servers.until_promoted(old);
    times.promotions.push(killed.elapsed());
    servers.start_again(old);
    servers.until_all_follow();
    times.wholes.push(killed.elapsed());
    let firsts = field.until_all_had_one();
    times.recoveries.extend(firsts.into_iter().map(|first| first - killed));
}

fn is_patient(client: usize) -> bool {
    client.is_multiple_of(PATIENT)
}

/// Where the clients are.
struct Field {
    plan: Plan,
    state: Mutex<State>,
    draws: Draws,
    pace: AtomicU8,
    is_over: AtomicBool,
}

#[derive(Default)]
struct State {
    /// What each client has in hand.
    hands: Vec<Option<Permit>>,
    /// When each client first got a permit since the last kill.
    first: Vec<Option<Instant>>,
    report: Report,
}

impl Field {
    fn new(plan: &Plan) -> Self {
        let mut state = State::default();
        state.hands.resize_with(plan.clients, || None);
        state.first.resize(plan.clients, None);
        let draws = Draws::new(plan.seed);
        let state = Mutex::new(state);
        let (pace, is_over) = (AtomicU8::new(NORMAL), AtomicBool::new(false));
        Self { plan: plan.clone(), state, draws, pace, is_over }
    }

    /// Lets all clients work until it is over.
    fn populate(self: &Arc<Self>, url: &str) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let mut tasks = JoinSet::new();
            for client in 0..self.plan.clients {
                tasks.spawn(Arc::clone(self).work(client, url.to_owned()));
            }
            while !self.is_over.load(Ordering::SeqCst) {
                let ended = timeout(LOOK_EVERY, tasks.join_next()).await;
                assert!(ended.is_err(), "a client ended: {ended:?}");
            }
        });
    }

    async fn work(self: Arc<Self>, client: usize, url: String) {
        let seinpaal = Seinpaal::builder(&url).ttl(TTL).connect().await.expect("a connection");
        let semaphore = seinpaal.semaphore(NAME).limit(self.plan.limit);
        loop {
            if self.pace.load(Ordering::SeqCst) == QUIET {
                sleep(Duration::from_millis(1)).await;
                continue;
            }
            match semaphore.acquire().await {
                Ok(permit) => self.take(client, permit),
                Err(_) => {
                    self.lock().report.errors += 1;
                    continue;
                }
            }
            sleep(self.up_to(self.longest_hold(client))).await;
            if let Some(permit) = self.give(client) {
                let _ = permit.release().await; // that it was lost is in the report already
            }
            // So that some are free now and then, also at the moment of a fault.
            sleep(self.up_to(200)).await;
        }
    }

    fn longest_hold(&self, client: usize) -> u64 {
        let has_rush = self.pace.load(Ordering::SeqCst) == RUSH;
        if has_rush || is_patient(client) { 6000 } else { 20 }
    }

    fn up_to(&self, milliseconds: u64) -> Duration {
        Duration::from_millis(1 + self.draws.next() % milliseconds)
    }

    /// A permit is in hand: this is the only moment at which there can be more than before.
    fn take(&self, client: usize, permit: Permit) {
        let mut state = self.lock();
        state.hands[client] = Some(permit);
        state.first[client].get_or_insert_with(Instant::now);
        let held = state.hands.iter().flatten().filter(|permit| permit.is_held()).count();
        state.report.grants += 1;
        state.report.over_admissions += u64::from(held > self.plan.limit as usize);
        state.report.most_held = state.report.most_held.max(held);
    }

    fn give(&self, client: usize) -> Option<Permit> {
        let mut state = self.lock();
        let permit = state.hands[client].take()?;
        state.report.lost += u64::from(!permit.is_held());
        Some(permit)
    }

    /// When each client that does not hold on first got a permit since the last kill.
    fn until_all_had_one(&self) -> Vec<Instant> {
        let mut firsts = Vec::new();
        until("every client has had a permit", || {
            let state = self.lock();
            let busy = (0..self.plan.clients).filter(|client| !is_patient(*client));
            let found: Option<Vec<_>> = busy.map(|client| state.first[client]).collect();
            found.map(|found| firsts = found).is_some()
        });
        firsts
    }

    fn report(&self) -> Report {
        self.lock().report.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
