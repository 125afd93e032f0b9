//! `seq N | xargs -P K`: a shell's loop that starts more jobs at once than there are permits.

use crate::{
    end::PossibleEnd,
    stage::{ScenarioStage, ms},
};

pub(super) fn play(stage: &ScenarioStage<'_>) {
    let mut rng = stage.rng.clone();
    loop {
        let limit = rng.u64(1..=3);
        let jobs = 4 * limit;
        // Each job holds for 0.5 to 5 s, which bounds the time of a round.
        let round = ms(jobs * 2750 / limit + 5000);
        if stage.left(round).is_zero() {
            return;
        }
        let name = stage.name(&format!("x{limit}"));
        let events = if rng.bool() { "--events 3 " } else { "" };
        let script = format!(
            "seq {jobs} | xargs -P {} -I% day once % {name} {limit} \
             seinpaal run {events}-j {limit} {name} -- day hold 0.5..5",
            2 * limit + 1
        );
        // Each run of the loop is judged by itself. The status 123 of `xargs` only says that a run
        // failed.
        let job = stage
            .script(&script)
            .may_end(PossibleEnd::own(0, ""))
            .may_end(PossibleEnd::own(123, ""));
        job.start().wait(stage.bound());
    }
}
