//! Getting in: asking, waiting, and saying so.

mod line;
mod lookout;

use std::time::{Duration, Instant};

use rustix::process::Signal;
use seinpaal::{
    Acquire, AcquireAllError, AcquireError, OnMismatch, Permit, PermitSet, Seinpaal, Semaphore,
    Snapshot,
    proto::{MOST_READERS, Name},
};
use tokio::{sync::mpsc, time::timeout};

use super::{Event, Events, Signals, ends_waiting};
use crate::{
    args::Entry,
    exit::{Exit, Failure},
    output::{
        Voice,
        text::{age, held},
    },
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
    /// Of these names, too, or none at all.
    pub(crate) also: &'a [(Name, u32)],
    pub(crate) voice: Voice,
}

/// What is asked for of one name.
struct Part {
    semaphore: Semaphore,
    name: Name,
    permits: u32,
}

type Answer = Result<Option<PermitSet>, AcquireAllError>;

impl Entrance<'_> {
    /// Takes the permits, or says why not. A signal that ends the waiting leaves the queue at once.
    pub(crate) async fn enter(
        self,
        events: &mut Events,
        signals: &mut Signals,
    ) -> Result<PermitSet, Failure> {
        let parts = self.parts();
        let began = Instant::now();
        let answer = if self.is_in_a_hurry() {
            self.try_once(&parts, signals).await?
        } else {
            self.wait(&parts, events, signals).await?
        };
        match answer {
            Ok(Some(permits)) => {
                permits.permits().iter().for_each(|permit| self.greet(permit, began));
                Ok(permits)
            }
            Ok(None) => Err(self.not_acquired(&parts, &AcquireError::Busy).await),
            Err(AcquireAllError { name, error }) => Err(self.refusal(&parts, &name, error).await),
        }
    }

    fn parts(self) -> Vec<Part> {
        let mut parts = vec![self.first_part()];
        parts.extend(self.also.iter().map(|(name, permits)| Part {
            semaphore: self.seinpaal.semaphore(name),
            name: name.clone(),
            permits: *permits,
        }));
        parts
    }

    fn first_part(self) -> Part {
        let Entry { name, shared, exclusive, .. } = self.entry;
        let (semaphore, permits) = if *shared || *exclusive {
            let semaphore = self.seinpaal.rwlock(name).as_semaphore().clone();
            (semaphore, if *exclusive { MOST_READERS } else { 1 })
        } else {
            (self.semaphore(), self.entry.permits)
        };
        Part { semaphore, name: name.clone(), permits }
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

    async fn try_once(self, parts: &[Part], signals: &mut Signals) -> Result<Answer, Failure> {
        let requests = parts.iter().map(|part| {
            let request = part.semaphore.try_acquire().permits(part.permits);
            let request = request.priority(self.entry.priority);
            self.entry
                .labels
                .iter()
                .fold(request, |request, (key, value)| request.label(key, value))
        });
        unless_ended(signals, self.seinpaal.try_acquire_all(requests).into_future()).await
    }

    fn request(self, part: &Part) -> Acquire {
        let mut request = part.semaphore.acquire().permits(part.permits);
        request = request.priority(self.entry.priority);
        if let Some(most) = self.entry.max_waiting {
            request = request.max_waiting(most);
        }
        self.entry.labels.iter().fold(request, |request, (key, value)| request.label(key, value))
    }

    async fn wait(
        self,
        parts: &[Part],
        events: &mut Events,
        signals: &mut Signals,
    ) -> Result<Answer, Failure> {
        let (tell, mut queued) = mpsc::unbounded_channel();
        let requests = parts.iter().enumerate().map(|(at, part)| {
            let tell = tell.clone();
            self.request(part).on_queued(move |waiting| {
                let _ = tell.send((at, waiting));
            })
        });
        let mut request = self.seinpaal.acquire_all(requests);
        if let Some(wait) = self.entry.wait {
            request = request.timeout(wait);
        }
        let mut request = request.into_future();
        let mut line = Line::new(self.voice);
        let mut lookout = Lookout::default();
        loop {
            tokio::select! {
                biased;
                signal = signals.next() => heed(signals, signal)?,
                Some((at, waiting)) = queued.recv() => {
                    self.tell_queued(&parts[at].name, waiting, events);
                    line.place = 0;
                    lookout.post(&parts[at].semaphore, line.is_wanted() || events.are_wanted());
                }
                result = &mut request => return Ok(result.map(Some)),
                (snapshot, position) = lookout.next() => {
                    self.show(&snapshot, position, events, &mut line);
                }
            }
        }
    }

    fn tell_queued(self, name: &str, waiting: u32, events: &mut Events) {
        events.emit(&Event::Queued { name, waiting });
        self.voice.explain(format!("{name}: waiting, {waiting} in line"));
    }

    fn show(self, snapshot: &Snapshot, position: u32, events: &mut Events, line: &mut Line) {
        let waiting = snapshot.waiting_total;
        if line.place != position {
            events.emit(&Event::Position { name: &snapshot.name, position, waiting });
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
    async fn refusal(self, parts: &[Part], name: &str, error: AcquireError) -> Failure {
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
            AcquireError::NamedTwice => Failure::usage(format!("{name}: {error}")),
            error => {
                let part = parts.iter().filter(|part| part.name.as_str() == name);
                self.not_acquired(part, &error).await
            }
        }
    }

    async fn not_acquired(
        self,
        parts: impl IntoIterator<Item = &Part>,
        error: &AcquireError,
    ) -> Failure {
        let mut seen = Vec::new();
        for Part { semaphore, name, .. } in parts {
            // A store that has fallen silent is not worth another wait.
            let look = timeout(GLANCE, semaphore.snapshot()).await;
            let state = look.ok().and_then(Result::ok).map(|snapshot| state(&snapshot));
            seen.push(format!("{name}: not acquired, {error}{}", state.unwrap_or_default()));
        }
        Failure::new(Exit::NotAcquired(self.entry.conflict_exit_code), seen.join("; "))
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
    let paused = if snapshot.paused.is_some() { ", paused" } else { "" };
    format!(": {}, {} waiting{paused}", held(snapshot), snapshot.waiting_total)
}
