//! `run`: CMD under a permit, from the first signal to the last.

mod ending;
mod events;
mod find;
pub(crate) mod guard;
mod hold;
mod leash;
mod process;
mod signals;
mod terminal;
mod waiting;
mod work;

use std::{
    os::fd::AsRawFd,
    path::Path,
    time::{Duration, Instant},
};

use seinpaal::{Permit, PermitSet, Schedule, Seinpaal};

pub(crate) use events::{Event, Events};
pub(crate) use signals::{Signals, ends_waiting};
pub(crate) use waiting::{Entrance, full, unless_ended};
pub(crate) use work::work;

use crate::{
    args::{Global, Run},
    command::{connect, on_runtime},
    exit::{Exit, Failure},
    output::{Subject, Voice, json},
    raw, settings,
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
    let events = Events::open(args.events)?;
    let choice = settings::choose(global)?;
    let subject = Subject::new(&args.entry.name, &choice.url);
    let program = find::find(&args.command[0]).map_err(|failure| failure.about(subject))?;
    let ended = on_runtime(async {
        let mut signals = Signals::listen()?;
        let began = Instant::now();
        let connecting = connect(&choice, args.entry.ttl, "seinpaal run", voice, &mut signals);
        let seinpaal = connecting.await.map_err(|failure| failure.about(subject))?;
        let entrance =
            Entrance { seinpaal: &seinpaal, entry: &args.entry, also: &args.also, subject, voice };
        let permits = entrance.enter(&events, &mut signals).await?;
        permits.permits().iter().for_each(|permit| events.emit(&acquired(permit, began)));
        let schedule = seinpaal.schedule(choice.ttl(args.entry.ttl));
        let errand =
            Errand { args, schedule, program: &program, seinpaal: &seinpaal, subject, voice };
        let held = errand.hold(permits, &events, &mut signals).await;
        held.map_err(|failure| failure.about(subject))
    });
    events.part();
    ended
}

/// What to run, and for whom.
#[derive(Clone, Copy)]
struct Errand<'a> {
    args: &'a Run,
    schedule: Schedule,
    program: &'a Path,
    seinpaal: &'a Seinpaal,
    subject: Subject<'a>,
    voice: Voice,
}

impl Errand<'_> {
    async fn hold(
        self,
        permits: PermitSet,
        events: &Events,
        signals: &mut Signals,
    ) -> Result<Exit, Failure> {
        let mut terminal = Terminal::open();
        let terms = self.terms();
        // Where the process itself is the lease, CMD holds it by living. Elsewhere time ends it.
        let guard = permits.remaining().map(|_| Guard::start(terms)).transpose()?;
        if guard.is_some() {
            self.explain_schedule();
        }
        let children = leash::children()?;
        let cmd = match self.start(&permits, terminal.as_mut(), guard.is_some(), signals) {
            Ok(cmd) => cmd,
            Err(failure) => {
                guard.map(Guard::dismiss);
                if permits.release().await.is_ok() {
                    events.emit(&Event::Released { name: self.subject.name });
                }
                return Err(failure);
            }
        };
        let leash = Leash::new(cmd, terms, guard, permits.remaining());
        let Self { seinpaal, subject, voice, .. } = self;
        let hold = Hold {
            leash,
            seinpaal,
            subject,
            voice,
            events,
            signals,
            terminal,
            exit: None,
            continued_at: None,
            loss_is_told: false,
        };
        hold.watch(permits, self.args.max_hold, children).await
    }

    fn explain_schedule(self) {
        let seconds = |duration: Duration| format!("{:.1}s", duration.as_secs_f64());
        self.voice.explain(format!(
            "{}: the lease of {} is renewed every {}; an outage of {} does no harm, one of {} ends the command",
            self.subject.name,
            seconds(self.schedule.ttl()),
            seconds(self.schedule.renewal()),
            seconds(self.schedule.shortest_outage()),
            seconds(self.schedule.danger()),
        ));
    }

    fn terms(self) -> Terms {
        let Run { on_lost, kill_after, .. } = *self.args;
        Terms { on_lost, kill_after, schedule: self.schedule }
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
            hides_store: self.args.hide_store,
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
