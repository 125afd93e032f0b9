//! Signals. The program is stopped (`SIGSTOP`) for a moment while it holds and while it waits,
//! which has no consequences. Other signals end it.

use std::thread;

use rustix::process::Signal;

use crate::{
    end::PossibleEnd,
    stage::{ScenarioStage, ms, pass},
};

pub(super) fn play(stage: &ScenarioStage<'_>) {
    let (name, blink) = (stage.name("build"), stage.world.store.blink());
    while !stage.left(ms(20_000)).is_zero() {
        let mut holder = stage.run("-j 1", &name, 1, ms(6000)).start();
        holder.until_inside(stage.bound());
        let mut waiter = stage.run("-j 1 --events 3", &name, 1, ms(500)).watched().start();
        waiter.until_queued(stage.bound());
        pass(ms(500));
        thread::scope(|scope| {
            scope.spawn(|| holder.stop_for(blink));
            scope.spawn(|| waiter.stop_for(blink));
        });
        holder.wait(stage.bound());
        waiter.wait(stage.bound());
        end_by_signals(stage, &name);
    }
}

/// Sends INT to a waiter, which leaves the line with status 130 and prints a line. Sends TERM to a
/// holder, which passes it to CMD, and CMD ends by it.
fn end_by_signals(stage: &ScenarioStage<'_>, name: &str) {
    let ended = PossibleEnd::own(143, "");
    let mut holder = stage.run("-j 1", name, 1, ms(60_000)).may_end(ended).start();
    holder.until_inside(stage.bound());
    let told = PossibleEnd::told(130, &[name, "SIGINT"]);
    let waiter = stage.run("-j 1 --events 3", name, 1, ms(0)).watched().may_end(told);
    let mut waiter = waiter.start();
    waiter.until_queued(stage.bound());
    waiter.signal(Signal::INT);
    waiter.wait(stage.bound());
    holder.signal(Signal::TERM);
    holder.wait(stage.bound());
}
