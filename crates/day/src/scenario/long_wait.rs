//! Jobs that wait for longer than a ttl, behind a job that holds for longer than a ttl. The waiters
//! work for a while afterwards.

use std::thread;

use crate::{
    end::PossibleEnd,
    stage::{ScenarioStage, ms, pass},
};

pub(super) fn play(stage: &ScenarioStage<'_>) {
    let name = stage.name("report");
    let first = stage.left(ms(24_000)).max(ms(1000));
    thread::scope(|scope| {
        let mut holder = stage.run("-j 1", &name, 1, first).start();
        holder.until_inside(stage.bound());
        stage.let_go(scope, holder);
        for hold in [7000, 6000, 5000] {
            let job = stage.run("-j 1 --events 3", &name, 1, ms(hold)).watched();
            stage.let_go(scope, job.start());
            pass(ms(500));
        }
        let impatient = stage.run("-j 1 -w 5", &name, 1, ms(100));
        stage.let_go(scope, impatient.may_end(PossibleEnd::busy(&name)).hurried().start());
    });
}
