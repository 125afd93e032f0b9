//! `day runs`: many `run`s with README's flags and no others, on every store.
//!
//! All runs come at once, and each works for 0.5 to 10 s. An observer judges the order from
//! outside: a run that `show` lists as a waiter is ahead of each run that starts later.

use std::{collections::BTreeMap, io, thread, time::Duration};

use seinpaal_rig::fork;
use serde_json::Value;
use torture::history;

use crate::{
    end::PossibleEnd,
    history::DayWhat,
    job::said,
    judge::{self, DayVerdict},
    rig::DayPlan,
    site::DaySite,
    stage::{ScenarioStage, ms, pass},
    store::StoreSetting,
    world::DayWorld,
};

/// The number of runs, if the command line gives none.
pub const RUNS: u32 = 200;
/// The limit, if the command line gives none.
pub const LIMIT: u32 = 3;
/// How many runs start between two looks at the line.
const AT_ONCE: u32 = 5;
const NAME: &str = "thumbnails";

/// Plays the runs on each store, and judges the history.
///
/// # Errors
/// If the program is not there, or files cannot be written.
///
/// # Panics
/// If a server does not start.
pub fn run(plan: &DayPlan, runs: u32, limit: u32) -> io::Result<DayVerdict> {
    DayWorld::furnish(&plan.scratch, &plan.program)?;
    thread::scope(|scope| {
        let all: Vec<_> = plan
            .stores
            .iter()
            .map(|store| scope.spawn(move || on(plan, *store, runs, limit)))
            .collect();
        all.into_iter().try_for_each(|one| one.join().expect("all stores go to their ends"))
    })?;
    let events = history::read(&DayWorld::history(&plan.scratch))?;
    Ok(judge::judge(&events, &[]))
}

fn on(plan: &DayPlan, store: StoreSetting, runs: u32, limit: u32) -> io::Result<()> {
    let site = DaySite::start(store)?;
    let world = DayWorld::new(store, &site.url, &plan.scratch, plan.seed);
    let mut rng = fork(plan.seed, store as u64);
    // A run works for 5.25 s on average, and `limit` runs work at a time. The rest of the time is
    // for a fresh quorum and a busy machine.
    let time = Duration::from_secs(u64::from(runs) * 6 / u64::from(limit)) + store.guard();
    let stage = ScenarioStage::new(&world, &site, "run", rng.clone(), time);
    thread::scope(|scope| {
        let mut pids = BTreeMap::new();
        for number in 0..runs {
            let hold = ms(rng.u64(500..10_000));
            let job = stage.run(&format!("-j {limit}"), NAME, limit, hold).start();
            pids.insert(u64::from(job.pid()), stage.last());
            stage.let_go(scope, job);
            if (number + 1).is_multiple_of(AT_ONCE) {
                look_at_line(&stage, &pids);
            }
        }
    });
    Ok(())
}

/// Writes down which jobs stand in line now.
fn look_at_line(stage: &ScenarioStage<'_>, pids: &BTreeMap<u64, String>) {
    let show = stage.call(&format!("show {NAME} --json")).may_end(PossibleEnd::quiet(0));
    show.start().wait(stage.bound());
    let shown = std::fs::read_to_string(said(stage.world, &stage.last(), "out"));
    let shown: Value = serde_json::from_str(&shown.unwrap_or_default()).unwrap_or_default();
    for waiter in shown["waiters"].as_array().into_iter().flatten() {
        let job = waiter["pid"].as_u64().and_then(|pid| pids.get(&pid));
        if let Some(job) = job {
            stage.world.note(job, DayWhat::Queued { name: NAME.to_owned() });
        }
    }
    pass(ms(50));
}
