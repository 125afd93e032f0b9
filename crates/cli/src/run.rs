//! `run`: runs CMD under a permit, from the wait in line to the release.

mod ending;
mod events;
mod find;
mod group;
pub(crate) mod guard;
mod held;
mod hold;
#[cfg(target_os = "linux")]
mod in_place;
mod leash;
mod once;
mod permitted;
mod process;
mod setup;
mod sign;
mod signals;
mod terminal;
mod threshold;
mod tie;
mod unstarted;
mod variables;
mod waiting;
mod way;
mod work;

use std::{path::Path, time::Instant};

use nix::sys::signal::SigSet;
use seinpaal::{Name, PermitSet, Seinpaal};
use tokio::task::JoinHandle;

pub(crate) use events::{Events, RunEvent};
pub(crate) use signals::{Signals, ends_waiting};
pub(crate) use waiting::{Entrance, full, unless_ended};
#[cfg(feature = "serve")]
pub(crate) use work::watch_store;
pub(crate) use work::work;

use crate::{
    args::{Global, OnUnreachable, RunArgs},
    connection::{connect_here, on_runtime, part, patience_of},
    exit::{Exit, Failure},
    output::{NamedStore, Voice, json, voice},
    raw,
    settings::{self, StoreChoice},
};
use held::{CmdGrant, HeldName};
use once::Once;
use permitted::PermittedCmd;
use tie::Tie;

/// Runs CMD while holding permits. Mistakes that need no store to find, such as a missing program,
/// end it before it stands in line.
pub(crate) fn run(global: &Global, args: &RunArgs, voice: Voice) -> Result<Exit, Failure> {
    let events = Events::open(args.events)?;
    let choice = settings::choose(global)?;
    let subject = NamedStore::new(&args.entry.name, &choice.url);
    let program = find::find(&args.command[0]).map_err(|failure| failure.about(subject))?;
    let once = Once::of(args, &choice).map_err(|failure| failure.about(subject))?;
    let (program, once) = (program.as_path(), once.as_ref());
    let order = RunOrder { args, choice: &choice, program, once, events: &events, subject, voice };
    // The signals that were blocked at the start, once they are known. A CMD that runs without a
    // permit gets them back, too.
    let mut mask = None;
    let ended = on_runtime(async {
        let mut task = None;
        let ended = Box::pin(order.carry_out(&mut task, &mut mask)).await;
        part(task).await;
        ended
    });
    match (ended, mask) {
        (Err(Failure { exit: Exit::Unreachable | Exit::Forbidden, message }), Some(mask))
            if args.on_unreachable == OnUnreachable::Run =>
        {
            signals::stop_handling();
            // This comes before CMD takes the place of this process.
            events.part();
            Err(order.run_without(message, mask))
        }
        (ended, _) => {
            events.part();
            ended
        }
    }
}

/// The request, with all facts that are known before it stands in line.
#[derive(Clone, Copy)]
struct RunOrder<'a> {
    args: &'a RunArgs,
    choice: &'a StoreChoice,
    program: &'a Path,
    once: Option<&'a Once>,
    events: &'a Events,
    subject: NamedStore<'a>,
    voice: Voice,
}

impl<'a> RunOrder<'a> {
    async fn carry_out(
        self,
        task: &mut Option<JoinHandle<()>>,
        mask: &mut Option<SigSet>,
    ) -> Result<Exit, Failure> {
        let mut signals = Signals::listen()?;
        *mask = Some(signals.mask);
        let began = Instant::now();
        let client = if self.args.kept_for.is_some() { "seinpaal acquire" } else { "seinpaal run" };
        let ttl = self.args.entry.ttl;
        let patience = patience_of(self.choice, &self.args.entry);
        let connecting =
            connect_here(self.choice, ttl, client, patience, self.voice, &mut signals, task);
        let seinpaal = connecting.await.map_err(|failure| failure.about(self.subject))?;
        self.enter(&seinpaal, began, &mut signals).await
    }

    /// Acquires the permits that no run around us holds, and holds them while CMD runs.
    async fn enter(
        self,
        seinpaal: &Seinpaal,
        began: Instant,
        signals: &mut Signals,
    ) -> Result<Exit, Failure> {
        let entrance = self.entrance(seinpaal);
        if self.is_done(entrance, signals).await? {
            return Ok(Exit::Success);
        }
        let around_us = held::around_us();
        let ties = match self.args.no_reenter {
            true => Vec::new(),
            false => entrance.ties(&around_us, signals).await?,
        };
        let permits = self.permits(entrance, &ties, signals).await?;
        if self.args.kept_for.is_some() {
            // stderr closes before the event that lets `acquire` end. After that end, no reader of
            // our stderr may have to wait for us.
            voice::fall_silent().map_err(Failure::internal)?;
        }
        let permitted = self.permitted(seinpaal, &around_us);
        let grants = permitted.grants(permits.as_ref(), &ties);
        if self.once.is_some() {
            // Another run may have done the job while this one waited for its turn.
            let alone = Once::check_alone(&grants).map_err(|failure| failure.about(self.subject));
            if alone.is_err() || self.is_done(entrance, signals).await? {
                once::release(permits).await;
                return alone.map(|()| Exit::Success);
            }
        }
        grants.iter().for_each(|grant| self.events.emit(&acquired(grant, began)));
        let held = permitted.hold(permits, ties, &grants, self.events, signals).await;
        held.map_err(|failure| failure.about(self.subject))
    }

    fn entrance<'s>(self, seinpaal: &'s Seinpaal) -> Entrance<'s>
    where
        'a: 's,
    {
        Entrance {
            to_detach: false,
            seinpaal,
            entry: &self.args.entry,
            also: &self.args.also,
            within: &self.args.within,
            held: &[],
            subject: self.subject,
            voice: self.voice,
        }
    }

    /// Returns whether the job of `--once-per` was done already.
    async fn is_done(self, entrance: Entrance<'_>, signals: &mut Signals) -> Result<bool, Failure> {
        match self.once {
            Some(once) => once.is_done(entrance, signals).await,
            None => Ok(false),
        }
    }

    /// Acquires the permits. `None`: runs around us hold all of them.
    async fn permits(
        self,
        entrance: Entrance<'_>,
        ties: &[Tie],
        signals: &mut Signals,
    ) -> Result<Option<PermitSet>, Failure> {
        let held = names(ties);
        let entrance = Entrance { held: &held, ..entrance };
        // If the runs around us hold one name more than `also` and `within` have, they hold NAME,
        // too, and so all names.
        if held.len() > self.args.also.len() + self.args.within.len() {
            return Ok(None);
        }
        entrance.make_way(self.args.on_conflict, signals).await?;
        entrance.enter(self.events, signals).await.map(Some)
    }

    fn permitted<'s>(self, seinpaal: &'s Seinpaal, around_us: &'s [HeldName]) -> PermittedCmd<'s>
    where
        'a: 's,
    {
        PermittedCmd {
            args: self.args,
            schedule: seinpaal.schedule(self.choice.ttl(self.args.entry.ttl)),
            program: self.program,
            seinpaal,
            around_us,
            once: self.once,
            subject: self.subject,
            voice: self.voice,
        }
    }

    /// Runs CMD without a permit, as `--on-unreachable run` says. Returns only if CMD cannot be
    /// run.
    fn run_without(self, message: Option<String>, mask: SigSet) -> Failure {
        let why = message.unwrap_or_default();
        let words = "running the command without a permit, as --on-unreachable says";
        self.voice.say(format!("{why}; {words}"));
        process::become_cmd(self.program, &self.args.command, mask, self.args.hide_store)
    }
}

/// Returns the names of these ties. All of them are valid, because the store has confirmed them.
fn names(ties: &[Tie]) -> Vec<Name> {
    ties.iter().filter_map(|tie| Name::new(&tie.grant.name).ok()).collect()
}

fn acquired(grant: &CmdGrant, began: Instant) -> RunEvent<'_> {
    RunEvent::Acquired {
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
