//! A queue: items are pushed, and two workers take them. Some items come again, and some never work
//! out.

use std::thread;

use fastrand::Rng;

use crate::{
    end::{CONFLICT, PossibleEnd, UNREACHABLE},
    history::DayWhat,
    job::DayJob,
    stage::{ScenarioStage, ms, pass},
};

const KINDS: [&str; 8] = ["ok", "ok", "ok", "ok", "ok", "later", "twice", "bad"];
/// The longest round, in milliseconds: five deliveries of a bad item with their back-off.
const ROUND: u64 = 30_000;

pub(super) fn play(stage: &ScenarioStage<'_>) {
    if !stage.world.store.has_queues() {
        let refused = PossibleEnd::told(CONFLICT, &["queue"]);
        let job = stage.call("queue push photos x").may_end(refused);
        job.start().wait(stage.bound());
        return;
    }
    let mut rng = stage.rng.clone();
    for round in 0.. {
        play_round(stage, &mut rng, &stage.name(&format!("photos{round}")));
        if stage.left(ms(ROUND)).is_zero() {
            return;
        }
    }
}

fn play_round(stage: &ScenarioStage<'_>, rng: &mut Rng, queue: &str) {
    let items = rng.u64(8..20);
    let payloads: Vec<_> =
        (0..items).map(|item| format!("{item}-{}", rng.choice(KINDS).unwrap())).collect();
    let lines = payloads.join("\\n");
    let push = format!("printf '{lines}\\n' | seinpaal queue push {queue} --lines >/dev/null");
    let job = stage.script(&push).may_end(PossibleEnd::own(0, ""));
    if job.start().wait(stage.bound()) == 0 {
        let pushed = DayWhat::Pushed { queue: queue.to_owned(), payloads };
        stage.world.note(&stage.world.who("queue"), pushed);
    }
    // A worker that comes while the store is silent ends with a line about it, and another worker
    // is started later.
    while !work_off(stage, queue) {
        pass(ms(1000));
    }
    let drop = format!("queue dead {queue} --drop all");
    stage.call(&drop).may_end(PossibleEnd::quiet(0)).start().wait(stage.bound());
}

/// Runs two workers until the queue is empty. Returns whether one of the workers has seen the empty
/// queue.
fn work_off(stage: &ScenarioStage<'_>, queue: &str) -> bool {
    let worker = || -> DayJob {
        let work = format!("queue work {queue} -c 2 --until-empty -- day item");
        stage.call(&work).may_end(PossibleEnd::lines(0, &["dead"]))
    };
    let workers = [worker().start(), worker().start()];
    let bound = stage.bound();
    thread::scope(|scope| {
        let ends = workers.map(|job| scope.spawn(move || job.wait(bound)));
        ends.into_iter().any(|end| end.join().is_ok_and(|status| status != UNREACHABLE))
    })
}
