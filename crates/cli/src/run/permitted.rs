//! CMD is started under what was granted: with a sign for runs inside it, a guard, and the
//! variables that tell it what it holds.

use std::{
    os::fd::{AsRawFd, RawFd},
    path::Path,
    time::Duration,
};

use rustix::process::Pid;
use seinpaal::{Permit, PermitSet, Schedule, Seinpaal, store::ChildRecord};

use super::{
    Events, RunEvent, Signals,
    guard::{KillTerms, RunGuard},
    held::{self, CmdGrant, HeldAs, HeldName},
    hold::{HoldOfCmd, left_at_start, left_for_cmd},
    leash::{self, Leash},
    once::Once,
    process::{BeforeCmd, Cmd},
    setup::CmdStart,
    sign::Sign,
    terminal::Terminal,
    tie::Tie,
    variables,
};
use crate::{
    args::RunArgs,
    exit::{Exit, Failure},
    output::{NamedStore, Voice},
};

/// How long the watcher of `acquire --while-pid` may take to tell its process. The watcher ends as
/// soon as it has. On a busy machine a program may need seconds to begin at all, and a watcher that
/// is killed before that leaves its process untold.
const WATCHER_GRACE: Duration = Duration::from_secs(60);

/// The command to run, and for whom.
#[derive(Clone, Copy)]
pub(super) struct PermittedCmd<'a> {
    pub(super) args: &'a RunArgs,
    pub(super) schedule: Schedule,
    pub(super) program: &'a Path,
    pub(super) seinpaal: &'a Seinpaal,
    /// The permits of the runs around us.
    pub(super) around_us: &'a [HeldName],
    pub(super) once: Option<&'a Once>,
    pub(super) subject: NamedStore<'a>,
    pub(super) voice: Voice,
}

impl PermittedCmd<'_> {
    /// The permits that CMD runs under: NAME, then the others in the order of their flags.
    pub(super) fn grants(self, permits: Option<&PermitSet>, ties: &[Tie]) -> Vec<CmdGrant> {
        let own = permits.map(PermitSet::permits).unwrap_or_default().iter().map(CmdGrant::from);
        let all: Vec<_> = own.chain(ties.iter().map(|tie| tie.grant.clone())).collect();
        let also = self.args.also.iter().chain(&self.args.within).map(|(name, _)| name);
        let names = [&self.args.entry.name].into_iter().chain(also);
        names
            .filter_map(|name| all.iter().find(|grant| grant.name == name.as_str()).cloned())
            .collect()
    }

    pub(super) async fn hold(
        self,
        permits: Option<PermitSet>,
        mut ties: Vec<Tie>,
        grants: &[CmdGrant],
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
                let is_watcher = self.args.kept_for.is_some();
                let left = permits.as_ref().and_then(|it| left_at_start(it, is_watcher));
                self.start(grants, &held, counts, terminal.as_mut(), (&mut guard, left), signals)
            }
        };
        let cmd = match started {
            Ok(cmd) => cmd,
            Err(failure) => {
                guard.map(RunGuard::dismiss);
                self.release(permits, events).await;
                return Err(failure);
            }
        };
        // Read again: starting CMD took time, in which the lease went on.
        let left = permits.as_ref().and_then(left_for_cmd);
        let leash = Leash::new(cmd, self.terms(), guard, left).show(sign);
        let mut hold = self.hold_of(leash, terminal, ties, events, signals);
        hold.min_hold_at = self.args.min_hold.and_then(|least| began.checked_add(least));
        hold.watch(permits, self.args.max_hold, children).await
    }

    /// The hold of a CMD that has been started.
    fn hold_of<'b>(
        self,
        leash: Leash,
        terminal: Option<Terminal>,
        ties: Vec<Tie>,
        events: &'b Events,
        signals: &'b mut Signals,
    ) -> HoldOfCmd<'b>
    where
        Self: 'b,
    {
        HoldOfCmd {
            leash,
            seinpaal: self.seinpaal,
            subject: self.subject,
            voice: self.voice,
            events,
            signals,
            terminal,
            exit: None,
            has_ended: false,
            is_cont_passed_on: false,
            continued_at: None,
            ties,
            loss_is_told: false,
            kept_for: self.args.kept_for,
            once: self.once,
            min_hold_at: None,
        }
    }

    /// Gives the permits back when CMD could not be started.
    async fn release(self, permits: Option<PermitSet>, events: &Events) {
        if let Some(permits) = permits
            && permits.release().await.is_ok()
        {
            events.emit(&RunEvent::Released { name: self.subject.name });
        }
    }

    /// Where the process itself is the lease, CMD holds it by living. Elsewhere time ends it, or a
    /// run around us. The guard is there before CMD: if we are killed from then on, there is
    /// somebody to end it.
    fn guard(self, left: Option<Duration>, ties: &[Tie]) -> Result<Option<RunGuard>, Failure> {
        if left.is_some() {
            self.explain_schedule();
        }
        if left.is_none() && ties.is_empty() {
            return Ok(None);
        }
        let bonds = ties.iter().map(|tie| tie.sight().bond()).collect::<Result<Vec<_>, _>>();
        let bonds = bonds.map_err(|error| Failure::internal(format!("cannot go in: {error}")))?;
        RunGuard::start_under(self.terms(), bonds.into()).map(Some)
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
    fn held(self, sign: Option<&Sign>, permits: Option<&PermitSet>) -> Vec<HeldName> {
        let own = permits.map(PermitSet::permits).unwrap_or_default();
        let ours =
            sign.into_iter().flat_map(|sign| own.iter().map(|permit| self.entry(sign, permit)));
        self.around_us.iter().cloned().chain(ours).collect()
    }

    fn entry(self, sign: &Sign, permit: &Permit) -> HeldName {
        let is_first = permit.name() == self.subject.name;
        HeldName {
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

    fn terms(self) -> KillTerms {
        let RunArgs { on_lost, kill_after, kept_for, .. } = *self.args;
        let spare = kept_for.map_or(Duration::ZERO, |_| WATCHER_GRACE);
        KillTerms { on_lost, kill_after, schedule: self.schedule, spare }
    }

    fn start(
        self,
        grants: &[CmdGrant],
        held: &[HeldName],
        counts: bool,
        terminal: Option<&mut Terminal>,
        (guard, left): (&mut Option<RunGuard>, Option<Duration>),
        signals: &Signals,
    ) -> Result<Cmd, Failure> {
        let presence = self.presence().filter(|_| counts);
        let mut variables = variables::of(grants);
        variables.push((held::VARIABLE, held::variable(held)));
        let (terms, seinpaal, dies_with_us) = (self.terms(), self.seinpaal, guard.is_some());
        let mut recorded = Ok(());
        let mut record = None;
        let note = match guard {
            Some(guard) => BeforeCmd::Us(Box::new(|cmd: Pid| {
                guard.look_after(cmd, left.map(|left| terms.times(left, false)));
                if presence.is_some() {
                    recorded = seinpaal.presence_child(cmd.as_raw_pid().unsigned_abs());
                }
            })),
            None => {
                record = self.record(presence.is_some());
                BeforeCmd::Store(record.clone())
            }
        };
        let start = CmdStart {
            program: self.program,
            command: &self.args.command,
            variables,
            withheld: &variables::OF_SOME,
            hides_store: self.args.hide_store,
            mask: signals.mask,
            stdin: None,
            terminal: terminal.and_then(Terminal::lend_at_start),
            presence,
            dies_with_us,
        };
        let cmd = Cmd::start(start, note);
        // A process that CMD leaves in the background is no holder, unless this failed, which is
        // safe but slow.
        let signed = record.map_or(Ok(()), |record| record.finish());
        if let (Ok(_), Err(error)) = (&cmd, recorded.and(signed)) {
            self.voice.explain(error);
        }
        cmd
    }

    /// The descriptors that make CMD count as a holder on this machine: CMD keeps them open for as
    /// long as it lives.
    fn presence(self) -> Option<[RawFd; 2]> {
        self.seinpaal.presence_fds().map(|fds| fds.map(|fd| fd.as_raw_fd()))
    }

    /// The record that CMD signs before it begins.
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
