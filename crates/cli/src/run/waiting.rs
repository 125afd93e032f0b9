//! Getting in: asking, waiting, and saying so.

mod line;
mod lookout;

use std::time::{Duration, Instant};

use rustix::process::Signal;
use seinpaal::{Acquire, AcquireError, OnMismatch, Permit, Seinpaal, Semaphore, Snapshot};
use tokio::{sync::oneshot, time::timeout};

use super::{Event, Events, Signals, ends_waiting};
use crate::{
    args::Entry,
    exit::{Exit, Failure},
    output::{Voice, text::age},
};
use line::Line;
use lookout::Lookout;

/// How long to look who was in the way.
const GLANCE: Duration = Duration::from_secs(1);

/// Somebody who wants permits.
#[derive(Clone, Copy)]
pub(crate) struct Entrance<'a> {
    pub(crate) seinpaal: &'a Seinpaal,
    pub(crate) entry: &'a Entry,
    pub(crate) voice: Voice,
}

impl Entrance<'_> {
    /// Takes the permits, or says why not. A signal that ends the waiting leaves the queue at once.
    pub(crate) async fn enter(
        self,
        events: &mut Events,
        signals: &mut Signals,
    ) -> Result<Permit, Failure> {
        let semaphore = self.semaphore();
        let began = Instant::now();
        let result = if self.is_in_a_hurry() {
            self.try_once(&semaphore, signals).await?
        } else {
            self.wait(&semaphore, events, signals).await?
        };
        match result {
            Ok(permit) => {
                self.greet(&permit, began);
                Ok(permit)
            }
            Err(error) => Err(self.refusal(&semaphore, error).await),
        }
    }

    fn semaphore(self) -> Semaphore {
        let semaphore = self.seinpaal.semaphore(&self.entry.name);
        let Some(limit) = self.entry.limit else { return semaphore };
        let on_mismatch = match (self.entry.adopt_limit, self.entry.set_limit) {
            (true, _) => OnMismatch::Adopt,
            (_, true) => OnMismatch::Set,
            _ => OnMismatch::Refuse,
        };
        semaphore.limit(limit).on_mismatch(on_mismatch)
    }

    fn is_in_a_hurry(self) -> bool {
        self.entry.nonblock || self.entry.wait.is_some_and(|wait| wait.is_zero())
    }

    async fn try_once(
        self,
        semaphore: &Semaphore,
        signals: &mut Signals,
    ) -> Result<Result<Permit, AcquireError>, Failure> {
        let mut request =
            semaphore.try_acquire().permits(self.entry.permits).priority(self.entry.priority);
        for (key, value) in &self.entry.labels {
            request = request.label(key, value);
        }
        let answer = unless_ended(signals, request.into_future()).await?;
        Ok(answer.and_then(|permit| permit.ok_or(AcquireError::Busy)))
    }

    fn request(self, semaphore: &Semaphore) -> Acquire {
        let entry = self.entry;
        let mut request = semaphore.acquire().permits(entry.permits).priority(entry.priority);
        if let Some(wait) = entry.wait {
            request = request.timeout(wait);
        }
        if let Some(most) = entry.max_waiting {
            request = request.max_waiting(most);
        }
        for (key, value) in &entry.labels {
            request = request.label(key, value);
        }
        request
    }

    async fn wait(
        self,
        semaphore: &Semaphore,
        events: &mut Events,
        signals: &mut Signals,
    ) -> Result<Result<Permit, AcquireError>, Failure> {
        let (tell, mut queued) = oneshot::channel();
        let request = self.request(semaphore).on_queued(move |waiting| {
            let _ = tell.send(waiting);
        });
        let mut request = request.into_future();
        let mut line = Line::new(self.voice);
        let mut lookout = Lookout::default();
        loop {
            tokio::select! {
                biased;
                signal = signals.next() => heed(signals, signal)?,
                waiting = &mut queued, if !lookout.is_posted() => {
                    self.tell_queued(waiting.unwrap_or(0), events);
                    lookout.post(semaphore, line.is_wanted() || events.are_wanted());
                }
                result = &mut request => return Ok(result),
                (snapshot, position) = lookout.next() => {
                    self.show(&snapshot, position, events, &mut line);
                }
            }
        }
    }

    fn tell_queued(self, waiting: u32, events: &mut Events) {
        if waiting > 0 {
            events.emit(&Event::Queued { name: &self.entry.name, waiting });
            self.voice.explain(format!("{}: waiting, {waiting} in line", self.entry.name));
        }
    }

    fn show(self, snapshot: &Snapshot, position: u32, events: &mut Events, line: &mut Line) {
        let waiting = snapshot.waiting_total;
        if line.place != position {
            events.emit(&Event::Position { name: &self.entry.name, position, waiting });
        }
        line.draw(snapshot, position);
    }

    fn greet(self, permit: &Permit, began: Instant) {
        self.voice.explain(format!(
            "{}: acquired {} of {} after {}: slots {}, fence {}, ticket {}",
            permit.name(),
            permit.permits(),
            permit.limit(),
            age(began.elapsed()),
            permit.slots(),
            permit.fence(),
            permit.ticket(),
        ));
    }

    /// Why not, in a line with numbers.
    async fn refusal(self, semaphore: &Semaphore, error: AcquireError) -> Failure {
        let name = &self.entry.name;
        let conflict = |words| Failure::new(Exit::Conflict, format!("{name}: {words}"));
        match error {
            AcquireError::Store(error) => error.into(),
            AcquireError::OtherKind { .. } => conflict(error.to_string()),
            AcquireError::OtherLimit { stored, stated } => conflict(format!(
                "the stored limit is {stored}, not {stated} (--adopt-limit uses {stored}, \
                 --set-limit stores {stated})"
            )),
            AcquireError::TooMany { permits, limit } => {
                conflict(format!("{permits} permits can never be had: the limit is {limit}"))
            }
            AcquireError::Name(_) | AcquireError::Count(_) | AcquireError::Setting(_) => {
                Failure::usage(error)
            }
            error => self.not_acquired(semaphore, &error).await,
        }
    }

    async fn not_acquired(self, semaphore: &Semaphore, error: &AcquireError) -> Failure {
        // A store that has fallen silent is not worth another wait.
        let look = timeout(GLANCE, semaphore.snapshot()).await;
        let state = look.ok().and_then(Result::ok).map(|snapshot| state(&snapshot));
        let state = state.unwrap_or_default();
        Failure::new(
            Exit::NotAcquired(self.entry.conflict_exit_code),
            format!("{}: not acquired, {error}{state}", self.entry.name),
        )
    }
}

/// Awaits an answer, unless a signal that ends the waiting comes first. The request is dropped then,
/// which leaves the queue.
pub(crate) async fn unless_ended<T>(
    signals: &mut Signals,
    mut answer: impl Future<Output = T> + Unpin,
) -> Result<T, Failure> {
    loop {
        tokio::select! {
            biased;
            signal = signals.next() => heed(signals, signal)?,
            answer = &mut answer => return Ok(answer),
        }
    }
}

fn heed(signals: &Signals, signal: Signal) -> Result<(), Failure> {
    if ends_waiting(signal) {
        return Err(Failure::silent(Exit::signal(signal.as_raw())));
    }
    if signal == Signal::TSTP {
        signals.stop(signal.as_raw());
    }
    Ok(())
}

fn state(snapshot: &Snapshot) -> String {
    let (held, limit) = (snapshot.permits_held, snapshot.limit);
    let paused = if snapshot.paused.is_some() { ", paused" } else { "" };
    format!(": {held} of {limit} held, {} waiting{paused}", snapshot.waiting_total)
}
