//! The world of the jobs of one store: the program in their path, the store's URL, a directory, and
//! the history.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use torture::history::Pen;

use crate::{history::DayWhat, store::StoreSetting};

const STORE: &str = "DAY_STORE";
const SCRATCH: &str = "DAY_SCRATCH";
const JOB: &str = "DAY_JOB";
const SEED: &str = "DAY_SEED";
const URL: &str = "SEINPAAL_STORE";

/// The world of the jobs of one store.
#[derive(Clone, Debug)]
pub struct DayWorld {
    /// Which store.
    pub store: StoreSetting,
    /// The URL.
    pub url: String,
    /// A directory with `bin`, the history, and the files of jobs.
    pub scratch: PathBuf,
    /// The seed of the random numbers of jobs.
    pub seed: u64,
}

impl DayWorld {
    /// Makes a world for this store.
    #[must_use]
    pub fn new(store: StoreSetting, url: &str, scratch: &Path, seed: u64) -> Self {
        Self { store, url: url.to_owned(), scratch: scratch.to_owned(), seed }
    }

    /// Returns the world in which the rig started this process, and the name of its job.
    ///
    /// # Errors
    /// If this process was started by hand.
    pub fn found() -> io::Result<(Self, String)> {
        let find = |name| {
            env::var(name).map_err(|_| io::Error::other(format!("{name} is not set: the rig does")))
        };
        let store: StoreSetting = find(STORE)?.parse().map_err(io::Error::other)?;
        let seed = find(SEED)?.parse().map_err(io::Error::other)?;
        let world = Self::new(store, &find(URL)?, Path::new(&find(SCRATCH)?), seed);
        Ok((world, find(JOB)?))
    }

    /// Makes the directories, and puts the program and this one into the path of all jobs.
    ///
    /// # Errors
    /// As for any file.
    pub fn furnish(scratch: &Path, program: &Path) -> io::Result<()> {
        let bin = scratch.join("bin");
        fs::create_dir_all(&bin)?;
        fs::create_dir_all(scratch.join("said"))?;
        // Each day runs its own copy of the program. So the path of a process in `/proc` shows
        // which day started it.
        fs::copy(program, bin.join("seinpaal"))?;
        std::os::unix::fs::symlink(env::current_exe()?, bin.join("day"))
    }

    /// Returns the path of the program under test, as `/proc` shows it.
    #[must_use]
    pub fn program(scratch: &Path) -> PathBuf {
        scratch.join("bin/seinpaal")
    }

    /// Makes a command in this world, as this job. The command finds the program in its path and
    /// the store in its environment. It reads no settings of the user who started the rig.
    #[must_use]
    pub fn command(&self, job: &str, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.scratch.join("bin").display()));
        command.env(STORE, self.store.name()).env(SCRATCH, &self.scratch).env(JOB, job);
        command.env(SEED, self.seed.to_string());
        command.env(URL, &self.url).env("HOME", &self.scratch).env("TERM", "xterm");
        command.env("XDG_CONFIG_HOME", self.scratch.join("config")).env_remove("NO_COLOR");
        command.current_dir(&self.scratch);
        command
    }

    /// Returns the full name of a job, or of the rig, on this store.
    #[must_use]
    pub fn who(&self, job: &str) -> String {
        format!("{}/{job}", self.store)
    }

    /// Writes down what happens to this job now.
    pub fn note(&self, who: &str, what: DayWhat) {
        self.pen(who).write(what);
    }

    /// Opens the pen that writes this job's events.
    ///
    /// # Panics
    /// If the history cannot be opened, because nothing is proved without it.
    #[must_use]
    pub fn pen(&self, who: &str) -> Pen {
        Pen::open(&Self::history(&self.scratch), who).expect("the history can be opened")
    }

    /// Returns the path of the history.
    #[must_use]
    pub fn history(scratch: &Path) -> PathBuf {
        scratch.join("history")
    }
}
