//! A slot: a connection, and the commands that work on its items.

use std::{cell::RefCell, error::Error, os::fd::AsRawFd, path::Path, rc::Rc, time::Duration};

use rustix::process::Pid;
use seinpaal::{Item, PermitState, Seinpaal, store::url::StoreUrl};

use super::{CmdCrew, payload};
use crate::{
    args::queue::WorkArgs,
    exit::{Exit, Failure},
    run::{
        guard::{KillTerms, RunGuard},
        process::{BeforeCmd, Cmd},
        setup::CmdStart,
    },
};

/// The result of an item for the worker.
pub(super) type Handled = Result<(), Box<dyn Error + Send + Sync>>;

/// A connection, and the commands that work on its items.
pub(super) struct WorkSlot<'a> {
    pub(super) args: &'a WorkArgs,
    pub(super) program: &'a Path,
    pub(super) store: &'a StoreUrl,
    pub(super) seinpaal: Seinpaal,
    /// How many items the slot takes at a time.
    pub(super) concurrency: u32,
    pub(super) terms: KillTerms,
    pub(super) crew: Rc<CmdCrew>,
    /// The guards that have no command now.
    pub(super) guards: Rc<RefCell<Vec<RunGuard>>>,
}

impl WorkSlot<'_> {
    pub(super) fn guard(&self) -> Result<RunGuard, Failure> {
        let mut idle = self.guards.borrow_mut().pop();
        match idle.take_if(RunGuard::is_there) {
            Some(guard) => Ok(guard),
            None => RunGuard::start(self.terms),
        }
    }

    pub(super) fn start(&self, item: &Item, guard: &mut Option<RunGuard>) -> Result<Cmd, Failure> {
        let presence = self.seinpaal.presence_fds().map(|fds| fds.map(|fd| fd.as_raw_fd()));
        // The record still names the previous CMD. It is cleared, because otherwise this CMD would
        // not count if we were killed now.
        self.seinpaal.presence_childless()?;
        let stdin = payload::file(item.payload());
        let stdin = stdin.map_err(|error| {
            Failure::new(Exit::Unreachable, format!("cannot keep the payload: {error}"))
        })?;
        // The record has room for one CMD. With more commands, only the inherited descriptors
        // count.
        let is_recorded = presence.is_some() && self.concurrency == 1;
        let (seinpaal, times) = (&self.seinpaal, left_at_start(item));
        let (terms, dies_with_us) = (self.terms, guard.is_some());
        let mut recorded = Ok(());
        let note = |cmd: Pid| {
            if let Some(guard) = guard {
                guard.look_after(cmd, times.map(|left| terms.times(left, false)));
            }
            if is_recorded {
                recorded = seinpaal.presence_child(cmd.as_raw_pid().unsigned_abs());
            }
        };
        let start = CmdStart {
            program: self.program,
            command: &self.args.command,
            variables: variables(item),
            withheld: &[],
            hides_store: self.args.hide_store,
            mask: self.crew.mask,
            stdin: Some(stdin),
            terminal: None,
            presence,
            dies_with_us,
        };
        let cmd = Cmd::start(start, BeforeCmd::Us(Box::new(note)))?;
        // With the record, a process that CMD leaves in the background is no holder. Without it,
        // such a process also counts, which is safe but slow.
        if let Err(error) = recorded {
            self.crew.voice.explain(error);
        }
        Ok(cmd)
    }
}

fn variables(item: &Item) -> Vec<(&'static str, String)> {
    let labels = item.labels().into_iter().map(|(key, value)| format!("{key}={value}"));
    vec![
        ("SEINPAAL_NAME", item.queue().to_owned()),
        ("SEINPAAL_ITEM", item.id().to_string()),
        ("SEINPAAL_FENCE", item.fence().to_string()),
        ("SEINPAAL_ATTEMPT", item.attempt().to_string()),
        ("SEINPAAL_DELIVERIES", item.deliveries().to_string()),
        ("SEINPAAL_GROUP", item.group().unwrap_or_default().to_owned()),
        ("SEINPAAL_LABELS", labels.collect::<Vec<_>>().join("\n")),
    ]
}

/// Returns how long a CMD that is about to begin may work on the item. If the item is lost, that is
/// no time at all. Otherwise the guard would have no time at which to act, and CMD would go on
/// without a lease if we were stopped or killed now.
fn left_at_start(item: &Item) -> Option<Duration> {
    item.remaining()
}

/// Returns how long CMD may work on the item, as [`left_for_cmd`](crate::run::hold::left_for_cmd)
/// does for the permits of a `run`.
pub(super) fn left_for_cmd(item: &Item) -> Option<Duration> {
    let left = item.remaining();
    // The time is read first. An item that is not lost afterwards was not lost when the time was
    // read.
    left.filter(|_| !matches!(item.state(), PermitState::Lost(_)))
}

#[cfg(test)]
mod tests {
    use seinpaal::Seinpaal;

    use super::*;

    #[tokio::test]
    async fn a_guard_is_told_of_a_loss_before_cmd_began_and_of_no_later_one() {
        let seinpaal = Seinpaal::in_memory();
        let queue = seinpaal.queue("q");
        let id = queue.push("x").await.unwrap().id;
        let item = queue.pop().await.unwrap();
        let has_time = |left: Option<Duration>| left.is_some_and(|left| !left.is_zero());
        assert!(has_time(left_at_start(&item)) && has_time(left_for_cmd(&item)));
        queue.cancel(id).await.unwrap();
        item.lost().await;
        assert_eq!((left_at_start(&item), left_for_cmd(&item)), (Some(Duration::ZERO), None));
    }
}
