//! Programs with two connections each, other openers of the database beside them, and a killer.

use std::{
    collections::BTreeSet,
    fmt, fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use tempfile::TempDir;

use super::processes::{self, Client};

pub(super) const ROLE: &str = "SEINPAAL_TEST_ROLE";
pub(super) const SEED: &str = "SEINPAAL_TEST_SEED";
pub(super) const LIMIT: u32 = 2;
const PAIRS: usize = 3;
const OPENERS: u64 = 2;

/// The command that runs this test binary in a role.
pub(super) fn command(dir: &Path, role: &str) -> Command {
    let mut command = processes::command(dir, &[]);
    command.env(ROLE, role);
    command
}

pub(super) struct Siege {
    place: TempDir,
    rng: Rng,
    pairs: Vec<Client>,
    openers: Vec<Client>,
    report: Report,
}

/// The result of a siege.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) violations: Vec<String>,
    pub(super) grants: usize,
    pub(super) looks: u64,
    pub(super) done: usize,
    /// Calls that the store answered too late, because of the disk.
    late: usize,
    pushed: usize,
    kills: u64,
}

impl Siege {
    pub(super) fn begin(seed: u64) -> Self {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("store")).unwrap();
        let (pairs, openers, report) = (Vec::new(), Vec::new(), Report::default());
        let mut siege = Self { place, rng: Rng::with_seed(seed), pairs, openers, report };
        Client::start(&siege.dir()).end(); // the store was used before
        siege.pairs = (0..PAIRS).map(|_| siege.pair()).collect();
        siege.openers = (0..OPENERS).map(|_| siege.opener()).collect();
        siege
    }

    fn dir(&self) -> PathBuf {
        self.place.path().join("store")
    }

    fn pair(&mut self) -> Client {
        let mut command = command(&self.dir(), "pair");
        command.env(SEED, self.rng.u64(..).to_string());
        Client::spawn(command)
    }

    fn opener(&mut self) -> Client {
        let seed = self.rng.u64(..);
        let mut opener = Client::spawn(command(&self.dir(), "opener"));
        assert_eq!(opener.line(), "open");
        opener.give(&format!("loop {seed}"));
        opener
    }

    /// Kills one program after the other, at any moment of its life, and starts another in its
    /// place.
    pub(super) fn last(mut self, seconds: u64) -> Self {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(seconds) {
            thread::sleep(Duration::from_millis(self.rng.u64(100..800)));
            let victim = self.rng.usize(..PAIRS);
            let replacement = self.pair();
            let killed = std::mem::replace(&mut self.pairs[victim], replacement);
            let said = killed.kill_and_hear();
            self.report.hear(&said);
            self.report.kills += 1;
        }
        self
    }

    pub(super) fn end(mut self) -> Report {
        for client in self.pairs.drain(..).chain(self.openers.drain(..)) {
            self.report.hear(&client.end_and_hear());
        }
        self.check_items();
        self.check_database();
        self.report
    }

    /// Checks that every item whose push was answered was worked on, or is still there.
    fn check_items(&mut self) {
        let pushed = lines(&self.place.path().join("pushed"));
        let mut there = lines(&self.place.path().join("done"));
        self.report.done = there.len();
        self.report.pushed = pushed.len();
        self.report.grants = lines(&self.place.path().join("grants")).len();
        let mut heir = Client::start(&self.dir());
        loop {
            let said = heir.order("work q 64");
            let Some(items) = said.strip_prefix("works on ") else { break };
            there.extend(items.split(' ').step_by(2).map(str::to_owned));
        }
        let lost = pushed.difference(&there).map(|item| format!("item {item} is lost"));
        self.report.violations.extend(lost);
    }

    fn check_database(&mut self) {
        let mut opener = Client::spawn(command(&self.dir(), "opener"));
        assert_eq!(opener.line(), "open");
        let said = opener.order("check");
        if said != "ok" {
            self.report.violations.push(format!("the database is damaged: {said}"));
        }
    }
}

fn lines(file: &Path) -> BTreeSet<String> {
    fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
}

impl Report {
    fn hear(&mut self, said: &[String]) {
        for line in said {
            match line.split_once(' ') {
                Some(("looks", count)) => self.looks += count.parse::<u64>().unwrap(),
                Some(("violation:", what)) => self.violations.push(what.to_owned()),
                Some(("late:", _)) => self.late += 1,
                _ => {}
            }
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { violations, grants, looks, done, late, pushed, kills } = self;
        write!(f, "{grants} grants, {pushed} items pushed, {done} worked on, ")?;
        write!(
            f,
            "{kills} kills, {looks} looks by others, {late} answers too late, {} violations",
            violations.len()
        )?;
        violations.iter().take(20).try_for_each(|violation| write!(f, "\n  {violation}"))
    }
}
