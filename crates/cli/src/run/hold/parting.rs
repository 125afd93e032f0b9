//! CMD is gone, and what it left behind: the terminal comes back, and the permit is given back.

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

/// How long to wait for the store to confirm the release: CMD is gone, and our caller waits.
const PARTING: Duration = Duration::from_secs(3);

/// The cause that is told if CMD was ended before its lease was lost, by the guard or in danger.
const NOT_RENEWED: &str = "it was not renewed in time";

impl HoldOfCmd<'_> {
    /// CMD is gone.
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

    /// CMD has ended before `--min-hold`. A signal that would end us ends this, too, and so does a
    /// loss: CMD is not harmed by either.
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
            // A hold that ends as a loss was not released in time, whatever the store answers now.
            Ok(Ok(())) if self.loss_is_told => {}
            Ok(Ok(())) => self.events.emit(&RunEvent::Released { name }),
            Ok(Err(error)) => {
                // Whoever follows the events learns of the loss, though CMD has its own status.
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
