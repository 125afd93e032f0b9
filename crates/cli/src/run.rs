//! `run`: CMD under a permit, from the first signal to the last.

mod ending;
mod events;
mod find;
pub(crate) mod guard;
mod held;
mod hold;
mod leash;
mod once;
mod process;
mod sign;
mod signals;
mod terminal;
mod threshold;
mod tie;
mod waiting;
mod way;
mod work;

use std::{
    os::fd::AsRawFd,
    path::Path,
    time::{Duration, Instant},
};

use nix::sys::signal::SigSet;
use rustix::process::Pid;
use seinpaal::{Name, Permit, PermitSet, Schedule, Seinpaal, Slots, store::ChildRecord};
use tokio::task::JoinHandle;

pub(crate) use events::{Event, Events};
pub(crate) use signals::{Signals, ends_waiting};
pub(crate) use waiting::{Entrance, full, unless_ended};
pub(crate) use work::work;

use crate::{
    args::{Global, OnUnreachable, Run},
    connection::{connect_here, on_runtime, part},
    exit::{Exit, Failure},
    output::{Subject, Voice, json, voice},
    raw, settings,
};
use guard::{Guard, Terms};
use held::{Grant, Held, HeldAs};
use hold::Hold;
use leash::Leash;
use once::Once;
use process::{Cmd, Note, Start};
use sign::Sign;
use terminal::Terminal;
use tie::Tie;

/// Longer lists of slots are given as ranges: the kernel refuses a variable above 128 KiB.
const MOST_SLOTS_TEXT: usize = 64 * 1024;

/// How long the watcher of `acquire --while-pid` has to tell its process. It ends as soon as it has. On a busy machine
/// it may take seconds until a program begins at all, and whoever kills the watcher before that leaves its process
/// untold.
const WATCHER_GRACE: Duration = Duration::from_secs(60);

/// Runs CMD while holding permits. What can be known to be wrong is found before anybody queues.
pub(crate) fn run(global: &Global, args: &Run, voice: Voice) -> Result<Exit, Failure> {
    let events = Events::open(args.events)?;
    let choice = settings::choose(global)?;
    let subject = Subject::new(&args.entry.name, &choice.url);
    let program = find::find(&args.command[0]).map_err(|failure| failure.about(subject))?;
    let once = Once::of(args, &choice).map_err(|failure| failure.about(subject))?;
    let mut mask = None;
    let mut work = async |task: &mut Option<JoinHandle<()>>| {
        let mut signals = Signals::listen()?;
        mask = Some(signals.mask);
        let began = Instant::now();
        let client = if args.kept_for.is_some() { "seinpaal acquire" } else { "seinpaal run" };
        let ttl = args.entry.ttl;
        let connecting = connect_here(&choice, ttl, client, voice, &mut signals, task);
        let seinpaal = connecting.await.map_err(|failure| failure.about(subject))?;
        let mut entrance = Entrance {
            to_detach: false,
            seinpaal: &seinpaal,
            entry: &args.entry,
            also: &args.also,
            within: &args.within,
            held: &[],
            subject,
            voice,
        };
        if let Some(once) = &once
            && once.is_done(entrance, &mut signals).await?
        {
            return Ok(Exit::Success);
        }
        let around_us = held::around_us();
        let ties = match args.no_reenter {
            true => Vec::new(),
            false => entrance.ties(&around_us, &mut signals).await?,
        };
        let held = names(&ties);
        entrance.held = &held;
        let permits = match held.len() > args.also.len() + args.within.len() {
            true => None,
            false => {
                entrance.make_way(args.on_conflict, &mut signals).await?;
                Some(entrance.enter(&events, &mut signals).await?)
            }
        };
        if args.kept_for.is_some() {
            voice::fall_silent().map_err(Failure::internal)?;
        }
        let schedule = seinpaal.schedule(choice.ttl(args.entry.ttl));
        let program = &program;
        let seinpaal = &seinpaal;
        let errand = Errand {
            args,
            schedule,
            program,
            seinpaal,
            around_us: &around_us,
            once: once.as_ref(),
            subject,
            voice,
        };
        let grants = errand.grants(permits.as_ref(), &ties);
        if let Some(once) = &once {
            let alone = Once::check_alone(&grants).map_err(|failure| failure.about(subject));
            if alone.is_err() || once.is_done(entrance, &mut signals).await? {
                once::give_back(permits).await;
                return alone.map(|()| Exit::Success);
            }
        }
        grants.iter().for_each(|grant| events.emit(&acquired(grant, began)));
        let held = errand.hold(permits, ties, &grants, &events, &mut signals).await;
        held.map_err(|failure| failure.about(subject))
    };
    let ended = on_runtime(async {
        let mut task = None;
        let ended = Box::pin(work(&mut task)).await;
        part(task).await;
        ended
    });
    events.part();
    match (ended, mask) {
        (Err(Failure { exit: Exit::Unreachable, message }), Some(mask))
            if args.on_unreachable == OnUnreachable::Run =>
        {
            Err(run_without(args, voice, message, &program, mask))
        }
        (ended, _) => ended,
    }
}

/// Runs CMD without a permit, as `--on-unreachable run` says. Returns only if it cannot be run.
fn run_without(
    args: &Run,
    voice: Voice,
    message: Option<String>,
    program: &Path,
    mask: SigSet,
) -> Failure {
    let why = message.unwrap_or_default();
    voice.say(format!("{why}; running the command without a permit, as --on-unreachable says"));
    process::become_cmd(program, &args.command, mask, args.hide_store)
}

/// A name that the store confirmed is a name.
fn names(ties: &[Tie]) -> Vec<Name> {
    ties.iter().filter_map(|tie| Name::new(&tie.grant.name).ok()).collect()
}

/// What to run, and for whom.
#[derive(Clone, Copy)]
struct Errand<'a> {
    args: &'a Run,
    schedule: Schedule,
    program: &'a Path,
    seinpaal: &'a Seinpaal,
    /// What runs around us hold.
    around_us: &'a [Held],
    once: Option<&'a Once>,
    subject: Subject<'a>,
    voice: Voice,
}

impl Errand<'_> {
    /// What CMD runs under: NAME, then the others in the order of their flags.
    fn grants(self, permits: Option<&PermitSet>, ties: &[Tie]) -> Vec<Grant> {
        let own = permits.map(PermitSet::permits).unwrap_or_default().iter().map(Grant::from);
        let all: Vec<_> = own.chain(ties.iter().map(|tie| tie.grant.clone())).collect();
        let also = self.args.also.iter().chain(&self.args.within).map(|(name, _)| name);
        let names = [&self.args.entry.name].into_iter().chain(also);
        names
            .filter_map(|name| all.iter().find(|grant| grant.name == name.as_str()).cloned())
            .collect()
    }

    async fn hold(
        self,
        permits: Option<PermitSet>,
        mut ties: Vec<Tie>,
        grants: &[Grant],
        events: &Events,
        signals: &mut Signals,
    ) -> Result<Exit, Failure> {
        let began = tokio::time::Instant::now();
        let mut terminal = Terminal::open();
        let left = permits.as_ref().and_then(PermitSet::remaining);
        let sign = permits.is_some().then(|| self.put_up_sign(left)).flatten();
        let mut guard = self.guard(left, &ties)?;
        let children = leash::children()?;
        let held = self.held(sign.as_ref(), permits.as_ref());
        let counts = permits.is_some();
        let started = match fallen(&mut ties) {
            Some(failure) => Err(failure),
            None => {
                self.start(grants, &held, counts, terminal.as_mut(), (&mut guard, left), signals)
            }
        };
        let cmd = match started {
            Ok(cmd) => cmd,
            Err(failure) => {
                guard.map(Guard::dismiss);
                if let Some(permits) = permits
                    && permits.release().await.is_ok()
                {
                    events.emit(&Event::Released { name: self.subject.name });
                }
                return Err(failure);
            }
        };
        let left = permits.as_ref().and_then(PermitSet::remaining);
        let leash = Leash::new(cmd, self.terms(), guard, left).show(sign);
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
            ties,
            loss_is_told: false,
            kept_for: self.args.kept_for,
            once: self.once,
            min_hold_at: self.args.min_hold.and_then(|least| began.checked_add(least)),
        };
        hold.watch(permits, self.args.max_hold, children).await
    }

    /// Where the process itself is the lease, CMD holds it by living. Elsewhere time ends it, or a run around us.
    fn guard(self, left: Option<Duration>, ties: &[Tie]) -> Result<Option<Guard>, Failure> {
        if left.is_some() {
            self.explain_schedule();
        }
        if left.is_none() && ties.is_empty() {
            return Ok(None);
        }
        let bonds = ties.iter().map(|tie| tie.sight().bond()).collect::<Result<Vec<_>, _>>();
        let bonds = bonds.map_err(|error| Failure::internal(format!("cannot go in: {error}")))?;
        Guard::start_under(self.terms(), bonds.into()).map(Some)
    }

    /// Without a sign, runs inside CMD wait in line.
    fn put_up_sign(self, left: Option<Duration>) -> Option<Sign> {
        let mut sign = match Sign::put_up() {
            Ok(sign) => sign,
            Err(error) => {
                self.voice.explain(format!("runs inside the command cannot go in: {error}"));
                return None;
            }
        };
        if let Some(left) = left {
            sign.show(self.terms().times(left, false));
        }
        Some(sign)
    }

    /// The permits that are held around CMD, by outer runs and by this one.
    fn held(self, sign: Option<&Sign>, permits: Option<&PermitSet>) -> Vec<Held> {
        let own = permits.map(PermitSet::permits).unwrap_or_default();
        let ours =
            sign.into_iter().flat_map(|sign| own.iter().map(|permit| self.entry(sign, permit)));
        self.around_us.iter().cloned().chain(ours).collect()
    }

    fn entry(self, sign: &Sign, permit: &Permit) -> Held {
        let is_first = permit.name() == self.subject.name;
        Held {
            store: self.subject.store.to_string(),
            name: permit.name().to_owned(),
            kind: if is_first { HeldAs::of(&self.args.entry) } else { HeldAs::Semaphore },
            permits: permit.permits(),
            ticket: permit.ticket().to_string(),
            pid: std::process::id(),
            fd: sign.fd(),
        }
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
        let Run { on_lost, kill_after, kept_for, .. } = *self.args;
        let spare = kept_for.map_or(Duration::ZERO, |_| WATCHER_GRACE);
        Terms { on_lost, kill_after, schedule: self.schedule, spare }
    }

    fn start(
        self,
        grants: &[Grant],
        held: &[Held],
        counts: bool,
        terminal: Option<&mut Terminal>,
        (guard, left): (&mut Option<Guard>, Option<Duration>),
        signals: &Signals,
    ) -> Result<Cmd, Failure> {
        // What makes CMD count as a holder on this machine: it keeps them open for as long as it lives.
        let presence = self.seinpaal.presence_fds().filter(|_| counts);
        let presence = presence.map(|fds| fds.map(|fd| fd.as_raw_fd()));
        let mut variables = variables(grants);
        variables.push((held::VARIABLE, held::variable(held)));
        let (terms, seinpaal, dies_with_us) = (self.terms(), self.seinpaal, guard.is_some());
        let mut recorded = Ok(());
        let mut record = None;
        let note = match guard {
            Some(guard) => Note::Us(Box::new(|cmd: Pid| {
                guard.look_after(cmd, left.map(|left| terms.times(left, false)));
                if presence.is_some() {
                    recorded = seinpaal.presence_child(cmd.as_raw_pid().unsigned_abs());
                }
            })),
            None => {
                record = self.record(presence.is_some());
                Note::Store(record.clone())
            }
        };
        let start = Start {
            program: self.program,
            command: &self.args.command,
            variables,
            hides_store: self.args.hide_store,
            mask: signals.mask,
            stdin: None,
            terminal: terminal.and_then(Terminal::lend_at_start),
            presence,
            dies_with_us,
        };
        let cmd = Cmd::start(start, note);
        // What CMD leaves in the background is no holder, unless this failed: safe, if slow.
        let signed = record.map_or(Ok(()), |record| record.finish());
        if let (Ok(_), Err(error)) = (&cmd, recorded.and(signed)) {
            self.voice.explain(error);
        }
        cmd
    }

    /// What CMD signs before it begins.
    fn record(self, counts: bool) -> Option<ChildRecord> {
        let record = if counts { self.seinpaal.presence_record() } else { Ok(None) };
        record.unwrap_or_else(|error| {
            self.voice.explain(error);
            None
        })
    }
}

/// A run around us may have lost its permit while we waited for another.
fn fallen(ties: &mut [Tie]) -> Option<Failure> {
    let fall = ties.iter_mut().find_map(|tie| tie.fall(Duration::ZERO))?;
    let words =
        format!("{}; the command was not started; {}", fall.ending.what, fall.ending.remedy);
    Some(Failure::new(Exit::Lost, words))
}

fn acquired(grant: &Grant, began: Instant) -> Event<'_> {
    Event::Acquired {
        name: &grant.name,
        ticket: grant.ticket.to_string(),
        fence: grant.fence.0,
        slots: json::slots(&grant.slots),
        slot_names: &grant.slot_names,
        permits: grant.permits,
        limit: grant.limit,
        waited_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
    }
}

fn variables(grants: &[Grant]) -> Vec<(&'static str, String)> {
    let Some((grant, also)) = grants.split_first() else { return Vec::new() };
    let mut variables = vec![
        ("SEINPAAL_NAME", grant.name.clone()),
        ("SEINPAAL_FENCE", grant.fence.to_string()),
        ("SEINPAAL_SLOT", slot(grant)),
        ("SEINPAAL_SLOTS", slots(&grant.slots)),
        ("SEINPAAL_PERMITS", grant.permits.to_string()),
        ("SEINPAAL_LIMIT", grant.limit.to_string()),
        ("SEINPAAL_TICKET", grant.ticket.to_string()),
    ];
    if let Some(first) = grant.slot_names.first() {
        variables.push(("SEINPAAL_SLOT_NAME", first.clone()));
        variables.push(("SEINPAAL_SLOT_NAMES", grant.slot_names.join(",")));
    }
    if !also.is_empty() {
        let each = |what: fn(&Grant) -> String| also.iter().map(what).collect::<Vec<_>>().join(",");
        variables.push(("SEINPAAL_ALSO_FENCES", each(|grant| grant.fence.to_string())));
        variables.push(("SEINPAAL_ALSO_SLOTS", each(slot)));
    }
    variables
}

fn slot(grant: &Grant) -> String {
    grant.slots.lowest().unwrap_or_default().to_string()
}

fn slots(slots: &Slots) -> String {
    let all = || slots.iter().map(|slot| slot.to_string()).collect::<Vec<_>>().join(",");
    // A slot has ten digits at most, and a comma.
    if slots.count() as usize * 11 > MOST_SLOTS_TEXT { slots.to_string() } else { all() }
}
