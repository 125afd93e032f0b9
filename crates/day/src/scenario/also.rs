//! Runs that ask for several names at once, in all orders. No two of them wait for each other in a
//! circle.

use std::thread;

use crate::{
    cmd::DONE,
    end::PossibleEnd,
    stage::{ScenarioStage, ms, pass},
};

pub(super) fn play(stage: &ScenarioStage<'_>) {
    let mut draw = stage.draw.clone();
    let names = ["licence", "press", "van"].map(|what| stage.name(what));
    thread::scope(|scope| {
        while !stage.left(ms(10_000)).is_zero() {
            let mut order = names.clone();
            draw.shuffle(&mut order);
            let [first, second, third] = &order;
            let third = if draw.chance(50) { format!("--also {third}") } else { String::new() };
            let hold = draw.between(ms(100), ms(2500)).as_secs_f64();
            let run = format!("run {first} --also {second} {third} -- day hold {hold}");
            // The run does not ask in the order of its flags. Only its first name is judged, and
            // its place in line there is not.
            let job = stage.call(&run).wants(first, 1, 0).may_end(PossibleEnd::own(0, DONE));
            stage.let_go(scope, job.start());
            pass(draw.between(ms(1500), ms(6000)));
        }
    });
}
