//! Jobs of all kinds at three names: short and long, patient and hurried, with priorities and
//! weights, from the program and from programs that use the crate.

use seinpaal_draw::Draw;
use std::{thread, time::Duration};

use crate::{
    cmd::DONE,
    end::PossibleEnd,
    job::DayJob,
    stage::{ScenarioStage, ms, pass},
};

const GPUS: u32 = 4;
const API: u32 = 3;

pub(super) fn play(stage: &ScenarioStage<'_>) {
    let mut draw = stage.draw.clone();
    let longest = (stage.time / 8).max(ms(2000));
    thread::scope(|scope| {
        while !stage.left(longest).is_zero() {
            let burst = if draw.chance(20) { 5 } else { 1 };
            for _ in 0..burst {
                let job = match draw.below(10) {
                    0..=3 => gpus(stage, &mut draw, longest),
                    4..=6 => api(stage, &mut draw),
                    7 => backup(stage, &mut draw),
                    _ => program(stage, &mut draw),
                };
                stage.let_go(scope, job.start());
                // The pause makes the order of arrival visible in the history.
                pass(ms(100));
            }
            pass(draw.between(ms(200), ms(2200)) * burst);
        }
    });
}

/// Draws how long a job works: mostly a short time, sometimes a longer one, rarely a long one.
fn work(draw: &mut Draw, longest: Duration) -> Duration {
    match draw.below(10) {
        0..=5 => draw.between(ms(100), ms(1000)),
        6..=8 => draw.between(ms(500), ms(6000)),
        _ => draw.between(ms(1000), longest),
    }
}

fn gpus(stage: &ScenarioStage<'_>, draw: &mut Draw, longest: Duration) -> DayJob {
    let hold = work(draw, longest);
    let name = stage.name("gpus");
    let weight = if draw.chance(15) { "-p 2 " } else { "" };
    match draw.below(8) {
        0 => {
            let flags =
                format!("-j {GPUS} {weight}-w {}ms", draw.between(ms(100), ms(4000)).as_millis());
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

fn api(stage: &ScenarioStage<'_>, draw: &mut Draw) -> DayJob {
    let priority = draw.pick(&[-5, 0, 0, 0, 5]);
    let flags = format!("-j {API} --priority {priority} --events 3");
    stage.run(&flags, &stage.name("api"), API, work(draw, ms(6000))).watched()
}

/// One permit, as in README's first line. Sometimes CMD fails, and its status must be passed on.
fn backup(stage: &ScenarioStage<'_>, draw: &mut Draw) -> DayJob {
    let (name, status) = (stage.name("backup"), draw.pick(&[0, 0, 3, 99]));
    let hold = draw.between(ms(100), ms(1500)).as_secs_f64();
    stage
        .call(&format!("run {name} -- day hold {hold} {status}"))
        .wants(&name, 1, 0)
        .may_end(PossibleEnd::own(status, DONE))
}

fn program(stage: &ScenarioStage<'_>, draw: &mut Draw) -> DayJob {
    let (name, limit) = draw.pick(&[("api", API), ("gpus", GPUS), ("api", API)]);
    let (name, hold) = (stage.name(name), work(draw, ms(6000)).as_secs_f64());
    let argv = ["day", "program", &name, &limit.to_string(), &hold.to_string()];
    DayJob::new(stage.world, stage.next(), argv.map(str::to_owned).to_vec())
        .wants(&name, limit, 0)
        .may_end(PossibleEnd::own(0, DONE))
}
