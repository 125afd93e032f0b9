//! The reports about a waiting request: on a line, with `-v`, and as events.

use seinpaal::{
    Snapshot,
    why::{Estimate, Waits, Why},
};
use tokio::time::Instant;

use super::{
    Entrance, NamePart, StoreNews, WORTH_A_LINE,
    line::{self, WaitingLine, barrier},
    lookout::{Pace, StoreLookout},
    silence,
};
use crate::{
    exit::Failure,
    output::{
        json::{EstimateJson, ReasonJson},
        why::figure,
    },
    run::{Events, RunEvent},
};

/// A waiter, and the last reports about it.
pub(super) struct ToldWaiter<'a> {
    entrance: Entrance<'a>,
    events: &'a Events,
    line: WaitingLine,
    pub(super) lookout: StoreLookout,
    /// The last report with `-v`: our place, whether there was a barrier, and whether there was an
    /// estimate.
    explained: (u32, bool, bool),
    /// The last event: our place, whether there is an estimate that is based on holds, and the
    /// kinds of the reasons.
    emitted: (u32, bool, Vec<&'static str>),
    silence_is_told: bool,
    /// Our position, and how many wait, as last heard.
    position: u32,
    waiting: u32,
    /// When to print the next line, if lines are not drawn.
    next_line: Option<Instant>,
    /// The last line that was printed.
    printed: Option<String>,
}

impl<'a> ToldWaiter<'a> {
    pub(super) fn new(entrance: Entrance<'a>, events: &'a Events) -> Self {
        Self {
            entrance,
            events,
            line: WaitingLine::new(entrance.voice),
            lookout: StoreLookout::default(),
            explained: (0, false, false),
            emitted: (0, false, Vec::new()),
            silence_is_told: false,
            position: 0,
            waiting: 0,
            next_line: None,
            printed: None,
        }
    }

    /// Reports that this request now stands in the line of this name, with `waiting` waiters in
    /// all.
    pub(super) fn begin(&mut self, part: &NamePart, waiting: u32) {
        self.events.emit(&RunEvent::Queued { name: &part.name, waiting });
        // The old reports are forgotten, because the same place in the line of another name is
        // news.
        self.explained = (0, false, false);
        self.emitted = (0, false, Vec::new());
        (self.position, self.waiting) = (waiting, waiting);
        self.explain(&part.name, waiting, None, None);
        let voice = self.entrance.voice;
        let is_live = self.line.is_wanted() || voice.is_explaining() || self.events.are_wanted();
        let prints = !voice.is_quiet() && !self.line.is_wanted();
        self.next_line = prints.then(|| Instant::now() + Pace::RARE.first);
        let rare = prints.then_some(Pace::RARE);
        self.lookout.post(&part.semaphore, if is_live { Some(Pace::LIVE) } else { rare });
    }

    pub(super) fn show(&mut self, snapshot: &Snapshot, place: u32) {
        if place == 0 {
            self.waiting = snapshot.waiting_total;
            let words = line::words_of_crowd(snapshot, self.position);
            if self.line.is_wanted() && !self.silence_is_told {
                self.line.draw(&words);
            }
            return self.print(|| words);
        }
        let Some(waits) = waits(snapshot, place) else { return };
        (self.position, self.waiting) = (place, snapshot.waiting_total);
        // Reasons describe each holder and waiter, so each report is made only if it is wanted.
        if self.events.are_wanted() {
            self.emit(snapshot, place, &waits);
        }
        if self.entrance.voice.is_explaining() {
            let bars = barrier(snapshot, &waits);
            self.explain(&snapshot.name, place, bars, figure(&waits.estimate));
        }
        if self.line.is_wanted() && !self.silence_is_told {
            self.line.draw(&line::words(snapshot, place, &waits));
        }
        self.print(|| line::words(snapshot, place, &waits));
    }

    /// Reports the position that came with a renewal. In a crowd nothing else tells it.
    pub(super) fn moved(&mut self, part: &NamePart, position: u32) {
        if std::mem::replace(&mut self.position, position) == position {
            return;
        }
        self.explain(&part.name, position, None, None);
        if self.events.are_wanted() {
            let (name, waiting) = (&part.name, self.waiting.max(position));
            let (reasons, estimate) = (Vec::new(), None);
            self.events.emit(&RunEvent::Position { name, position, waiting, reasons, estimate });
        }
    }

    /// Prints a line that stays, if one is due.
    fn print(&mut self, words: impl FnOnce() -> String) {
        if self.next_line.is_some_and(|at| Instant::now() >= at) {
            self.next_line = Some(Instant::now() + Pace::RARE.period);
            let words = words();
            self.entrance.voice.say(&words);
            self.printed = Some(words);
        }
    }

    /// Adds to the end of the wait what was last seen of the line.
    pub(super) fn ended(&self, failure: Failure) -> Failure {
        let Some(printed) = &self.printed else { return failure };
        Failure { message: failure.message.map(|words| format!("{words} ({printed})")), ..failure }
    }

    /// Emits an event if anything but a figure has changed.
    fn emit(&mut self, snapshot: &Snapshot, position: u32, waits: &Waits) {
        let reasons = ReasonJson::all(snapshot, waits);
        let kinds = reasons.iter().map(|told| told.reason).collect();
        let told = (position, matches!(waits.estimate, Estimate::ByHolds { .. }), kinds);
        if self.emitted == told {
            return;
        }
        self.emitted = told;
        let (name, waiting) = (&snapshot.name, snapshot.waiting_total);
        let estimate = Some(EstimateJson::new(&waits.estimate));
        self.events.emit(&RunEvent::Position { name, position, waiting, reasons, estimate });
    }

    fn explain(&mut self, name: &str, place: u32, why: Option<String>, wait: Option<String>) {
        let told = (place, why.is_some(), wait.is_some());
        if std::mem::replace(&mut self.explained, told) != told {
            let why = why.or(wait).map(|why| format!(", {why}")).unwrap_or_default();
            let ahead = place.saturating_sub(1);
            self.entrance.voice.explain(format!("{name}: waiting, {ahead} ahead{why}"));
        }
    }

    /// Reports news about the store. A silence is shown on the line, or else printed once for each
    /// outage.
    pub(super) fn hear(&mut self, news: StoreNews) -> Result<(), Failure> {
        let subject = self.entrance.subject;
        match news {
            StoreNews::Full(error) => return Err(error.into()),
            StoreNews::Silent(outage) => {
                let is_told = outage.lasted >= WORTH_A_LINE || self.line.is_wanted();
                let is_news = is_told && !std::mem::replace(&mut self.silence_is_told, true);
                if self.line.is_wanted() {
                    self.line.draw(&format!(
                        "still waiting for {}: {}",
                        subject.name,
                        silence(&outage)
                    ));
                } else if is_news {
                    let words = format!("{}; still waiting", silence(&outage));
                    self.entrance.voice.say(subject.line(&words));
                }
            }
            StoreNews::Back => {
                if std::mem::take(&mut self.silence_is_told) {
                    let words = subject.line("the store answers again; still waiting");
                    self.entrance.voice.explain(words);
                }
            }
        }
        Ok(())
    }
}

/// Returns the reasons why the waiter at this place waits.
fn waits(snapshot: &Snapshot, place: u32) -> Option<Waits> {
    let waiter = snapshot.waiters.get(place.saturating_sub(1) as usize)?;
    match snapshot.why(&waiter.ticket)? {
        Why::Waits(waits) => Some(waits),
        _ => None,
    }
}
