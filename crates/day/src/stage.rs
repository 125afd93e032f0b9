//! Where a scenario plays: one store, for so long, with its own chance and its own names of jobs.

use std::{
    cell::Cell,
    thread::{self, Scope},
    time::{Duration, Instant},
};

use seinpaal_draw::Draw;

use crate::{
    cmd::DONE,
    end::End,
    history::What,
    job::{Job, Running},
    site::Site,
    world::World,
};

/// How long a job may take beyond all that it waits for before it is taken for hanging.
const BOUND: Duration = Duration::from_secs(120);

/// One scenario on one store.
#[derive(Debug)]
pub struct Stage<'a> {
    /// The store.
    pub world: &'a World,
    /// Its servers.
    pub site: &'a Site,
    /// Chance.
    pub draw: Draw,
    /// How long the scenario should go on starting jobs.
    pub time: Duration,
    began: Instant,
    title: String,
    jobs: Cell<u32>,
}

impl<'a> Stage<'a> {
    /// A stage for the scenario `title`.
    #[must_use]
    pub fn new(world: &'a World, site: &'a Site, title: &str, draw: Draw, time: Duration) -> Self {
        let (began, jobs) = (Instant::now(), Cell::new(0));
        Self { world, site, draw, time, began, title: title.to_owned(), jobs }
    }

    /// A name of this scenario's own.
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

    /// How much time is left, less `last`, which the last jobs take.
    #[must_use]
    pub fn left(&self, last: Duration) -> Duration {
        self.time.saturating_sub(last).saturating_sub(self.began.elapsed())
    }

    /// How long to wait for a job before it is taken for hanging.
    #[must_use]
    pub fn bound(&self) -> Duration {
        self.time + BOUND
    }

    /// `seinpaal ARGS…`, words between spaces.
    #[must_use]
    pub fn call(&self, args: &str) -> Job {
        let argv = std::iter::once("seinpaal").chain(args.split_whitespace());
        Job::new(self.world, self.next(), argv.map(str::to_owned).collect())
    }

    /// `seinpaal run FLAGS… NAME -- CMD`, where CMD holds for so long.
    #[must_use]
    pub fn run(&self, flags: &str, name: &str, limit: u32, hold: Duration) -> Job {
        let priority = flags.split_once("--priority ").and_then(|(_, rest)| {
            rest.split_whitespace().next().and_then(|priority| priority.parse().ok())
        });
        self.call(&format!("run {flags} {name} -- day hold {}", hold.as_secs_f64()))
            .asks(name, limit, priority.unwrap_or(0))
            .may_end(End::own(0, DONE))
    }

    /// `sh -c SCRIPT`.
    #[must_use]
    pub fn script(&self, script: &str) -> Job {
        let argv = ["sh", "-c", script].map(str::to_owned);
        Job::new(self.world, self.next(), argv.to_vec())
    }

    /// Starts a job, waits until it stands in line or is inside, and leaves the rest to a thread.
    pub fn let_go<'scope>(&self, scope: &'scope Scope<'scope, '_>, job: Running) {
        let bound = self.bound();
        scope.spawn(move || job.wait(bound));
    }

    /// Writes down what must not be.
    pub fn wrong(&self, story: String) {
        self.world.note(&self.world.who(&self.title), What::Wrong { story });
    }
}

/// Sleeps.
pub fn pass(time: Duration) {
    thread::sleep(time);
}

/// Milliseconds.
#[must_use]
pub const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
