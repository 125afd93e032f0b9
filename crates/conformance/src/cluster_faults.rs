//! A fault run: many clients share a few permits on a cluster while masters are killed and slots moved.
//!
//! What is judged is what clients *believe*, by one monotonic clock: a permit counts from the moment at
//! which its holder has it in hand for as long as the holder's guard says that it is held.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use seinpaal::{Permit, Seinpaal};
use tokio::task::JoinSet;

use crate::draws::Draws;
use seinpaal_rig::{RedisCluster, until};

/// Long enough to keep a permit over a fail-over.
const TTL: Duration = Duration::from_secs(15);
/// One in so many clients holds on to its permit for so long that a fault falls into it.
const PATIENT: usize = 16;
/// Names at each master.
const NAMES: usize = 2;
const MASTERS: usize = 3;

/// What to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How many clients, each with connections of its own.
    pub clients: usize,
    /// How many permits each name has.
    pub limit: usize,
    /// How many masters are killed, one after the other, each to come back as a replica.
    pub kills: u32,
    /// How many times every slot in use is moved to another master.
    pub moves: u32,
    /// The store's options, such as `?replicated=1`.
    pub options: &'static str,
    /// From which what is left to chance is drawn.
    pub seed: u64,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Permits acquired.
    pub grants: u64,
    /// Acquisitions that made it more than the limit of their name at that moment.
    pub over_admissions: u64,
    /// The most permits of one name that were believed in at one moment.
    pub most_held: usize,
    /// Permits that their holders lost.
    pub lost: u64,
    /// Requests that ended in an error.
    pub errors: u64,
    /// For each fault and client that it hit, in order of length: how long until its next permit.
    pub recoveries: Vec<Duration>,
    /// For each kill, in order of length: how long until another node had its slots.
    pub promotions: Vec<Duration>,
}

/// What this share of all is no longer than.
fn share(sorted: &[Duration], share: f64) -> f64 {
    let at = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
    sorted.get(at).copied().unwrap_or_default().as_secs_f64()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { grants, over_admissions, most_held, lost, errors, .. } = self;
        write!(
            f,
            "{grants} grants | over-admissions {over_admissions} | most held {most_held} | lost {lost} | \
             errors {errors}"
        )?;
        if !self.promotions.is_empty() {
            let promoted = |part| share(&self.promotions, part);
            write!(
                f,
                " | promoted after p50 {:.2} s, worst {:.2} s",
                promoted(0.5),
                promoted(1.0)
            )?;
        }
        let after = |part| share(&self.recoveries, part);
        let (p50, p99, worst) = (after(0.5), after(0.99), after(1.0));
        write!(f, " | next permit after p50 {p50:.2} s, p99 {p99:.2} s, worst {worst:.2} s")
    }
}

/// Runs it, on a cluster of its own.
///
/// # Panics
/// If a node does not start, or a client gets no permit within a minute after a fault.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut cluster = RedisCluster::start();
    let field = Arc::new(Field::new(plan, names(&cluster)));
    let clients = {
        let (field, url) = (Arc::clone(&field), format!("{}{}", cluster.url(), plan.options));
        thread::spawn(move || field.populate(&url))
    };
    let all: Vec<usize> = (0..plan.clients).collect();
    field.await_permits(&all, Instant::now());
    let mut report = Report::default();
    for _ in 0..plan.kills {
        kill_one(&mut cluster, &field, &mut report);
    }
    for _ in 0..plan.moves {
        move_all(&cluster, &field, &mut report);
    }
    field.is_over.store(true, Ordering::SeqCst);
    clients.join().expect("the clients end");
    report.recoveries.sort();
    report.promotions.sort();
    Report { recoveries: report.recoveries, promotions: report.promotions, ..field.report() }
}

/// As many names at each master.
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

/// Kills a master after some more grants, and starts it again, empty, when its replica has taken over.
fn kill_one(cluster: &mut RedisCluster, field: &Field, report: &mut Report) {
    field.await_grants(50 + field.draws.next() % 500);
    let name = &field.names[field.draws.next() as usize % field.names.len()];
    let old = cluster.owner_of(&key(name));
    let hit = field.clients_at(|name| cluster.owner_of(&key(name)) == old);
    let killed = Instant::now();
    cluster.kill(old);
    cluster.await_owner(&key(name));
    report.promotions.push(killed.elapsed());
    cluster.start_again(old);
    report.recoveries.extend(field.await_permits(&hit, killed));
    cluster.await_health();
}

/// Moves the slot of every name to the next master, key by key.
fn move_all(cluster: &RedisCluster, field: &Field, report: &mut Report) {
    let masters = cluster.masters();
    for name in &field.names {
        field.await_grants(20 + field.draws.next() % 50);
        let (slot, from) = (cluster.slot_of(&key(name)), cluster.owner_of(&key(name)));
        let at = masters.iter().position(|master| *master == from).expect("an owner is a master");
        let began = Instant::now();
        cluster.move_slot(slot, from, masters[(at + 1) % masters.len()]);
        let hit = field.clients_at(|other| other == name);
        report.recoveries.extend(field.await_permits(&hit, began));
    }
}

fn is_patient(client: usize) -> bool {
    client.is_multiple_of(PATIENT)
}

/// Where the clients are.
struct Field {
    plan: Plan,
    names: Vec<String>,
    state: Mutex<State>,
    draws: Draws,
    is_over: AtomicBool,
}

#[derive(Default)]
struct State {
    /// What each client has in hand.
    hands: Vec<Option<Permit>>,
    /// When each client last got a permit.
    last: Vec<Option<Instant>>,
    report: Report,
}

impl Field {
    fn new(plan: &Plan, names: Vec<String>) -> Self {
        let mut state = State::default();
        state.hands.resize_with(plan.clients, || None);
        state.last.resize(plan.clients, None);
        let (state, draws) = (Mutex::new(state), Draws::new(plan.seed));
        Self { plan: plan.clone(), names, state, draws, is_over: AtomicBool::new(false) }
    }

    /// Lets all clients work until it is over.
    fn populate(self: &Arc<Self>, url: &str) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let mut tasks = JoinSet::new();
            for client in 0..self.plan.clients {
                tasks.spawn(Arc::clone(self).work(client, url.to_owned()));
            }
            while let Some(ended) = tasks.join_next().await {
                ended.expect("a client");
            }
        });
    }

    async fn work(self: Arc<Self>, client: usize, url: String) {
        let seinpaal = Seinpaal::builder(&url).ttl(TTL).connect().await.expect("a connection");
        let semaphore = seinpaal.semaphore(self.name_of(client)).limit(self.plan.limit as u32);
        while !self.is_over.load(Ordering::SeqCst) {
            match semaphore.acquire().await {
                Ok(permit) => self.take(client, permit),
                Err(_) => {
                    self.lock().report.errors += 1;
                    continue;
                }
            }
            tokio::time::sleep(self.hold_for(client)).await;
            if let Some(permit) = self.give(client) {
                let _ = permit.release().await; // that it was lost is in the report already
            }
        }
    }

    fn name_of(&self, client: usize) -> &str {
        &self.names[client % self.names.len()]
    }

    /// The clients of these names that come and go; who holds for long has nothing to recover from.
    fn clients_at(&self, is_hit: impl Fn(&str) -> bool) -> Vec<usize> {
        let hit: Vec<bool> = self.names.iter().map(|name| is_hit(name)).collect();
        let clients = 0..self.plan.clients;
        clients.filter(|client| hit[client % hit.len()] && !is_patient(*client)).collect()
    }

    fn hold_for(&self, client: usize) -> Duration {
        let longest = if is_patient(client) { 6000 } else { 20 };
        Duration::from_millis(1 + self.draws.next() % longest)
    }

    /// A permit is in hand: this is the only moment at which there can be more than before.
    fn take(&self, client: usize, permit: Permit) {
        let mut state = self.lock();
        state.hands[client] = Some(permit);
        state.last[client] = Some(Instant::now());
        let mates = state.hands.iter().skip(client % self.names.len()).step_by(self.names.len());
        let held = mates.flatten().filter(|permit| permit.is_held()).count();
        state.report.grants += 1;
        state.report.over_admissions += u64::from(held > self.plan.limit);
        state.report.most_held = state.report.most_held.max(held);
    }

    fn give(&self, client: usize) -> Option<Permit> {
        let mut state = self.lock();
        let permit = state.hands[client].take()?;
        state.report.lost += u64::from(!permit.is_held());
        Some(permit)
    }

    fn await_grants(&self, more: u64) {
        let now = self.report().grants;
        until("some more grants", || self.report().grants >= now + more);
    }

    /// How long after `since` each of these clients got its next permit.
    fn await_permits(&self, clients: &[usize], since: Instant) -> Vec<Duration> {
        let mut delays = Vec::new();
        until("every client has had a permit", || {
            let state = self.lock();
            let last = clients.iter().filter_map(|client| state.last[*client]);
            delays = last.filter_map(|last| last.checked_duration_since(since)).collect();
            delays.len() == clients.len()
        });
        delays
    }

    fn report(&self) -> Report {
        self.lock().report.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
