//! Runs that ask for several names at once, in all orders. No two of them wait for each other in a
//! circle.

use std::thread;

use crate::{
    cmd::DONE,
    end::PossibleEnd,
    stage::{ScenarioStage, ms, pass},
};

pub(super) fn play(stage: &ScenarioStage<'_>) {
    let mut rng = stage.rng.clone();
    let names = ["licence", "press", "van"].map(|what| stage.name(what));
    thread::scope(|scope| {
        while !stage.left(ms(10_000)).is_zero() {
            let mut order = names.clone();
            rng.shuffle(&mut order);
            let [first, second, third] = &order;
            let third = if rng.bool() { format!("--also {third}") } else { String::new() };
            let hold = ms(rng.u64(100..2500)).as_secs_f64();
            let run = format!("run {first} --also {second} {third} -- day hold {hold}");
            // The run asks for its names in an order of its own, which is not that of its flags.
            // The judge therefore checks only the limit of the first name, and not the order there.
            let job = stage.call(&run).wants(first, 1, 0).may_end(PossibleEnd::own(0, DONE));
            stage.let_go(scope, job.start());
            pass(ms(rng.u64(1500..6000)));
        }
    });
}
