//! Three nodes of a quorum, and one after the other stopped, paused, restarted empty, while clients take and
//! give back permits.
//!
//! Who is inside is judged by the holders' own beliefs, on the one clock of this process: a client is inside
//! from when it was granted until it gives back or its permit says that it is not held any more.

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use seinpaal::{Permit, Seinpaal, Semaphore};

use seinpaal_rig::RedisServer;

/// What to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How many clients, each with connections of its own; half at a mutex, half at a semaphore of three.
    pub clients: u32,
    /// The lease of each permit.
    pub ttl: Duration,
    /// The restart guard, or `None` for off.
    pub guard: Option<Duration>,
    /// How long each phase lasts.
    pub phase: Duration,
    /// How often all phases are gone through.
    pub rounds: u32,
    /// For how long clients hold.
    pub seed: u64,
}

/// What was seen.
#[derive(Debug)]
pub struct Report {
    /// A row a phase, over all rounds.
    pub rows: Vec<Row>,
    /// Moments at which a grant made more than the limit believe to hold.
    pub too_many: u64,
    /// Permits that their holders were told they had lost.
    pub lost: u64,
}

/// One phase.
#[derive(Clone, Debug)]
pub struct Row {
    /// What was done to the servers.
    pub phase: &'static str,
    /// Whether a majority answers and may admit.
    pub must_go_on: bool,
    /// How long, over all rounds.
    pub time: Duration,
    /// Permits granted in it.
    pub grants: u64,
    /// Times that more than the limit believed to hold.
    pub too_many: u64,
}

/// Something done to the three servers.
type Deed = fn(&mut [RedisServer; 3]);

/// The phases: what is done, and whether progress must go on. `guarded`: two of three nodes may have forgotten
/// somebody, so with the guard nobody is admitted until it ends.
const PHASES: [(&str, bool, Deed); 9] = [
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

/// One name, and who believes to hold at it.
#[derive(Debug)]
struct Room {
    limit: u32,
    inside: Mutex<u32>,
}

/// What clients and judge share.
#[derive(Debug, Default)]
struct Score {
    is_over: AtomicBool,
    grants: AtomicU64,
    too_many: AtomicU64,
    lost: AtomicU64,
}

/// Goes through all phases and reports.
///
/// # Panics
/// If servers or clients cannot be started.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut nodes: [RedisServer; 3] = std::array::from_fn(|_| RedisServer::start());
    let url = url(&nodes, plan.guard);
    let score = Arc::new(Score::default());
    let rooms = [1, 3].map(|limit| Arc::new(Room { limit, inside: Mutex::new(0) }));
    let clients: Vec<_> = (0..plan.clients)
        .map(|number| {
            let (plan, url, score) = (plan.clone(), url.clone(), Arc::clone(&score));
            let room = Arc::clone(&rooms[number as usize % 2]);
            thread::spawn(move || client(&plan, &url, &room, &score, number))
        })
        .collect();
    let first = || score.grants.load(SeqCst) >= u64::from(plan.clients);
    until(first, "the first grants, after the guard of new servers");
    let rows = go_through(plan, &mut nodes, &score);
    score.is_over.store(true, SeqCst);
    for client in clients {
        client.join().expect("a client that panics");
    }
    let (too_many, lost) = (score.too_many.load(SeqCst), score.lost.load(SeqCst));
    Report { rows, too_many, lost }
}

fn url(nodes: &[RedisServer; 3], guard: Option<Duration>) -> String {
    let nodes = nodes.each_ref().map(|node| format!("127.0.0.1:{}", node.port())).join(",");
    let guard = guard.map_or_else(|| "off".to_owned(), |guard| format!("{}ms", guard.as_millis()));
    format!("redis+quorum://{nodes}?restart-guard={guard}")
}

fn until(condition: impl Fn() -> bool, what: &str) {
    let end = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < end, "not within a minute: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn go_through(plan: &Plan, nodes: &mut [RedisServer; 3], score: &Score) -> Vec<Row> {
    let row = |(phase, must_go_on, _): (&'static str, bool, Deed)| Row {
        phase,
        must_go_on,
        time: Duration::ZERO,
        grants: 0,
        too_many: 0,
    };
    let mut rows: Vec<Row> = PHASES.into_iter().map(row).collect();
    for round in 0..plan.rounds {
        for (row, (_, _, deed)) in rows.iter_mut().zip(PHASES) {
            let before = (score.grants.load(SeqCst), score.too_many.load(SeqCst));
            let began = Instant::now();
            deed(nodes);
            thread::sleep(plan.phase.saturating_sub(began.elapsed()));
            row.time += began.elapsed();
            row.grants += score.grants.load(SeqCst) - before.0;
            row.too_many += score.too_many.load(SeqCst) - before.1;
        }
        // Every node has another part in the next round.
        nodes.rotate_left(1 + round as usize % 2);
        let before = score.grants.load(SeqCst);
        until(|| score.grants.load(SeqCst) > before + 10, "grants after the guard");
    }
    rows
}

fn client(plan: &Plan, url: &str, room: &Room, score: &Score, number: u32) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let seinpaal = Seinpaal::builder(url).ttl(plan.ttl).connect().await;
        let seinpaal = seinpaal.expect("the nodes are there");
        let semaphore = seinpaal.semaphore(&format!("room for {}", room.limit)).limit(room.limit);
        let mut dice = plan.seed ^ u64::from(number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        while !score.is_over.load(SeqCst) {
            visit(plan, &semaphore, room, score, &mut dice).await;
        }
    });
}

/// Takes a permit and holds it for a few milliseconds, now and then for longer than its lease lasts.
async fn visit(plan: &Plan, semaphore: &Semaphore, room: &Room, score: &Score, dice: &mut u64) {
    let asked = semaphore.acquire().timeout(Duration::from_secs(2)).await;
    let Ok(permit) = asked else { return };
    *dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let draw = *dice >> 40;
    let time = match draw % 64 {
        0 => plan.ttl + plan.ttl / 2,
        _ => Duration::from_millis(2 + draw % 20),
    };
    if !permit.is_held() {
        return;
    }
    room.enter(score);
    let is_lost = hold(&permit, time).await;
    room.leave();
    score.lost.fetch_add(u64::from(is_lost), SeqCst);
    let _ = permit.release().await;
}

/// Holds for so long, or until the permit is lost. Says whether it was.
async fn hold(permit: &Permit, time: Duration) -> bool {
    let end = Instant::now() + time;
    while Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(1)).await;
        if !permit.is_held() {
            return true;
        }
    }
    false
}

impl Room {
    fn enter(&self, score: &Score) {
        let mut inside = self.inside.lock().expect("nobody panics while counting");
        *inside += 1;
        score.grants.fetch_add(1, SeqCst);
        if *inside > self.limit {
            score.too_many.fetch_add(1, SeqCst);
        }
    }

    fn leave(&self) {
        *self.inside.lock().expect("nobody panics while counting") -= 1;
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| phase | seconds | grants a second | more than the limit |\n|---|---|---|---|"
        )?;
        for row in &self.rows {
            let seconds = row.time.as_secs_f64();
            let rate = row.grants as f64 / seconds;
            writeln!(f, "| {} | {seconds:.1} | {rate:.1} | {} |", row.phase, row.too_many)?;
        }
        let grants: u64 = self.rows.iter().map(|row| row.grants).sum();
        writeln!(
            f,
            "{grants} grants, more than the limit {} times, {} lost",
            self.too_many, self.lost
        )
    }
}
