//! `run`: CMD under a permit, from the first signal to the last.

mod events;
mod find;
pub(crate) mod guard;
mod hold;
mod process;
mod raw;
mod signals;
mod terminal;
mod waiting;

use std::{os::fd::AsRawFd, path::Path, time::Instant};

use seinpaal::{Permit, Seinpaal};

pub(crate) use events::{Event, Events};
pub(crate) use signals::{Signals, ends_waiting};
pub(crate) use waiting::{Entrance, unless_ended};

use crate::{
    args::{Global, Run},
    command::{connect, on_runtime},
    exit::{Exit, Failure},
    output::Voice,
    settings,
};
use guard::{Guard, Terms};
use hold::Hold;
use process::{Cmd, Start};
use terminal::Terminal;

/// Longer lists of slots are given as ranges: the kernel refuses a variable above 128 KiB.
const MOST_SLOTS_TEXT: usize = 64 * 1024;

/// Runs CMD while holding permits. What can be known to be wrong is found before anybody queues.
pub(crate) fn run(global: &Global, args: &Run, voice: Voice) -> Result<Exit, Failure> {
    let mut events = Events::open(args.events)?;
    let choice = settings::choose(global)?;
    let program = find::find(&args.command[0])?;
    on_runtime(async {
        let mut signals = Signals::listen()?;
        let began = Instant::now();
        let seinpaal =
            connect(&choice, args.entry.ttl, "seinpaal run", voice, &mut signals).await?;
        let entrance = Entrance { seinpaal: &seinpaal, entry: &args.entry, voice };
        let permit = entrance.enter(&mut events, &mut signals).await?;
        if events.are_wanted() {
            events.emit(&acquired(&permit, began));
        }
        hold(args, &program, &seinpaal, permit, (voice, &mut events, &mut signals)).await
    })
}

type Surroundings<'a> = (Voice, &'a mut Events, &'a mut Signals);

async fn hold(
    args: &Run,
    program: &Path,
    seinpaal: &Seinpaal,
    permit: Permit,
    (voice, events, signals): Surroundings<'_>,
) -> Result<Exit, Failure> {
    // What makes CMD count as a holder on this machine: it keeps it open for as long as it lives.
    let presence = seinpaal.presence_fd().map(|fd| fd.as_raw_fd());
    let mut terminal = Terminal::open();
    let terms = Terms { on_lost: args.on_lost, kill_after: args.kill_after, ttl: args.entry.ttl };
    // Where the process itself is the lease, CMD holds it by living. Elsewhere time ends it.
    let mut guard = if permit.remaining().is_some() { Some(Guard::start(terms)?) } else { None };
    let children = hold::children()?;
    let cmd = Cmd::start(Start {
        program,
        command: &args.command,
        variables: variables(&permit),
        mask: signals.mask,
        terminal: terminal.as_mut().and_then(Terminal::lend_at_start),
        presence,
        dies_with_us: guard.is_some(),
    });
    let cmd = match cmd {
        Ok(cmd) => cmd,
        Err(failure) => {
            guard.map(Guard::dismiss);
            let _ = permit.release().await;
            return Err(failure);
        }
    };
    if let Some(guard) = &mut guard {
        guard.protect(cmd.pid());
    }
    if presence.is_some()
        && let Err(error) = seinpaal.presence_child(cmd.pid().as_raw_pid().unsigned_abs())
    {
        // Then what CMD leaves in the background counts as a holder, too: safe, if slow.
        voice.explain(format!("{}: {error}", permit.name()));
    }
    let hold = Hold { cmd, terms, voice, events, signals, terminal, guard, ending: None };
    hold.watch(permit, args.max_hold, children).await
}

fn acquired(permit: &Permit, began: Instant) -> Event<'_> {
    Event::Acquired {
        name: permit.name(),
        ticket: permit.ticket().to_string(),
        fence: permit.fence().0,
        slots: permit.slots().iter().collect(),
        permits: permit.permits(),
        limit: permit.limit(),
        waited_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
    }
}

fn variables(permit: &Permit) -> Vec<(&'static str, String)> {
    vec![
        ("SEINPAAL_NAME", permit.name().to_owned()),
        ("SEINPAAL_FENCE", permit.fence().to_string()),
        ("SEINPAAL_SLOT", permit.slot().to_string()),
        ("SEINPAAL_SLOTS", slots(permit)),
        ("SEINPAAL_PERMITS", permit.permits().to_string()),
        ("SEINPAAL_LIMIT", permit.limit().to_string()),
        ("SEINPAAL_TICKET", permit.ticket().to_string()),
    ]
}

fn slots(permit: &Permit) -> String {
    let slots = permit.slots();
    let all = || slots.iter().map(|slot| slot.to_string()).collect::<Vec<_>>().join(",");
    // A slot has ten digits at most, and a comma.
    if slots.count() as usize * 11 > MOST_SLOTS_TEXT { slots.to_string() } else { all() }
}
