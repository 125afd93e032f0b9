//! The stage of a scenario: one store, a time, random numbers and names of jobs of its own.

use std::{
    cell::Cell,
    thread::{self, Scope},
    time::{Duration, Instant},
};

use seinpaal_draw::Draw;

use crate::{
    cmd::DONE,
    end::PossibleEnd,
    history::DayWhat,
    job::{DayJob, RunningJob},
    site::DaySite,
    world::DayWorld,
};

/// How long a job may take beyond all that it waits for. A longer one hangs.
const BOUND: Duration = Duration::from_secs(120);

/// One scenario on one store.
#[derive(Debug)]
pub struct ScenarioStage<'a> {
    /// The store.
    pub world: &'a DayWorld,
    /// The servers.
    pub site: &'a DaySite,
    /// The scenario's random numbers.
    pub draw: Draw,
    /// How long the scenario goes on starting jobs.
    pub time: Duration,
    began: Instant,
    title: String,
    jobs: Cell<u32>,
}

impl<'a> ScenarioStage<'a> {
    /// A stage for the scenario `title`.
    #[must_use]
    pub fn new(
        world: &'a DayWorld,
        site: &'a DaySite,
        title: &str,
        draw: Draw,
        time: Duration,
    ) -> Self {
        let (began, jobs) = (Instant::now(), Cell::new(0));
        Self { world, site, draw, time, began, title: title.to_owned(), jobs }
    }

    /// A name that belongs to this scenario alone.
    #[must_use]
    pub fn name(&self, what: &str) -> String {
        format!("{}-{what}", self.title)
    }

    /// The name of the next job.
    #[must_use]
    pub fn next(&self) -> String {
        self.jobs.set(self.jobs.get() + 1);
        self.world.who(&format!("{}.{}", self.title, self.jobs.get()))
    }

    /// The name of the job that was made last.
    #[must_use]
    pub fn last(&self) -> String {
        self.world.who(&format!("{}.{}", self.title, self.jobs.get()))
    }

    /// The time that is left, less `last`, which the last jobs take.
    #[must_use]
    pub fn left(&self, last: Duration) -> Duration {
        self.time.saturating_sub(last).saturating_sub(self.began.elapsed())
    }

    /// How long to wait for a job. A job that takes longer hangs.
    #[must_use]
    pub fn bound(&self) -> Duration {
        self.time + BOUND
    }

    /// `seinpaal ARGS…`, with spaces between words.
    #[must_use]
    pub fn call(&self, args: &str) -> DayJob {
        let argv = std::iter::once("seinpaal").chain(args.split_whitespace());
        DayJob::new(self.world, self.next(), argv.map(str::to_owned).collect())
    }

    /// `seinpaal run FLAGS… NAME -- CMD`, where CMD stays inside for `hold`.
    #[must_use]
    pub fn run(&self, flags: &str, name: &str, limit: u32, hold: Duration) -> DayJob {
        let priority = flags.split_once("--priority ").and_then(|(_, rest)| {
            rest.split_whitespace().next().and_then(|priority| priority.parse().ok())
        });
        self.call(&format!("run {flags} {name} -- day hold {}", hold.as_secs_f64()))
            .wants(name, limit, priority.unwrap_or(0))
            .may_end(PossibleEnd::own(0, DONE))
    }

    /// `sh -c SCRIPT`.
    #[must_use]
    pub fn script(&self, script: &str) -> DayJob {
        let argv = ["sh", "-c", script].map(str::to_owned);
        DayJob::new(self.world, self.next(), argv.to_vec())
    }

    /// Leaves a job that was started to a thread, which waits for its end.
    pub fn let_go<'scope>(&self, scope: &'scope Scope<'scope, '_>, job: RunningJob) {
        let bound = self.bound();
        scope.spawn(move || job.wait(bound));
    }

    /// Writes down a finding that must not be.
    pub fn wrong(&self, story: String) {
        self.world.note(&self.world.who(&self.title), DayWhat::Wrong { story });
    }
}

/// Sleeps for this long.
pub fn pass(time: Duration) {
    thread::sleep(time);
}

/// Milliseconds.
#[must_use]
pub const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
