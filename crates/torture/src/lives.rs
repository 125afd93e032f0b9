//! Worker processes. A worker that is killed is replaced by its next life.

use std::{
    io,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use rustix::process::Signal;
use seinpaal_rig::signal;

use crate::{
    clock,
    history::{Pen, TortureWhat},
};

/// How often the rig looks whether a process has ended.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// All workers of a run, by number. Dropping this value kills the workers that still live.
pub(crate) struct Lives {
    pen: Pen,
    workers: Vec<WorkerLife>,
}

#[derive(Default)]
struct WorkerLife {
    lives: u64,
    process: Option<Child>,
}

impl Lives {
    pub(crate) fn new(pen: &Pen, workers: usize) -> Self {
        let mut all = Vec::new();
        all.resize_with(workers, WorkerLife::default);
        Self { pen: pen.clone(), workers: all }
    }

    /// Returns the name of a worker's present life.
    fn name(&self, worker: usize) -> String {
        format!("w{worker}.{}", self.workers[worker].lives)
    }

    /// Starts the next life of the worker. `command` gets the number of this life, from 1, and its
    /// name.
    pub(crate) fn begin(
        &mut self,
        worker: usize,
        command: impl FnOnce(u64, &str) -> Command,
    ) -> io::Result<()> {
        self.workers[worker].lives += 1;
        let mut command = command(self.workers[worker].lives, &self.name(worker));
        self.workers[worker].process = Some(command.stdin(Stdio::piped()).spawn()?);
        Ok(())
    }

    /// Kills the worker, and returns when it has ended.
    pub(crate) fn kill(&mut self, worker: usize) -> io::Result<()> {
        // The kill is written down first, because the next holder may be granted before this call
        // returns.
        self.pen.write(TortureWhat::Killing { life: self.name(worker) });
        if let Some(mut process) = self.workers[worker].process.take() {
            process.kill()?;
            process.wait()?;
        }
        Ok(())
    }

    /// Stops the worker (`SIGSTOP`) for this long.
    pub(crate) fn stop(&self, worker: usize, time: Duration) {
        let Some(process) = &self.workers[worker].process else { return };
        self.pen.write(TortureWhat::Stopping { life: self.name(worker) });
        signal(process.id(), Signal::STOP);
        thread::sleep(time);
        self.pen.write(TortureWhat::Continued { life: self.name(worker) });
        signal(process.id(), Signal::CONT);
    }

    /// Tells all workers to finish by closing their standard input. Waits until they have ended, at
    /// most for `bound`.
    pub(crate) fn finish(&mut self, bound: Duration) {
        for process in self.workers.iter_mut().filter_map(|worker| worker.process.as_mut()) {
            drop(process.stdin.take());
        }
        let until = clock::now() + u64::try_from(bound.as_micros()).unwrap_or(u64::MAX);
        for worker in 0..self.workers.len() {
            self.await_end(worker, until);
        }
    }

    fn await_end(&mut self, worker: usize, until: u64) {
        let life = self.name(worker);
        let Some(mut process) = self.workers[worker].process.take() else { return };
        loop {
            match process.try_wait() {
                Ok(Some(status)) if status.success() => return,
                Ok(Some(status)) => {
                    let what_hangs = format!("{life} failed: {status}");
                    return self.pen.write(TortureWhat::Hangs { what_hangs });
                }
                Ok(None) if clock::now() < until => thread::sleep(LOOK_EVERY),
                _ => break,
            }
        }
        self.pen.write(TortureWhat::Hangs { what_hangs: format!("{life} does not end") });
        self.pen.write(TortureWhat::Killing { life });
        let _ = (process.kill(), process.wait()); // both fail only if it has ended
    }
}

impl Drop for Lives {
    fn drop(&mut self) {
        for process in self.workers.iter_mut().filter_map(|worker| worker.process.as_mut()) {
            let _ = (process.kill(), process.wait()); // both fail only if it has ended
        }
    }
}
