//! An observer. Lists and snapshots always work, and never show more permits than the limit.

use serde_json::Value;

use crate::{
    end::PossibleEnd,
    job::said,
    stage::{ScenarioStage, ms, pass},
};

pub(super) fn play(stage: &ScenarioStage<'_>) {
    while !stage.left(ms(2000)).is_zero() {
        let job = stage.call("list --json").may_end(PossibleEnd::quiet(0)).hurried();
        if job.start().wait(stage.bound()) == 0 {
            look(stage);
        }
        pass(ms(4000));
    }
}

fn look(stage: &ScenarioStage<'_>) {
    let listed = said(stage.world, &stage.last(), "out");
    let text = std::fs::read_to_string(listed).unwrap_or_default();
    for line in text.lines() {
        let Ok(name) = serde_json::from_str::<Value>(line) else {
            stage.wrong(format!("no JSON: {line}"));
            continue;
        };
        let (held, limit) = (name["permits_held"].as_u64(), name["limit"].as_u64());
        if held.zip(limit).is_none_or(|(held, limit)| held > limit) {
            stage.wrong(format!("more than there can be: {line}"));
        }
    }
}
