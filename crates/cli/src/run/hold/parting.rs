//! The end of a run. CMD is gone, and so are the processes that it left behind. The terminal is
//! taken back, and the permits are given back.

use std::{pin::pin, time::Duration};

use seinpaal::{PermitSet, ReleaseError};
use tokio::time::{Instant, sleep_until, timeout};

use super::{
    super::{RunEvent, ending::CmdEnding, ends_waiting, guard::RunGuard},
    HoldOfCmd,
};
use crate::{
    exit::{Exit, Failure},
    output::text::age,
};

/// How long to wait for the store to confirm the release. CMD is gone, and our caller waits.
const PARTING: Duration = Duration::from_secs(3);

/// The cause in the event of a loss, if CMD was ended before its lease was lost, by the guard or in
/// danger.
const NOT_RENEWED: &str = "it was not renewed in time";

impl HoldOfCmd<'_> {
    /// Ends the run after CMD has ended.
    pub(super) async fn finish(
        mut self,
        permits: Option<PermitSet>,
        status: u8,
    ) -> Result<Exit, Failure> {
        if let Some(terminal) = &mut self.terminal {
            terminal.take_back(self.leash.cmd.pid());
        }
        let name = self.subject.name;
        if self.leash.take_guard().is_some_and(RunGuard::dismiss) && self.exit.is_none() {
            self.exit = Some(Exit::Lost);
            let ending = CmdEnding::by_guard(&self.hindrance());
            self.say_of(name, &ending, "the command was stopped");
        }
        if self.exit == Some(Exit::Lost) {
            self.tell_loss(name, NOT_RENEWED);
        }
        if status == 0 && self.exit.is_none() {
            self.note_done().await;
        }
        if let Some(permits) = permits {
            self.keep_on(&permits).await;
            self.release(name, permits).await;
        }
        self.events.emit(&RunEvent::Exited { name, status });
        Ok(self.exit.unwrap_or(Exit::Status(status)))
    }

    async fn note_done(&self) {
        if let Some(once) = self.once
            && let Err(words) = once.note(self.seinpaal).await
        {
            self.say(&words);
        }
    }

    /// Keeps the permits until `--min-hold` is over, if CMD has ended before. A signal that would
    /// end this program ends this wait, and so does a loss, because neither harms CMD any more.
    async fn keep_on(&mut self, permits: &PermitSet) {
        let Some(until) = self.min_hold_at.filter(|until| *until > Instant::now()) else { return };
        if self.exit.is_some() || !permits.is_held() {
            return;
        }
        let left = age(until.saturating_duration_since(Instant::now()));
        self.voice
            .explain(self.subject.line(&format!("the command has ended; held for {left} more")));
        let lost = permits.lost();
        let mut lost = pin!(lost);
        loop {
            tokio::select! {
                biased;
                signal = self.signals.next() => if ends_waiting(signal) { return },
                _ = &mut lost => return,
                () = sleep_until(until) => return,
            }
        }
    }

    async fn release(&mut self, name: &str, permits: PermitSet) {
        match timeout(PARTING, permits.release()).await {
            // A loss was reported already, so no release is reported, even if the store confirms
            // one now.
            Ok(Ok(())) if self.loss_is_told => {}
            Ok(Ok(())) => self.events.emit(&RunEvent::Released { name }),
            Ok(Err(error)) => {
                // CMD's own status does not show the loss, so the events report it.
                if error == ReleaseError::NotHeld {
                    self.tell_loss(name, &error.to_string());
                }
                self.voice.explain(self.subject.line(&error.to_string()));
            }
            Err(_) => {
                self.voice.explain(self.subject.line("the store did not confirm the release"));
            }
        }
    }
}
