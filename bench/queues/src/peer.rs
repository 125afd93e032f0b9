//! The peers. Each is driven by a program of its own, which reads and prints lines.
//!
//! ```text
//! DRIVER push URL ITEMS BATCH GAP_MS    pushes, and says `pushed NANOSECONDS`
//! DRIVER work URL CONCURRENCY MODE      says `ready`; at the first line of input begins to work;
//!                                       says `done COUNT LAST` every 20 ms if there is news, LAST
//!                                       being the end of the latest item, and in the mode
//!                                       `latency` `late NANOSECONDS` an item; ends when its input
//!                                       does
//! ```
//! A payload is 64 bytes that begin with the moment of the push. All moments are nanoseconds of
//! `CLOCK_MONOTONIC`.

use std::{
    fs,
    io::{self, BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
};

/// Where a peer keeps its items.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Place {
    Redis,
    Directory,
}

/// A library that is measured.
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    pub(crate) shown: &'static str,
    pub(crate) place: Place,
    /// Whether one worker can work on many items at a time.
    pub(crate) is_concurrent: bool,
    driver: Vec<PathBuf>,
}

/// A worker process.
pub(crate) struct Worker {
    process: Child,
    input: ChildStdin,
    said: Receiver<Said>,
}

/// The messages of a worker.
pub(crate) enum Said {
    Ready,
    Done { count: u64, last: u64 },
    Late(u64),
    Ended,
}

pub(crate) fn all() -> io::Result<Vec<Peer>> {
    let this = std::env::current_exe()?;
    let ours = |kind: &str| vec![this.clone(), "drive".into(), kind.into()];
    let peer = |name, shown, place, is_concurrent, driver| Peer {
        name,
        shown,
        place,
        is_concurrent,
        driver,
    };
    let rq = vec!["venv/bin/python".into(), "rq_driver.py".into()];
    Ok(vec![
        peer("seinpaal", "seinpaal, Redis", Place::Redis, true, ours("seinpaal")),
        peer("embedded", "seinpaal, embedded", Place::Directory, true, ours("seinpaal")),
        peer(
            "bullmq",
            "BullMQ 6.7.0",
            Place::Redis,
            true,
            vec!["node".into(), "bullmq.mjs".into()],
        ),
        peer("apalis", "apalis-redis 1.0.0", Place::Redis, true, ours("apalis")),
        peer("rq", "RQ 2.12.0 (no forks)", Place::Redis, false, rq),
    ])
}

impl Peer {
    /// Pushes items, and returns how long that took, in nanoseconds.
    pub(crate) fn push(&self, url: &str, items: u64, batch: u64, gap: u64) -> io::Result<u64> {
        let numbers = [items, batch, gap].map(|number| number.to_string());
        let output = self.command("push", url).args(numbers).stderr(Stdio::inherit()).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let took = text.lines().find_map(|line| line.strip_prefix("pushed "));
        took.and_then(|took| took.trim().parse().ok())
            .ok_or_else(|| io::Error::other(format!("{} did not push: {text}", self.name)))
    }

    /// Starts a worker that waits for [`Worker::begin`].
    pub(crate) fn work(&self, url: &str, concurrency: u64, mode: &str) -> io::Result<Worker> {
        let mut command = self.command("work", url);
        command.args([&concurrency.to_string(), mode]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::Error::other("pipes were asked for"));
        };
        let (sender, said) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // An error of the channel means that the measurement is over.
                let _ = parse(&line).map(|said| sender.send(said));
            }
            let _ = sender.send(Said::Ended);
        });
        Ok(Worker { process, input, said })
    }

    fn command(&self, what: &str, url: &str) -> Command {
        let mut command = Command::new(&self.driver[0]);
        command.args(&self.driver[1..]).args([what, url]);
        command
    }
}

impl Worker {
    pub(crate) fn until_ready(&self) -> io::Result<()> {
        match self.said.recv() {
            Ok(Said::Ready) => Ok(()),
            _ => Err(io::Error::other("a worker does not start")),
        }
    }

    pub(crate) fn begin(&mut self) -> io::Result<()> {
        self.input.write_all(b"go\n")
    }

    pub(crate) fn said(&self) -> impl Iterator<Item = Said> + '_ {
        self.said.try_iter()
    }

    /// The processor time that the worker has used so far, in microseconds.
    pub(crate) fn cpu(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id()));
        let stat = stat.unwrap_or_default();
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks: u64 =
            fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
        ticks as f64 * 1e6 / rustix::param::clock_ticks_per_second() as f64
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = (self.process.kill(), self.process.wait()); // errors mean that it has ended
    }
}

fn parse(line: &str) -> Option<Said> {
    let mut words = line.split(' ');
    let first = words.next();
    let mut number = || words.next().and_then(|word| word.parse().ok());
    match first {
        Some("ready") => Some(Said::Ready),
        Some("done") => Some(Said::Done { count: number()?, last: number()? }),
        Some("late") => Some(Said::Late(number()?)),
        _ => None,
    }
}
