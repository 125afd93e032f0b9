//! A fault run: many clients share a few permits of one server that loses its memory again and again, in turn
//! by being flushed and by starting anew without data.
//!
//! What is judged is what clients *believe*: a permit counts from the moment at which its holder has it in hand
//! for as long as the holder's guard says that it is held.

use std::{
    fmt,
    io::{Read, Write},
    net::TcpStream,
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
use seinpaal_rig::RedisServer;

const NAME: &str = "under fire";
/// The guard of a run must be a quarter longer.
const TTL: Duration = Duration::from_secs(1);
/// How long anything may take.
const BOUND: Duration = Duration::from_secs(60);

/// What to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How many clients, each with a connection of its own.
    pub clients: usize,
    /// How many permits they share.
    pub limit: u32,
    /// How often the server forgets.
    pub mishaps: u32,
    /// The store option, such as `restart-guard=1250ms`; empty for none.
    pub option: String,
    /// From which what is left to chance is drawn.
    pub seed: u64,
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
    /// For each mishap, in order of length: how long until the next grant.
    pub pauses: Vec<Duration>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pause = |at: usize| self.pauses.get(at).copied().unwrap_or_default().as_secs_f64();
        let last = self.pauses.len().saturating_sub(1);
        let Self { grants, over_admissions, most_held, lost, .. } = self;
        let (median, worst) = (pause(last / 2), pause(last));
        write!(
            f,
            "{grants} grants | over-admissions {over_admissions} | most held {most_held} | lost {lost} | \
             next grant after {median:.2} s, worst {worst:.2} s"
        )
    }
}

/// Runs it, on a server of its own.
///
/// # Panics
/// If the server does not start or the clients do not recover within a minute.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut server = RedisServer::start();
    let field = Arc::new(Field::new(plan));
    let url = server.url(&format!("?{}", plan.option));
    let clients = {
        let field = Arc::clone(&field);
        thread::spawn(move || field.populate(&url))
    };
    let mut pauses = Vec::new();
    for mishap in 0..plan.mishaps {
        // Until everybody is back, and somewhat longer: at some moment of the leases.
        let (now, some) = (field.report().grants, plan.clients as u64 + field.draws.next() % 20);
        until("everybody is back", || field.report().grants >= now + some);
        if mishap % 2 == 0 {
            flush(&server);
        } else {
            server.start_again();
        }
        let (forgot, grants) = (Instant::now(), field.report().grants);
        until("somebody is let in", || field.report().grants > grants);
        pauses.push(forgot.elapsed());
    }
    field.is_over.store(true, Ordering::SeqCst);
    clients.join().expect("the clients end");
    pauses.sort();
    Report { pauses, ..field.report() }
}

fn flush(server: &RedisServer) {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).expect("the server");
    stream.write_all(b"FLUSHALL\r\n").expect("it listens");
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).expect("it answers");
    assert_eq!(&answer, b"+OK\r\n");
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < BOUND, "not within a minute: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Where the clients are.
struct Field {
    plan: Plan,
    state: Mutex<State>,
    draws: Draws,
    is_over: AtomicBool,
}

#[derive(Default)]
struct State {
    /// What each client has in hand.
    hands: Vec<Option<Permit>>,
    report: Report,
}

impl Field {
    fn new(plan: &Plan) -> Self {
        let mut state = State::default();
        state.hands.resize_with(plan.clients, || None);
        let (draws, is_over) = (Draws::new(plan.seed), AtomicBool::new(false));
        Self { plan: plan.clone(), state: Mutex::new(state), draws, is_over }
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
        let semaphore = seinpaal.semaphore(NAME).limit(self.plan.limit);
        while !self.is_over.load(Ordering::SeqCst) {
            let Ok(permit) = semaphore.acquire().await else { continue };
            self.take(client, permit);
            tokio::time::sleep(Duration::from_millis(1 + self.draws.next() % 400)).await;
            if let Some(permit) = self.give(client) {
                let _ = permit.release().await; // that it was lost is in the report already
            }
        }
    }

    /// A permit is in hand: this is the only moment at which there can be more than before.
    fn take(&self, client: usize, permit: Permit) {
        let mut state = self.lock();
        state.hands[client] = Some(permit);
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

    fn report(&self) -> Report {
        self.lock().report.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
