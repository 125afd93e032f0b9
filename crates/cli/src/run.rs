//! `run`: CMD under a permit, from the first signal to the last.

mod events;
mod find;
pub(crate) mod guard;
mod hold;
mod leash;
mod process;
mod raw;
mod signals;
mod terminal;
mod waiting;
mod work;

use std::{os::fd::AsRawFd, path::Path, time::Instant};

use seinpaal::{Permit, PermitSet, Seinpaal};

pub(crate) use events::{Event, Events};
pub(crate) use signals::{Signals, ends_waiting};
pub(crate) use waiting::{Entrance, unless_ended};
pub(crate) use work::work;

use crate::{
    args::{Global, Run},
    command::{connect, on_runtime},
    exit::{Exit, Failure},
    output::{Voice, json},
    settings,
};
use guard::{Guard, Terms};
use hold::Hold;
use leash::Leash;
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
        let ttl = args.entry.ttl;
        let seinpaal = connect(&choice, ttl, "seinpaal run", voice, &mut signals).await?;
        let entrance =
            Entrance { seinpaal: &seinpaal, entry: &args.entry, also: &args.also, voice };
        let permits = entrance.enter(&mut events, &mut signals).await?;
        if events.are_wanted() {
            permits.permits().iter().for_each(|permit| events.emit(&acquired(permit, began)));
        }
        let errand = Errand { args, program: &program, seinpaal: &seinpaal, voice };
        errand.hold(permits, &mut events, &mut signals).await
    })
}

/// What to run, and for whom.
#[derive(Clone, Copy)]
struct Errand<'a> {
    args: &'a Run,
    program: &'a Path,
    seinpaal: &'a Seinpaal,
    voice: Voice,
}

impl Errand<'_> {
    async fn hold(
        self,
        permits: PermitSet,
        events: &mut Events,
        signals: &mut Signals,
    ) -> Result<Exit, Failure> {
        let mut terminal = Terminal::open();
        let terms = self.terms();
        // Where the process itself is the lease, CMD holds it by living. Elsewhere time ends it.
        let guard = permits.remaining().map(|_| Guard::start(terms)).transpose()?;
        let children = leash::children()?;
        let cmd = match self.start(&permits, terminal.as_mut(), guard.is_some(), signals) {
            Ok(cmd) => cmd,
            Err(failure) => {
                guard.map(Guard::dismiss);
                let _ = permits.release().await;
                return Err(failure);
            }
        };
        let leash = Leash::new(cmd, terms, guard, permits.remaining());
        let voice = self.voice;
        let hold = Hold { leash, voice, events, signals, terminal, exit: None };
        hold.watch(permits, self.args.max_hold, children).await
    }

    fn terms(self) -> Terms {
        let Run { on_lost, kill_after, .. } = *self.args;
        let ttl = self.seinpaal.ttl_while_held(self.args.entry.ttl);
        Terms { on_lost, kill_after, ttl }
    }

    fn start(
        self,
        permits: &PermitSet,
        terminal: Option<&mut Terminal>,
        is_guarded: bool,
        signals: &Signals,
    ) -> Result<Cmd, Failure> {
        // What makes CMD count as a holder on this machine: it keeps it open for as long as it lives.
        let presence = self.seinpaal.presence_fd().map(|fd| fd.as_raw_fd());
        let cmd = Cmd::start(Start {
            program: self.program,
            command: &self.args.command,
            variables: variables(permits.permits()),
            mask: signals.mask,
            stdin: None,
            terminal: terminal.and_then(Terminal::lend_at_start),
            presence,
            dies_with_us: is_guarded,
        })?;
        if presence.is_some() {
            self.put_on_record(&cmd);
        }
        Ok(cmd)
    }

    /// So that what CMD leaves in the background is no holder. If it fails, it is one: safe, if slow.
    fn put_on_record(self, cmd: &Cmd) {
        let pid = cmd.pid().as_raw_pid().unsigned_abs();
        if let Err(error) = self.seinpaal.presence_child(pid) {
            self.voice.explain(error);
        }
    }
}

fn acquired(permit: &Permit, began: Instant) -> Event<'_> {
    Event::Acquired {
        name: permit.name(),
        ticket: permit.ticket().to_string(),
        fence: permit.fence().0,
        slots: json::slots(&permit.slots()),
        permits: permit.permits(),
        limit: permit.limit(),
        waited_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
    }
}

fn variables(permits: &[Permit]) -> Vec<(&'static str, String)> {
    let Some((permit, also)) = permits.split_first() else { return Vec::new() };
    let mut variables = vec![
        ("SEINPAAL_NAME", permit.name().to_owned()),
        ("SEINPAAL_FENCE", permit.fence().to_string()),
        ("SEINPAAL_SLOT", permit.slot().to_string()),
        ("SEINPAAL_SLOTS", slots(permit)),
        ("SEINPAAL_PERMITS", permit.permits().to_string()),
        ("SEINPAAL_LIMIT", permit.limit().to_string()),
        ("SEINPAAL_TICKET", permit.ticket().to_string()),
    ];
    if !also.is_empty() {
        let each =
            |what: fn(&Permit) -> String| also.iter().map(what).collect::<Vec<_>>().join(",");
        variables.push(("SEINPAAL_ALSO_FENCES", each(|permit| permit.fence().to_string())));
        variables.push(("SEINPAAL_ALSO_SLOTS", each(|permit| permit.slot().to_string())));
    }
    variables
}

fn slots(permit: &Permit) -> String {
    let slots = permit.slots();
    let all = || slots.iter().map(|slot| slot.to_string()).collect::<Vec<_>>().join(",");
    // A slot has ten digits at most, and a comma.
    if slots.count() as usize * 11 > MOST_SLOTS_TEXT { slots.to_string() } else { all() }
}
