//! Readers and writers.

use std::thread;

use crate::stage::{ScenarioStage, ms, pass};

/// How many permits a writer takes: all that there are.
const READERS: u32 = 1_000_000;

pub(super) fn play(stage: &ScenarioStage<'_>) {
    let (mut rng, name) = (stage.rng.clone(), stage.name("site"));
    thread::scope(|scope| {
        while !stage.left(ms(8000)).is_zero() {
            let (flag, hold) = match rng.u64(..100) < 25 {
                true => ("--exclusive", ms(rng.u64(100..1500))),
                false => ("--shared", ms(rng.u64(100..5000))),
            };
            let job = stage.run(&format!("{flag} --events 3"), &name, READERS, hold);
            stage.let_go(scope, job.watched().start());
            pass(ms(rng.u64(500..4500)));
        }
    });
}
