//! Readers and writers.

use std::thread;

use crate::stage::{ScenarioStage, ms, pass};

/// How many permits a writer takes: all that there are.
const READERS: u32 = 1_000_000;

pub(super) fn play(stage: &ScenarioStage<'_>) {
    let (mut draw, name) = (stage.draw.clone(), stage.name("site"));
    thread::scope(|scope| {
        while !stage.left(ms(8000)).is_zero() {
            let (flag, hold) = match draw.chance(25) {
                true => ("--exclusive", draw.between(ms(100), ms(1500))),
                false => ("--shared", draw.between(ms(100), ms(5000))),
            };
            let job = stage.run(&format!("{flag} --events 3"), &name, READERS, hold);
            stage.let_go(scope, job.watched().start());
            pass(draw.between(ms(500), ms(4500)));
        }
    });
}
