//! Runs on a terminal. A run shows one line while it waits, and removes the line afterwards. `^Z`
//! and `fg` work.

use std::{
    io,
    time::{Duration, Instant},
};

use crate::{
    end::{LOST, PossibleEnd},
    job::said,
    screen::{TELL, TypedScreen},
    stage::{ScenarioStage, ms, pass},
};

/// The shortest day that has time to stay stopped beyond the ttl.
const LONG: Duration = Duration::from_secs(180);
/// Longer than the ttl.
const STOPPED: Duration = Duration::from_secs(40);

pub(super) fn play(stage: &ScenarioStage<'_>) {
    let plays = [wait, stop_and_go_on, sleep_too_long];
    let count = if stage.time > LONG { 3 } else { 2 };
    for play in &plays[..count] {
        if let Err(error) = play(stage) {
            stage.wrong(format!("the terminal: {error}"));
        }
    }
}

fn wait(stage: &ScenarioStage<'_>) -> io::Result<()> {
    let name = stage.name("edit");
    let mut holder = stage.run("-j 1", &name, 1, ms(5000)).start();
    holder.until_inside(stage.bound());
    let command = format!("seinpaal run {name} -- day hold 0.5; {TELL}");
    let screen = TypedScreen::start(stage.world, stage.next(), &command, PossibleEnd::anyhow(0))?;
    let is_told = screen.until_shown(&format!("waiting for {name}"), ms(4500));
    let shown = screen.finish(stage.bound());
    holder.wait(stage.bound());
    if is_told && !shown.contains("\r\x1b[Kdone\r\nstatus 0") {
        stage.wrong(format!("the line does not go away: {shown:?}"));
    }
    Ok(())
}

fn stop_and_go_on(stage: &ScenarioStage<'_>) -> io::Result<()> {
    let shown = stop(stage, "edit", stage.world.store.blink(), PossibleEnd::anyhow(0))?;
    if !shown.contains("done\r\nstatus 0") {
        stage.wrong(format!("not as if nothing had been: {shown:?}"));
    }
    Ok(())
}

/// Stops a run for longer than a ttl. On a store whose leases run out, CMD is ended before its
/// lease ends, and the run says so.
fn sleep_too_long(stage: &ScenarioStage<'_>) -> io::Result<()> {
    let status = if stage.world.store.has_leases() { LOST } else { 0 };
    let shown = stop(stage, "nap", STOPPED, PossibleEnd::anyhow(status))?;
    if status == LOST && !shown.contains("seinpaal: ") {
        stage.wrong(format!("a silent end: {shown:?}"));
    }
    Ok(())
}

fn stop(
    stage: &ScenarioStage<'_>,
    name: &str,
    time: Duration,
    end: PossibleEnd,
) -> io::Result<String> {
    let name = stage.name(name);
    let hold = (time + ms(4000)).as_secs_f64();
    let command = format!("seinpaal run {name} -- day hold {hold}");
    let who = stage.next();
    let inside = said(stage.world, &who, "in");
    let mut screen = TypedScreen::start(stage.world, who, &command, end)?;
    let began = Instant::now();
    while !inside.exists() && began.elapsed() < stage.bound() {
        pass(ms(20));
    }
    screen.typed("\x1a")?;
    if !screen.until_shown("Stopped", stage.bound()) {
        stage.wrong(format!("^Z stops nothing: {:?}", screen.shown()));
    }
    pass(time);
    screen.typed(&format!("fg; {TELL}\n"))?;
    Ok(screen.finish(stage.bound()))
}
