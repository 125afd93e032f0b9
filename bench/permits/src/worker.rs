//! A running driver.

use std::{
    fs,
    io::{self, BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

/// A driver that prints nothing for this long counts as failed.
const SILENCE: Duration = Duration::from_secs(120);

/// A process that reads and prints lines. Dropping the handle kills the process by its id.
pub(crate) struct Worker {
    process: Child,
    input: ChildStdin,
    said: Receiver<String>,
}

/// The result of a round.
#[derive(Clone, Copy)]
pub(crate) struct Took {
    pub(crate) nanoseconds: f64,
    pub(crate) pairs: f64,
    /// The fewest pairs of one task. The field after it has the most.
    pub(crate) least: f64,
    pub(crate) most: f64,
}

/// A permit that a task has held, in nanoseconds of the clock of all drivers.
#[derive(Clone, Copy)]
pub(crate) struct Held {
    pub(crate) asked: u64,
    pub(crate) granted: u64,
    pub(crate) released: u64,
}

impl Worker {
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::Error::other("pipes were asked for"));
        };
        let (sender, said) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = sender.send(line); // an error means that the measurement is over
            }
        });
        Ok(Self { process, input, said })
    }

    pub(crate) fn go(&mut self) -> io::Result<()> {
        self.input.write_all(b"go\n")
    }

    /// Waits for a line that begins with this word, and returns the numbers after it.
    pub(crate) fn hear(&mut self, word: &str) -> io::Result<Vec<f64>> {
        loop {
            let line = self.said.recv_timeout(SILENCE).map_err(|error| self.gone(error))?;
            if let Some(numbers) = line.strip_prefix(word) {
                return Ok(numbers.split_whitespace().filter_map(|it| it.parse().ok()).collect());
            }
        }
    }

    pub(crate) fn took(&mut self) -> io::Result<Took> {
        match self.hear("took")?[..] {
            [nanoseconds, pairs, least, most] => Ok(Took { nanoseconds, pairs, least, most }),
            _ => Err(io::Error::other("a driver says `took` without its four numbers")),
        }
    }

    /// The permits that the driver reports until `end`, or until it reports the end of the round.
    pub(crate) fn held_until(&mut self, end: Instant) -> Vec<Held> {
        let mut held = Vec::new();
        while let Ok(line) = self.said.recv_timeout(end.saturating_duration_since(Instant::now())) {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("held") => held.extend(parse(words.skip(1))),
                Some("took") => break,
                _ => {}
            }
        }
        held
    }

    /// The processor time of all threads of the driver so far, in nanoseconds.
    pub(crate) fn cpu(&self) -> f64 {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.process.id()));
        let tasks = tasks.into_iter().flatten().flatten();
        tasks.map(|task| processor_time(&task.path().display().to_string())).sum()
    }

    fn gone(&mut self, error: RecvTimeoutError) -> io::Error {
        match error {
            RecvTimeoutError::Timeout => io::Error::other("the driver has been silent for 120 s"),
            RecvTimeoutError::Disconnected => match self.process.wait() {
                Ok(status) => io::Error::other(format!("the driver ended with {status}")),
                Err(error) => error,
            },
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = (self.process.kill(), self.process.wait()); // errors mean that it has ended
    }
}

fn parse(mut words: impl Iterator<Item = impl AsRef<str>>) -> Option<Held> {
    let mut number = || words.next()?.as_ref().parse().ok();
    Some(Held { asked: number()?, granted: number()?, released: number()? })
}

/// The nanoseconds that a thread has run, by its directory under /proc. 0 if the thread has ended.
pub(crate) fn processor_time(thread: &str) -> f64 {
    let text = fs::read_to_string(format!("{thread}/schedstat")).unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or_default()
}
