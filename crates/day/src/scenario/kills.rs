//! `kill -9` of the program while it waits and while it holds. The next job in line gets in when
//! the permit is free, and not before.

use crate::{
    end::PossibleEnd,
    stage::{ScenarioStage, ms, pass},
};

/// How long CMD works. On the embedded store the CMD of a killed holder runs on, and holds the
/// permit until its end.
const WORK: u64 = 6000;

pub(super) fn play(stage: &ScenarioStage<'_>) {
    let name = stage.name("import");
    let mut holder =
        stage.run("-j 1", &name, 1, ms(WORK)).may_end(PossibleEnd::anyhow(137)).start();
    holder.until_inside(stage.bound());
    let waiter = || stage.run("-j 1 --events 3", &name, 1, ms(1000)).watched();
    let mut doomed = waiter().may_end(PossibleEnd::anyhow(137)).start();
    doomed.until_queued(stage.bound());
    let mut next = waiter().start();
    next.until_queued(stage.bound());
    doomed.kill();
    doomed.wait(stage.bound());
    pass(ms(1000));
    holder.kill();
    holder.wait(stage.bound());
    // On a server the lease of the killed holder runs out first.
    next.wait(stage.bound());
}
