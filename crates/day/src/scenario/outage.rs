//! All servers of the store are silent for longer than a ttl. A holder is stopped in time and told.
//! A waiter sits the outage out or is told. A newcomer is told.

use std::{thread, time::Duration};

use crate::{
    cmd::DONE,
    end::{BUSY, PossibleEnd},
    history::DayWhat,
    job::DayJob,
    stage::{ScenarioStage, ms, pass},
};

/// Longer than the ttl of 30 s.
pub(crate) const SILENCE: Duration = Duration::from_secs(40);

pub(super) fn play(stage: &ScenarioStage<'_>) {
    let name = stage.name("held");
    let silent = stage.time.max(SILENCE);
    let mut holder = lost(stage, &name, silent).start();
    holder.until_inside(stage.bound());
    let waiter = stage.run("-j 1 --events 3", &name, 1, ms(500)).watched();
    let mut waiter = waiter.may_end(PossibleEnd::unreachable()).start();
    waiter.until_queued(stage.bound());
    pass(ms(500));
    silence(stage, true);
    pass(ms(2000));
    thread::scope(|scope| {
        stage.let_go(scope, holder);
        stage.let_go(scope, waiter);
        come(stage).into_iter().for_each(|job| stage.let_go(scope, job.start()));
        pass(silent - ms(2000));
        silence(stage, false);
    });
}

/// CMD would work for much longer, and prints nothing when it is ended.
fn lost(stage: &ScenarioStage<'_>, name: &str, silent: Duration) -> DayJob {
    let hold = (silent * 2).as_secs();
    let run = format!("run -j 1 --events 3 {name} -- day hold {hold}");
    stage.call(&run).wants(name, 1, 0).may_end(PossibleEnd::lost(name)).watched()
}

/// Jobs that come while the store is silent. A job that does not wait is told. The others are told,
/// or get in later.
fn come(stage: &ScenarioStage<'_>) -> Vec<DayJob> {
    let name = stage.name("other");
    let run = |flags: &str| {
        let job = stage.call(&format!("run {flags} {name} -- day hold 0.2")).wants(&name, 1, 0);
        job.may_end(PossibleEnd::unreachable())
    };
    let job = run("-w 60").may_end(PossibleEnd::own(0, DONE));
    vec![run("-n"), run("-w 5"), job.may_end(PossibleEnd::told(BUSY, &["answer"]))]
}

/// Makes the servers silent, or lets them answer again.
pub(crate) fn silence(stage: &ScenarioStage<'_>, is_silent: bool) {
    let rig = stage.world.who("rig");
    if is_silent {
        stage.world.note(&rig, DayWhat::OutageBegins);
    }
    stage.site.silence(is_silent);
    if !is_silent {
        stage.world.note(&rig, DayWhat::OutageEnds);
    }
}
