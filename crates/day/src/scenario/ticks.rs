//! Jobs of cron: the same job again and again. A job is skipped while the one before it still runs.

use std::thread;

use crate::{
    end::PossibleEnd,
    stage::{ScenarioStage, ms, pass},
};

pub(super) fn play(stage: &ScenarioStage<'_>) {
    let (mut rng, name) = (stage.rng.clone(), stage.name("minutely"));
    thread::scope(|scope| {
        while !stage.left(ms(4000)).is_zero() {
            let hold = ms(rng.u64(200..3500));
            let job =
                stage.run("-j 1 -n", &name, 1, hold).may_end(PossibleEnd::busy(&name)).hurried();
            stage.let_go(scope, job.start());
            pass(ms(1500));
        }
    });
}
