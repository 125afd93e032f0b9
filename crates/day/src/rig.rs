//! Starts the stores, plays the scenarios, looks for remains, and judges the history.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use seinpaal_rig::fork;
use torture::{clock, history};

use crate::{
    end::PossibleEnd,
    history::DayWhat,
    judge::{self, DayVerdict},
    scenario::{CALM, OUTAGE, Scenario, outage},
    site::DaySite,
    stage::{ScenarioStage, ms, pass},
    store::StoreSetting,
    world::DayWorld,
};

/// The longest chapter: calm, and then an outage.
const CHAPTER: Duration = Duration::from_secs(600);
/// How long an outage takes, with the scenarios around it.
const AROUND_OUTAGE: Duration = Duration::from_secs(48);
/// How often the rig looks how busy the machine is.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// A look and the pause after it that together take this long, in microseconds, show that the
/// machine is too busy.
const A_LONG_LOOK: u64 = 1_200_000;
/// How long unused names, queues, files and keys may remain.
const AFTER_ALL: Duration = Duration::from_secs(120);

/// The plan of a day.
#[derive(Clone, Debug)]
pub struct DayPlan {
    /// The day's length.
    pub time: Duration,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The stores.
    pub stores: Vec<StoreSetting>,
    /// The program.
    pub program: PathBuf,
    /// The directory for all files of the rig and the jobs.
    pub scratch: PathBuf,
}

/// Runs the day.
///
/// # Errors
/// If the program is not there, or files cannot be written.
///
/// # Panics
/// If a server does not start.
pub fn run(plan: &DayPlan) -> io::Result<DayVerdict> {
    DayWorld::furnish(&plan.scratch, &plan.program)?;
    thread::scope(|scope| {
        let days: Vec<_> =
            plan.stores.iter().map(|store| scope.spawn(|| live(plan, *store))).collect();
        days.into_iter().try_for_each(|day| day.join().expect("a store's day goes to its end"))
    })?;
    let mut remains = Vec::new();
    remaining_processes(&plan.scratch, &mut remains);
    let events = history::read(&DayWorld::history(&plan.scratch))?;
    Ok(judge::judge(&events, &remains))
}

fn live(plan: &DayPlan, store: StoreSetting) -> io::Result<()> {
    let site = DaySite::start(store)?;
    let world = DayWorld::new(store, &site.url, &plan.scratch, plan.seed);
    let chapters = (plan.time.as_secs_f64() / CHAPTER.as_secs_f64()).ceil().max(1.0) as u32;
    let time = (plan.time / chapters).saturating_sub(AROUND_OUTAGE);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| watch_machine(&world, &site, &is_over));
        play_chapters(plan, &world, &site, chapters, time);
        is_over.store(true, Ordering::SeqCst);
    });
    for story in look_for_remains(&world, &site) {
        world.note(&world.who("end"), DayWhat::Remains { story });
    }
    Ok(())
}

/// Writes down the times in which the machine was too busy for the rules to hold.
fn watch_machine(world: &DayWorld, site: &DaySite, is_over: &AtomicBool) {
    let pen = world.pen(&world.who("rig"));
    while !is_over.load(Ordering::SeqCst) {
        let from = clock::now();
        site.look();
        pass(LOOK_EVERY);
        if clock::now() > from + A_LONG_LOOK {
            pen.write(DayWhat::Slow { from });
        }
    }
}

fn play_chapters(plan: &DayPlan, world: &DayWorld, site: &DaySite, chapters: u32, time: Duration) {
    for chapter in 1..=chapters {
        let mut rng = fork(plan.seed, u64::from(chapter) * 100 + world.store as u64);
        calm(world, site, &mut rng, chapter, time);
        if (OUTAGE.is_for)(world.store) {
            let title = format!("{}{chapter}", OUTAGE.title);
            (OUTAGE.play)(&ScenarioStage::new(world, site, &title, rng, outage::SILENCE));
        }
    }
}

fn calm(world: &DayWorld, site: &DaySite, rng: &mut Rng, chapter: u32, time: Duration) {
    let scenarios = CALM.iter().filter(|scenario| (scenario.is_for)(world.store));
    thread::scope(|scope| {
        for scenario in scenarios {
            let rng = rng.fork();
            scope.spawn(move || play(world, site, scenario, rng, chapter, time));
        }
        scope.spawn(|| {
            let stage = ScenarioStage::new(world, site, "blink", rng.clone(), time);
            pass(time * 3 / 5);
            outage::silence(&stage, true);
            pass(world.store.blink());
            outage::silence(&stage, false);
        });
    });
}

fn play(
    world: &DayWorld,
    site: &DaySite,
    scenario: &Scenario,
    rng: Rng,
    chapter: u32,
    time: Duration,
) {
    let mut time = time;
    if chapter == 1 && scenario.is_hurried {
        let guard = world.store.guard();
        pass(guard);
        time = time.saturating_sub(guard);
    }
    let title = format!("{}{chapter}", scenario.title);
    (scenario.play)(&ScenarioStage::new(world, site, &title, rng, time));
}

/// Looks for names, queues, files and keys that still remain some time after all jobs have ended.
pub(crate) fn look_for_remains(world: &DayWorld, site: &DaySite) -> Vec<String> {
    let stage = ScenarioStage::new(world, site, "end", Rng::with_seed(0), Duration::ZERO);
    let mut lists = vec!["list --json"];
    lists.extend(world.store.has_queues().then_some("queue list --json"));
    let mut remains: Vec<_> =
        lists.into_iter().filter_map(|list| still_listed(&stage, list)).collect();
    remains.extend(site.remains(AFTER_ALL));
    remains
}

fn still_listed(stage: &ScenarioStage<'_>, list: &str) -> Option<String> {
    let deadline = Instant::now() + AFTER_ALL;
    loop {
        let still = listed(stage, list)?;
        if Instant::now() > deadline {
            return Some(still);
        }
        pass(ms(1000));
    }
}

fn listed(stage: &ScenarioStage<'_>, list: &str) -> Option<String> {
    stage.call(list).may_end(PossibleEnd::quiet(0)).start().wait(stage.bound());
    let out = crate::job::said(stage.world, &stage.last(), "out");
    Some(fs::read_to_string(out).unwrap_or_default()).filter(|text| !text.is_empty())
}

/// Looks for processes of the program that still run. The path of the program belongs to this day
/// alone, so the look finds no process of another day.
fn remaining_processes(scratch: &Path, remains: &mut Vec<String>) {
    let program = DayWorld::program(scratch);
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        remains.clear();
        let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
        for entry in entries
            .filter(|entry| fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == program))
        {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            remains.push(format!("process {}", String::from_utf8_lossy(&line).replace('\0', " ")));
        }
        if remains.is_empty() || Instant::now() > deadline {
            return;
        }
        pass(ms(200));
    }
}
