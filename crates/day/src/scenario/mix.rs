//! Jobs of all kinds at three names: short and long, patient and hurried, with priorities and
//! weights, from the program and from programs that use the crate.

use std::{thread, time::Duration};

use fastrand::Rng;
use seinpaal_rig::between;

use crate::{
    cmd::DONE,
    end::PossibleEnd,
    job::DayJob,
    stage::{ScenarioStage, ms, pass},
};

const GPUS: u32 = 4;
const API: u32 = 3;

pub(super) fn play(stage: &ScenarioStage<'_>) {
    let mut rng = stage.rng.clone();
    let longest = (stage.time / 8).max(ms(2000));
    thread::scope(|scope| {
        while !stage.left(longest).is_zero() {
            let burst = if rng.u64(..100) < 20 { 5 } else { 1 };
            for _ in 0..burst {
                let job = match rng.u64(..10) {
                    0..=3 => gpus(stage, &mut rng, longest),
                    4..=6 => api(stage, &mut rng),
                    7 => backup(stage, &mut rng),
                    _ => program(stage, &mut rng),
                };
                stage.let_go(scope, job.start());
                // The pause makes the order of arrival visible in the history.
                pass(ms(100));
            }
            pass(ms(rng.u64(200..2200)) * burst);
        }
    });
}

/// Draws how long a job works: mostly a short time, sometimes a longer one, rarely a long one.
fn work(rng: &mut Rng, longest: Duration) -> Duration {
    match rng.u64(..10) {
        0..=5 => ms(rng.u64(100..1000)),
        6..=8 => ms(rng.u64(500..6000)),
        _ => between(rng, ms(1000), longest),
    }
}

fn gpus(stage: &ScenarioStage<'_>, rng: &mut Rng, longest: Duration) -> DayJob {
    let hold = work(rng, longest);
    let name = stage.name("gpus");
    let weight = if rng.u64(..100) < 15 { "-p 2 " } else { "" };
    match rng.u64(..8) {
        0 => {
            let flags = format!("-j {GPUS} {weight}-w {}ms", rng.u64(100..4000));
            stage.run(&flags, &name, GPUS, hold).may_end(PossibleEnd::busy(&name)).hurried()
        }
        1 => {
            let flags = format!("-j {GPUS} {weight}--max-waiting 2");
            stage.run(&flags, &name, GPUS, hold).may_end(PossibleEnd::busy(&name)).hurried()
        }
        2..=5 => stage.run(&format!("-j {GPUS} {weight}--events 3"), &name, GPUS, hold).watched(),
        _ => stage.run(&format!("-j {GPUS} {weight}"), &name, GPUS, hold),
    }
}

fn api(stage: &ScenarioStage<'_>, rng: &mut Rng) -> DayJob {
    let priority = rng.choice([-5, 0, 0, 0, 5]).unwrap();
    let flags = format!("-j {API} --priority {priority} --events 3");
    stage.run(&flags, &stage.name("api"), API, work(rng, ms(6000))).watched()
}

/// Makes a job that asks for one permit, as in README's first line. Sometimes CMD fails, and its
/// status must be passed on.
fn backup(stage: &ScenarioStage<'_>, rng: &mut Rng) -> DayJob {
    let (name, status) = (stage.name("backup"), rng.choice([0, 0, 3, 99]).unwrap());
    let hold = ms(rng.u64(100..1500)).as_secs_f64();
    stage
        .call(&format!("run {name} -- day hold {hold} {status}"))
        .wants(&name, 1, 0)
        .may_end(PossibleEnd::own(status, DONE))
}

fn program(stage: &ScenarioStage<'_>, rng: &mut Rng) -> DayJob {
    let (name, limit) = rng.choice([("api", API), ("gpus", GPUS), ("api", API)]).unwrap();
    let (name, hold) = (stage.name(name), work(rng, ms(6000)).as_secs_f64());
    let argv = ["day", "program", &name, &limit.to_string(), &hold.to_string()];
    DayJob::new(stage.world, stage.next(), argv.map(str::to_owned).to_vec())
        .wants(&name, limit, 0)
        .may_end(PossibleEnd::own(0, DONE))
}
