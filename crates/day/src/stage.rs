//! The stage of a scenario: one store, a time, and the scenario's own random numbers and job names.

use std::{
    cell::Cell,
    thread::{self, Scope},
    time::{Duration, Instant},
};

use fastrand::Rng;

use crate::{
    cmd::DONE,
    end::PossibleEnd,
    history::DayWhat,
    job::{DayJob, RunningJob},
    site::DaySite,
    world::DayWorld,
};

/// How long a job may take beyond the time of its scenario. A job that takes longer hangs.
const BOUND: Duration = Duration::from_secs(120);

/// The stage of one scenario on one store.
#[derive(Debug)]
pub struct ScenarioStage<'a> {
    /// The store.
    pub world: &'a DayWorld,
    /// The servers.
    pub site: &'a DaySite,
    /// The scenario's random numbers.
    pub rng: Rng,
    /// How long the scenario goes on starting jobs.
    pub time: Duration,
    began: Instant,
    title: String,
    jobs: Cell<u32>,
}

impl<'a> ScenarioStage<'a> {
    /// Makes a stage for the scenario `title`.
    #[must_use]
    pub fn new(
        world: &'a DayWorld,
        site: &'a DaySite,
        title: &str,
        rng: Rng,
        time: Duration,
    ) -> Self {
        let (began, jobs) = (Instant::now(), Cell::new(0));
        Self { world, site, rng, time, began, title: title.to_owned(), jobs }
    }

    /// Returns a name that belongs to this scenario alone.
    #[must_use]
    pub fn name(&self, what: &str) -> String {
        format!("{}-{what}", self.title)
    }

    /// Returns the name of the next job.
    #[must_use]
    pub fn next(&self) -> String {
        self.jobs.set(self.jobs.get() + 1);
        self.world.who(&format!("{}.{}", self.title, self.jobs.get()))
    }

    /// Returns the name of the job that was made last.
    #[must_use]
    pub fn last(&self) -> String {
        self.world.who(&format!("{}.{}", self.title, self.jobs.get()))
    }

    /// Returns the time that is left, less the time `last` that the last jobs take.
    #[must_use]
    pub fn left(&self, last: Duration) -> Duration {
        self.time.saturating_sub(last).saturating_sub(self.began.elapsed())
    }

    /// Returns how long to wait for a job. A job that takes longer hangs.
    #[must_use]
    pub fn bound(&self) -> Duration {
        self.time + BOUND
    }

    /// Makes the job `seinpaal ARGS…`. Spaces separate the arguments.
    #[must_use]
    pub fn call(&self, args: &str) -> DayJob {
        let argv = std::iter::once("seinpaal").chain(args.split_whitespace());
        DayJob::new(self.world, self.next(), argv.map(str::to_owned).collect())
    }

    /// Makes the job `seinpaal run FLAGS… NAME -- CMD`, whose CMD stays inside for `hold`.
    #[must_use]
    pub fn run(&self, flags: &str, name: &str, limit: u32, hold: Duration) -> DayJob {
        let priority = flags.split_once("--priority ").and_then(|(_, rest)| {
            rest.split_whitespace().next().and_then(|priority| priority.parse().ok())
        });
        self.call(&format!("run {flags} {name} -- day hold {}", hold.as_secs_f64()))
            .wants(name, limit, priority.unwrap_or(0))
            .may_end(PossibleEnd::own(0, DONE))
    }

    /// Makes the job `sh -c SCRIPT`.
    #[must_use]
    pub fn script(&self, script: &str) -> DayJob {
        let argv = ["sh", "-c", script].map(str::to_owned);
        DayJob::new(self.world, self.next(), argv.to_vec())
    }

    /// Leaves a started job to a thread, which waits for its end.
    pub fn let_go<'scope>(&self, scope: &'scope Scope<'scope, '_>, job: RunningJob) {
        let bound = self.bound();
        scope.spawn(move || job.wait(bound));
    }

    /// Writes down something that must not happen.
    pub fn wrong(&self, story: String) {
        self.world.note(&self.world.who(&self.title), DayWhat::Wrong { story });
    }
}

/// Sleeps for this long.
pub fn pass(time: Duration) {
    thread::sleep(time);
}

/// Makes a duration of so many milliseconds.
#[must_use]
pub const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
