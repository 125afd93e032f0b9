//! Starts the stores, plays the scenarios, looks for what remains, and judges the history.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use seinpaal_draw::Draw;
use torture::{clock, history};

use crate::{
    end::End,
    history::What,
    judge::{self, Verdict},
    scenario::{CALM, OUTAGE, Scenario, outage},
    site::Site,
    stage::{Stage, ms, pass},
    store::Store,
    world::World,
};

/// The longest chapter: calm, and then an outage.
const CHAPTER: Duration = Duration::from_secs(600);
/// How long an outage takes, with the scenarios around it.
const AROUND_OUTAGE: Duration = Duration::from_secs(48);
/// How often the rig looks how busy the machine is.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// A look that takes this long, in microseconds, shows that the machine is too busy.
const A_LONG_LOOK: u64 = 1_200_000;
/// How long things that nobody uses any more may remain.
const AFTER_ALL: Duration = Duration::from_secs(120);

/// The plan of a day.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The day's length.
    pub time: Duration,
    /// The seed of all that is drawn.
    pub seed: u64,
    /// The stores.
    pub stores: Vec<Store>,
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
pub fn run(plan: &Plan) -> io::Result<Verdict> {
    World::furnish(&plan.scratch, &plan.program)?;
    thread::scope(|scope| {
        let days: Vec<_> =
            plan.stores.iter().map(|store| scope.spawn(|| live(plan, *store))).collect();
        days.into_iter().try_for_each(|day| day.join().expect("a store's day goes to its end"))
    })?;
    let mut remains = Vec::new();
    remaining_processes(&plan.scratch, &mut remains);
    let events = history::read(&World::history(&plan.scratch))?;
    Ok(judge::judge(&events, &remains))
}

fn live(plan: &Plan, store: Store) -> io::Result<()> {
    let site = Site::start(store)?;
    let world = World::new(store, &site.url, &plan.scratch);
    let chapters = (plan.time.as_secs_f64() / CHAPTER.as_secs_f64()).ceil().max(1.0) as u32;
    let time = (plan.time / chapters).saturating_sub(AROUND_OUTAGE);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| watch_machine(&world, &site, &is_over));
        play_chapters(plan, &world, &site, chapters, time);
        is_over.store(true, Ordering::SeqCst);
    });
    for story in look_for_remains(&world, &site) {
        world.note(&world.who("end"), What::Remains { story });
    }
    Ok(())
}

/// Writes down the times in which the machine was too busy to hold jobs to the rules.
fn watch_machine(world: &World, site: &Site, is_over: &AtomicBool) {
    let pen = world.pen(&world.who("rig"));
    while !is_over.load(Ordering::SeqCst) {
        let from = clock::now();
        site.look();
        pass(LOOK_EVERY);
        if clock::now() > from + A_LONG_LOOK {
            pen.write(What::Slow { from });
        }
    }
}

fn play_chapters(plan: &Plan, world: &World, site: &Site, chapters: u32, time: Duration) {
    for chapter in 1..=chapters {
        let draw = Draw::new(plan.seed).fork(u64::from(chapter) * 100 + world.store as u64);
        calm(world, site, &draw, chapter, time);
        if (OUTAGE.is_for)(world.store) {
            let title = format!("{}{chapter}", OUTAGE.title);
            (OUTAGE.play)(&Stage::new(world, site, &title, draw, outage::SILENCE));
        }
    }
}

fn calm(world: &World, site: &Site, draw: &Draw, chapter: u32, time: Duration) {
    let scenarios = CALM.iter().filter(|scenario| (scenario.is_for)(world.store));
    thread::scope(|scope| {
        for (number, scenario) in scenarios.enumerate() {
            let draw = draw.fork(number as u64);
            scope.spawn(move || play(world, site, scenario, draw, chapter, time));
        }
        scope.spawn(|| {
            let stage = Stage::new(world, site, "blink", draw.clone(), time);
            pass(time * 3 / 5);
            outage::silence(&stage, true);
            pass(world.store.blink());
            outage::silence(&stage, false);
        });
    });
}

fn play(world: &World, site: &Site, scenario: &Scenario, draw: Draw, chapter: u32, time: Duration) {
    let mut time = time;
    if chapter == 1 && scenario.is_hurried {
        let guard = world.store.guard();
        pass(guard);
        time = time.saturating_sub(guard);
    }
    let title = format!("{}{chapter}", scenario.title);
    (scenario.play)(&Stage::new(world, site, &title, draw, time));
}

/// Looks for names, queues, files and keys that remain a while after all jobs have ended.
pub(crate) fn look_for_remains(world: &World, site: &Site) -> Vec<String> {
    let stage = Stage::new(world, site, "end", Draw::new(0), Duration::ZERO);
    let mut lists = vec!["list --json"];
    lists.extend(world.store.has_queues().then_some("queue list --json"));
    let mut remains: Vec<_> =
        lists.into_iter().filter_map(|list| still_listed(&stage, list)).collect();
    remains.extend(site.remains(AFTER_ALL));
    remains
}

fn still_listed(stage: &Stage<'_>, list: &str) -> Option<String> {
    let deadline = Instant::now() + AFTER_ALL;
    loop {
        let still = listed(stage, list)?;
        if Instant::now() > deadline {
            return Some(still);
        }
        pass(ms(1000));
    }
}

fn listed(stage: &Stage<'_>, list: &str) -> Option<String> {
    stage.call(list).may_end(End::quiet(0)).start().wait(stage.bound());
    let out = crate::job::said(stage.world, &stage.last(), "out");
    Some(fs::read_to_string(out).unwrap_or_default()).filter(|text| !text.is_empty())
}

/// Looks for processes of the program that still run. The program's path belongs to this day alone,
/// so they can be told from others.
fn remaining_processes(scratch: &Path, remains: &mut Vec<String>) {
    let program = World::program(scratch);
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
