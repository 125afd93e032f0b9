//! The rig starts a store and workers, does one fault after the other, and lets the checker judge.

mod crew;
mod end;
mod victim;

use std::{io, path::PathBuf, time::Duration};

use fastrand::Rng;
use seinpaal_rig::{Clocks, Direction, Mode, Proxy, between};

use self::crew::WorkerCrew;

use crate::{
    check::{self, Verdict},
    clock,
    fault::TortureFault,
    history::{self, Pen, TortureWhat},
    kind::{StartedStore, StoreKind},
    lookout::Lookout,
    promise, queue,
    scene::FaultScene,
};

/// The longest time for a prompt action: a timer, and the delay of a busy machine.
const PROMPT: Duration = Duration::from_secs(3);
/// How often an idle worker looks at the queue without a wakeup.
const LOOK: Duration = Duration::from_secs(60);
/// How long clients may take to find a server again, and the server to reach them.
const RECOVERY: Duration = Duration::from_secs(30);
const MS: Duration = Duration::from_millis(1);

/// The plan of a run.
#[derive(Clone, Debug)]
pub struct TorturePlan {
    /// The store.
    pub kind: StoreKind,
    /// How long the rig makes faults.
    pub time: Duration,
    /// How long the rig makes no fault after that. In this time the damage of a fault shows,
    /// because no other fault hides it.
    pub calm: Duration,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The faults.
    pub faults: Vec<TortureFault>,
    /// How many workers there are.
    pub workers: usize,
    /// How many tasks each worker has.
    pub tasks: u64,
    /// The ttl.
    pub ttl: Duration,
    /// The names and their limits.
    pub names: Vec<(String, u32)>,
    /// The file that the history goes to.
    pub history: PathBuf,
    /// Whether workers use a queue and not semaphores.
    pub queue: bool,
    /// This program.
    pub program: PathBuf,
}

struct TortureRig<'a> {
    plan: &'a TorturePlan,
    pen: Pen,
    site: Box<dyn StartedStore>,
    crew: WorkerCrew<'a>,
    scene: FaultScene<'a>,
}

/// Runs the plan and judges its history.
///
/// # Errors
/// If servers or workers do not start, or a fault cannot be undone.
pub fn run(plan: &TorturePlan) -> io::Result<Verdict> {
    play(plan)?;
    judge(plan)
}

/// Judges the history of an earlier run of the plan.
///
/// # Errors
/// If the history cannot be read.
pub fn judge(plan: &TorturePlan) -> io::Result<Verdict> {
    let events = history::read(&plan.history)?;
    let terms = plan.kind.terms(plan.ttl);
    let terms = terms.but_for(promise::not_promised(plan.kind, &plan.faults));
    Ok(check::check(&events, &terms))
}

/// Runs the plan with a queue and judges its history.
///
/// # Errors
/// As [`run`].
pub fn run_queue(plan: &TorturePlan) -> io::Result<queue::check::QueueVerdict> {
    play(plan)?;
    judge_queue(plan)
}

/// As [`judge`], for a run with a queue.
///
/// # Errors
/// If the history cannot be read.
pub fn judge_queue(plan: &TorturePlan) -> io::Result<queue::check::QueueVerdict> {
    let events = history::read(&plan.history)?;
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let bounds = queue::check::CheckBounds {
        prompt: micros(plan.ttl + PROMPT),
        look: micros(plan.ttl * 2 + LOOK + RECOVERY),
        felt: queue::check::felt(&plan.kind.terms(plan.ttl)),
    };
    Ok(queue::check::check(&events, &bounds, &promise::queue_not_promised(plan.kind, &plan.faults)))
}

fn play(plan: &TorturePlan) -> io::Result<()> {
    let clocks = Clocks::new()?;
    let pen = Pen::open(&plan.history, "rig")?;
    for (name, limit) in plan.names.iter().filter(|_| !plan.queue) {
        pen.write(TortureWhat::Name { name: name.clone(), limit: *limit });
    }
    let scene = FaultScene { rng: Rng::with_seed(plan.seed), clocks: &clocks, ttl: plan.ttl };
    let site = plan.kind.start(&scene)?;
    if plan.queue {
        queue::end::begin(&site.url(&site.upstreams()), &pen)?;
    }
    let _lookout = site.watched().map(|watched| Lookout::start(&watched, &pen));
    let crew = WorkerCrew::start(plan, &clocks, &pen, site.as_ref())?;
    let mut rig = TortureRig { plan, pen, site, crew, scene };
    rig.torment()?;
    rig.finish()
}

impl TortureRig<'_> {
    fn torment(&mut self) -> io::Result<()> {
        let over = clock::now() + u64::try_from(self.plan.time.as_micros()).unwrap_or(u64::MAX);
        let mut deck = Vec::new();
        self.scene.wait(500 * MS, 501 * MS);
        while clock::now() < over {
            if deck.is_empty() {
                deck.clone_from(&self.plan.faults);
                self.scene.rng.shuffle(&mut deck);
            }
            if let Some(fault) = deck.pop() {
                self.fault(fault)?;
            }
            self.scene.wait(100 * MS, 1500 * MS);
        }
        Ok(())
    }

    fn fault(&mut self, fault: TortureFault) -> io::Result<()> {
        let victim = self.victim();
        let worker = is_of_a_worker(fault).then_some(victim);
        let name = || fault.name().to_owned();
        self.pen.write(TortureWhat::FaultBegins { fault: name(), worker });
        let done = match fault {
            TortureFault::KillWorker => self.crew.kill(victim),
            TortureFault::StopWorker => {
                let shares = [self.plan.ttl / 2, self.plan.ttl * 3 / 2, self.plan.ttl * 5];
                let time = self.scene.rng.choice(shares).unwrap();
                self.crew.stop(victim, time);
                Ok(())
            }
            TortureFault::ClockClient => {
                self.scene.set_clock(&crew::clock_of(self.plan.kind, victim));
                Ok(())
            }
            _ if worker.is_some() => {
                self.link(fault, victim);
                Ok(())
            }
            _ => self.site.inject(fault, &mut self.scene),
        };
        self.pen.write(TortureWhat::FaultEnds { fault: name(), worker });
        done?;
        if fault == TortureFault::KillWorker { self.crew.begin_life(victim) } else { Ok(()) }
    }

    /// Does a fault to a worker's connections. If the worker has several proxies, the fault hits
    /// one of them, or all.
    fn link(&mut self, fault: TortureFault, victim: usize) {
        let proxies = self.crew.proxies(victim);
        let all = self.scene.rng.bool();
        let one = self.scene.rng.usize(..proxies.len());
        for (index, proxy) in proxies.iter().enumerate() {
            if (all || index == one) && !lasts(fault) {
                spoil(fault, proxy, &mut self.scene);
            } else if all || index == one {
                proxy.set(lasting(fault, &mut self.scene.rng));
            }
        }
        if lasts(fault) {
            self.scene.wait(200 * MS, self.plan.ttl * 2);
            proxies.iter().for_each(|proxy| proxy.set(Mode::Pass));
        }
    }
}

fn is_of_a_worker(fault: TortureFault) -> bool {
    matches!(fault, TortureFault::KillWorker | TortureFault::StopWorker | TortureFault::ClockClient)
        || matches!(
            fault,
            TortureFault::Cut
                | TortureFault::HalfClose
                | TortureFault::Garble
                | TortureFault::LoseReply
        )
        || lasts(fault)
}

fn lasts(fault: TortureFault) -> bool {
    matches!(fault, TortureFault::Delay | TortureFault::Partition)
}

fn lasting(fault: TortureFault, rng: &mut Rng) -> Mode {
    match fault {
        TortureFault::Delay => Mode::Delay(between(rng, 5 * MS, 600 * MS)),
        _ => Mode::Hold,
    }
}

/// Does the faults that happen once, some of them several times in a row.
fn spoil(fault: TortureFault, proxy: &Proxy, scene: &mut FaultScene<'_>) {
    for _ in 0..=scene.rng.u64(..4) {
        let way = scene.rng.choice([Direction::Request, Direction::Answer]).unwrap();
        proxy.set(match fault {
            TortureFault::Cut => Mode::CutAfter(way, scene.rng.usize(..600)),
            TortureFault::HalfClose => Mode::Close(way),
            TortureFault::Garble => Mode::Garble(way),
            _ => Mode::Lose(Direction::Answer),
        });
        if !proxy.has_happened_within(1500 * MS) {
            proxy.set(Mode::Pass);
            proxy.cut();
        }
        scene.wait(Duration::ZERO, 300 * MS);
    }
}
