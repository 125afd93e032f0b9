//! The peers. Each is driven by a program of its own, which reads and prints lines.
//!
//! ```text
//! DRIVER KIND URL tasks=N names=N limit=N hold=MS pause=MS count=N millis=MS
//!        clients=0|1 stamps=0|1
//! ```
//! The driver connects, holds each name once, and prints `ready`. At each line of input every task
//! asks for a permit (task `i` of the name `i % names`), holds it for `hold`, gives it back and
//! pauses, `count` times or for `millis`. With `clients=1` each task has a connection of its own.
//! Then the driver prints `took NANOSECONDS PAIRS LEAST MOST`, where the last two are the fewest
//! and the most pairs of one task. With `stamps=1` it prints `held TASK ASKED GRANTED RELEASED`
//! after the release of each permit, in nanoseconds of `CLOCK_MONOTONIC`. The driver ends when its
//! input does.

use std::{
    env, io,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{install, worker::Worker};

/// A library that is measured.
pub(crate) struct Peer {
    /// The name of the peer for `--peers` and for the driver.
    pub(crate) name: &'static str,
    pub(crate) shown: &'static str,
    pub(crate) version: &'static str,
    /// Whether the peer has limits above one.
    pub(crate) counts: bool,
    language: Language,
}

#[derive(Clone, Copy, PartialEq)]
enum Language {
    Rust,
    Node,
    Python,
    Java,
    Go,
}

/// Our name among the peers.
pub(crate) const OURS: &str = "seinpaal";

/// The work of every task of a driver.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) tasks: u64,
    pub(crate) names: u64,
    pub(crate) limit: u64,
    pub(crate) hold: u64,
    pub(crate) pause: u64,
    pub(crate) count: u64,
    pub(crate) millis: u64,
    pub(crate) clients: bool,
    pub(crate) stamps: bool,
}

impl Default for Plan {
    fn default() -> Self {
        let (tasks, names, limit, hold, pause, count, millis) = (1, 1, 1, 0, 0, 0, 0);
        Self { tasks, names, limit, hold, pause, count, millis, clients: false, stamps: false }
    }
}

/// The versions are those that the lock files beside the drivers pin.
pub(crate) fn all() -> Vec<Peer> {
    use Language::{Go, Java, Node, Python, Rust};
    let peer =
        |name, shown, version, counts, language| Peer { name, shown, version, counts, language };
    vec![
        peer(OURS, "Seinpaal", env!("CARGO_PKG_VERSION"), true, Rust),
        peer("rslock", "rslock", "0.10.0", false, Rust),
        peer("distributed-lock", "distributed-lock-redis semaphore", "0.2.0", true, Rust),
        peer("redis-semaphore", "redis-semaphore (npm)", "5.8.0", true, Node),
        peer("redlock", "redlock (npm)", "4.2.0", false, Node),
        peer("redis-py", "redis-py Lock", "8.1.0", false, Python),
        peer("python-redis-lock", "python-redis-lock", "4.0.1", false, Python),
        peer("redisson-semaphore", "Redisson RSemaphore", "4.7.0", true, Java),
        peer("redisson-permits", "Redisson RPermitExpirableSemaphore", "4.7.0", true, Java),
        peer("redisson-fair", "Redisson fair lock", "4.7.0", false, Java),
        peer("redsync", "redsync", "4.18.1", false, Go),
    ]
}

impl Peer {
    pub(crate) fn is_ours(&self) -> bool {
        self.name == OURS
    }

    /// Installs the peer's packages. The error names a program that is missing.
    pub(crate) fn prepare(&self) -> io::Result<()> {
        match self.language {
            Language::Rust => Ok(()),
            Language::Node => install::npm(&here("node")),
            Language::Python => install::python(&here("python"), &built("python")),
            Language::Java => install::java(&here("java"), &built("java")),
            Language::Go => install::go(&here("go"), &built("redsync")),
        }
    }

    /// Starts a driver, and waits until it is ready.
    pub(crate) fn start(&self, url: &str, plan: Plan) -> io::Result<Worker> {
        let mut command = self.driver()?;
        // A client of Redisson has dozens of threads, so the tasks share one, as Redisson's
        // documents advise.
        let clients = plan.clients && self.language != Language::Java;
        command.args([self.name, url]).args(plan.words(clients));
        let mut worker = Worker::start(&mut command)?;
        worker.hear("ready")?;
        Ok(worker)
    }

    fn driver(&self) -> io::Result<Command> {
        let mut command = match self.language {
            Language::Rust => Command::new(env::current_exe()?),
            Language::Node => Command::new("node"),
            Language::Python => Command::new(built("python").join("bin/python")),
            Language::Java => Command::new("java"),
            Language::Go => Command::new(built("redsync")),
        };
        match self.language {
            Language::Rust => command.arg("drive"),
            Language::Node => command.arg(here("node/driver.mjs")),
            Language::Python => command.arg(here("python/driver.py")),
            Language::Java => {
                let path = format!("{0}:{0}/*", built("java").display());
                command.args(["-XX:+UseSerialGC", "-cp", &path, "Driver"])
            }
            Language::Go => &mut command,
        };
        Ok(command)
    }
}

impl Plan {
    fn words(&self, clients: bool) -> Vec<String> {
        let Self { tasks, names, limit, hold, pause, count, millis, stamps, .. } = *self;
        let (clients, stamps) = (u64::from(clients), u64::from(stamps));
        let words = [("tasks", tasks), ("names", names), ("limit", limit), ("hold", hold)];
        let more = [("pause", pause), ("count", count), ("millis", millis), ("clients", clients)];
        let words = words.into_iter().chain(more).chain([("stamps", stamps)]);
        words.map(|(key, value)| format!("{key}={value}")).collect()
    }
}

/// A path below the directory of this crate.
pub(crate) fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A path below the directory in which peers are built.
fn built(path: &str) -> PathBuf {
    here("../target/peers").join(path)
}
