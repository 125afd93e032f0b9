//! Acquires the permits: asks for them, waits in line, and reports the wait.

mod line;
mod lookout;
mod refusal;
mod under;
mod vigil;
mod waiter;

use std::time::{Duration, Instant};

use rustix::process::Signal;
use seinpaal::{
    Acquire, AcquireAllError, MOST_READERS, Name, OnMismatch, Outage, Permit, PermitSet, Seinpaal,
    Semaphore, TryAcquire,
};
use tokio::sync::mpsc;

use super::{Events, Signals, ending::silence, ends_waiting, signals};
use crate::{
    args::EntryArgs,
    exit::{Exit, Failure},
    output::{NamedStore, Voice, text::age},
};
use refusal::unreachable;
pub(crate) use vigil::full;
pub(super) use vigil::{StoreNews, StoreVigil, WORTH_A_LINE};
use waiter::ToldWaiter;

/// How long a request that does not wait (`-n`) waits for a silent store.
const HURRY: Duration = Duration::from_secs(3);

/// A request for permits, with its options.
#[derive(Clone, Copy)]
pub(crate) struct Entrance<'a> {
    pub(crate) seinpaal: &'a Seinpaal,
    pub(crate) entry: &'a EntryArgs,
    /// Further names. The request gets the permits of all names or of none.
    pub(crate) also: &'a [(Name, u32)],
    /// Wider names, whose permits are taken after those, from narrow to wide.
    pub(crate) within: &'a [(Name, u32)],
    /// Names that the request leaves out, because a run around us holds them.
    pub(crate) held: &'a [Name],
    /// Whether the permits will be detached, and are not renewed on a schedule.
    pub(crate) to_detach: bool,
    pub(crate) subject: NamedStore<'a>,
    pub(crate) voice: Voice,
}

/// The request for one name.
struct NamePart {
    semaphore: Semaphore,
    name: Name,
    permits: u32,
}

type EnterResult = Result<Option<PermitSet>, AcquireAllError>;

impl Entrance<'_> {
    /// Takes the permits, or fails with the reason. On a signal that ends the wait, the request
    /// leaves the line at once.
    pub(crate) async fn enter(
        self,
        events: &Events,
        signals: &mut Signals,
    ) -> Result<PermitSet, Failure> {
        let parts = self.parts();
        let began = Instant::now();
        let answer = if self.is_in_a_hurry() {
            self.try_once(&parts, signals).await
        } else {
            self.wait(&parts, events, signals).await
        };
        match answer.map_err(|failure| failure.about(self.subject))? {
            Ok(Some(permits)) => {
                permits.permits().iter().for_each(|permit| self.greet(permit, began));
                Ok(permits)
            }
            Ok(None) => Err(self.busy(&parts).await),
            Err(failed) => Err(self.refusal(&parts, &failed.name, failed.error).await),
        }
    }

    fn parts(self) -> Vec<NamePart> {
        let part = |(name, permits): &(Name, u32)| NamePart {
            semaphore: self.seinpaal.semaphore(name),
            name: name.clone(),
            permits: *permits,
        };
        let mut parts = vec![self.first_part()];
        parts.extend(self.also.iter().map(part));
        if !self.within.is_empty() {
            // Names of one width are sorted by their bytes, as they are without `--within`, so that
            // no two runs wait for each other.
            parts.sort_by(|one, other| one.name.as_str().cmp(other.name.as_str()));
            parts.extend(self.within.iter().map(part));
        }
        parts.retain(|part| !self.held.contains(&part.name));
        parts
    }

    fn first_part(self) -> NamePart {
        let EntryArgs { name, shared, exclusive, .. } = self.entry;
        let (semaphore, permits) = if *shared || *exclusive {
            let semaphore = self.seinpaal.rwlock(name).as_semaphore().clone();
            (semaphore, if *exclusive { MOST_READERS } else { 1 })
        } else {
            (self.semaphore(), self.entry.permits)
        };
        NamePart { semaphore, name: name.clone(), permits }
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
        parts: &[NamePart],
        signals: &mut Signals,
    ) -> Result<EnterResult, Failure> {
        let requests = parts.iter().map(|part| self.try_request(part));
        let mut answer = self.seinpaal.try_acquire_all(requests).into_future();
        let mut vigil = StoreVigil::keep(self.seinpaal);
        loop {
            tokio::select! {
                biased;
                signal = signals.next() => heed(signals, signal)?,
                answer = &mut answer => return Ok(answer),
                news = vigil.next() => match news {
                    StoreNews::Full(error) => return Err(error.into()),
                    StoreNews::Silent(outage) if outage.lasted >= HURRY => return Err(unreachable(&outage)),
                    StoreNews::Silent(_) | StoreNews::Back => {}
                },
            }
        }
    }

    fn try_request(self, part: &NamePart) -> TryAcquire {
        let mut request = part.semaphore.try_acquire().permits(part.permits);
        request = request.priority(self.entry.priority);
        for slot in self.slots_of(part) {
            request = request.slot(&slot);
        }
        if self.to_detach {
            request = request.to_detach();
        }
        self.entry.labels.iter().fold(request, |request, (key, value)| request.label(key, value))
    }

    /// Returns the wished slots of a name. They belong to NAME alone, and not to other names.
    fn slots_of(self, part: &NamePart) -> Vec<String> {
        if part.name == self.entry.name { self.entry.slots.clone() } else { Vec::new() }
    }

    fn request(self, part: &NamePart) -> Acquire {
        let mut request = part.semaphore.acquire().permits(part.permits);
        request = request.priority(self.entry.priority);
        for slot in self.slots_of(part) {
            request = request.slot(&slot);
        }
        if let Some(most) = self.entry.max_waiting {
            request = request.max_waiting(most);
        }
        if self.to_detach {
            request = request.to_detach();
        }
        self.entry.labels.iter().fold(request, |request, (key, value)| request.label(key, value))
    }

    async fn wait(
        self,
        parts: &[NamePart],
        events: &Events,
        signals: &mut Signals,
    ) -> Result<EnterResult, Failure> {
        let (tell, mut queued) = mpsc::unbounded_channel();
        let (moves, mut moved) = mpsc::unbounded_channel();
        let requests = parts.iter().enumerate().map(|(at, part)| {
            let tell = tell.clone();
            let told = moves.clone();
            let request = self.request(part).on_queued(move |waiting| {
                let _ = tell.send((at, waiting));
            });
            request.on_position(move |position| {
                let _ = told.send((at, position));
            })
        });
        let mut request = self.seinpaal.acquire_all(requests);
        if let Some(wait) = self.entry.wait {
            request = request.timeout(wait);
        }
        if !self.within.is_empty() {
            // Narrow names come first, so no run holds a wide name while it waits for a narrow one.
            request = request.in_given_order();
        }
        let mut request = request.into_future();
        let mut waiting = ToldWaiter::new(self, events);
        let mut vigil = StoreVigil::keep(self.seinpaal);
        loop {
            tokio::select! {
                biased;
                signal = signals.next() => {
                    heed(signals, signal).map_err(|failure| waiting.ended(failure))?;
                }
                // This branch comes before the result, so that `queued` is reported before
                // `acquired`.
                Some((at, others)) = queued.recv() => waiting.begin(&parts[at], others),
                Some((at, position)) = moved.recv() => waiting.moved(&parts[at], position),
                result = &mut request => return Ok(result.map(Some)),
                news = vigil.next() => waiting.hear(news)?,
                (snapshot, place) = waiting.lookout.next() => waiting.show(&snapshot, place),
            }
        }
    }

    fn tell_silence(self, outage: &Outage, is_told: &mut bool) {
        if outage.lasted >= WORTH_A_LINE && !std::mem::replace(is_told, true) {
            let words = format!("{}; still waiting", silence(outage));
            self.voice.say(self.subject.line(&words));
        }
    }

    fn greet(self, permit: &Permit, began: Instant) {
        let (slots, limit) = (permit.slots(), permit.limit());
        let slots =
            if slots.count() == 1 { format!("slot {slots}") } else { format!("slots {slots}") };
        let after = age(began.elapsed());
        self.voice.explain(format!("{}: got {slots} of {limit} after {after}", permit.name()));
        let (fence, ticket) = (permit.fence(), permit.ticket());
        self.voice.explain_more(format!("{}: fence {fence}, ticket {ticket}", permit.name()));
    }
}

/// Awaits an answer, unless a signal that ends the wait comes first. Then the request is dropped,
/// and so leaves the line.
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
        let words = format!("stopped by {} while it waited", signals::name(signal));
        return Err(Failure::new(Exit::signal(signal.as_raw()), words));
    }
    if signal == Signal::TSTP {
        signals.stop(signal.as_raw());
    }
    Ok(())
}
