//! The workers: processes that come and go.

use std::{
    io,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use rustix::process::Signal;
use seinpaal_rig::{Clocks, Proxy, signal};

use super::Plan;
use crate::{
    clock,
    draw::Draw,
    history::{Pen, What},
    kind::{Kind, Site},
};

pub(super) struct Crew<'a> {
    plan: &'a Plan,
    clocks: &'a Clocks,
    pen: Pen,
    members: Vec<Member>,
}

struct Member {
    number: usize,
    lives: u64,
    url: String,
    proxies: Vec<Proxy>,
    process: Option<Child>,
}

/// Whose wall clock a worker goes by. Where there is no server, all go by the machine's.
pub(super) fn clock_of(kind: Kind, worker: usize) -> String {
    if kind == Kind::Embedded { "machine".to_owned() } else { format!("w{worker}") }
}

impl<'a> Crew<'a> {
    pub(super) fn start(
        plan: &'a Plan,
        clocks: &'a Clocks,
        pen: &Pen,
        site: &dyn Site,
    ) -> io::Result<Self> {
        let mut crew = Self { plan, clocks, pen: pen.clone(), members: Vec::new() };
        for number in 0..plan.workers {
            let proxies: Vec<_> =
                site.upstreams().into_iter().map(Proxy::start).collect::<io::Result<_>>()?;
            let ports: Vec<_> = proxies.iter().map(Proxy::port).collect();
            let url = site.url(&ports);
            crew.members.push(Member { number, lives: 0, url, proxies, process: None });
            crew.begin_life(number)?;
        }
        Ok(crew)
    }

    pub(super) fn proxies(&self, worker: usize) -> &[Proxy] {
        &self.members[worker].proxies
    }

    /// Starts the worker (again).
    pub(super) fn begin_life(&mut self, worker: usize) -> io::Result<()> {
        let plan = self.plan;
        let member = &mut self.members[worker];
        member.lives += 1;
        let seed = Draw::new(plan.seed).fork(member.number as u64 + 1).fork(member.lives).number();
        let names: Vec<_> =
            plan.names.iter().map(|(name, limit)| format!("{name}:{limit}")).collect();
        let process = Command::new(&plan.program)
            .arg("worker")
            .args([&member.url, &member.life()])
            .arg(&plan.history)
            .args([seed, plan.ttl.as_millis() as u64, plan.tasks].map(|number| number.to_string()))
            .arg(if plan.queue { "queue".to_owned() } else { names.join(",") })
            .envs(self.clocks.environment(&clock_of(plan.kind, worker)))
            .stdin(Stdio::piped())
            .spawn()?;
        member.process = Some(process);
        Ok(())
    }

    pub(super) fn kill(&mut self, worker: usize) -> io::Result<()> {
        let member = &mut self.members[worker];
        self.pen.write(What::Killing { life: member.life() });
        if let Some(mut process) = member.process.take() {
            process.kill()?;
            process.wait()?;
        }
        Ok(())
    }

    pub(super) fn stop(&self, worker: usize, time: Duration) {
        let member = &self.members[worker];
        let Some(process) = &member.process else { return };
        self.pen.write(What::Stopping { life: member.life() });
        signal(process.id(), Signal::STOP);
        thread::sleep(time);
        self.pen.write(What::Continued { life: member.life() });
        signal(process.id(), Signal::CONT);
    }

    /// Tells all to finish, and waits until they have, but no longer than this.
    pub(super) fn finish(&mut self, bound: Duration) {
        for process in self.members.iter_mut().filter_map(|member| member.process.as_mut()) {
            drop(process.stdin.take());
        }
        let until = clock::now() + u64::try_from(bound.as_micros()).unwrap_or(u64::MAX);
        for worker in 0..self.members.len() {
            self.await_end(worker, until);
        }
    }

    fn await_end(&mut self, worker: usize, until: u64) {
        let member = &mut self.members[worker];
        let life = member.life();
        let Some(mut process) = member.process.take() else { return };
        loop {
            match process.try_wait() {
                Ok(Some(status)) if status.success() => return,
                Ok(Some(status)) => {
                    let what_hangs = format!("{life} failed: {status}");
                    return self.pen.write(What::Hangs { what_hangs });
                }
                Ok(None) if clock::now() < until => thread::sleep(Duration::from_millis(5)),
                _ => break,
            }
        }
        self.pen.write(What::Hangs { what_hangs: format!("{life} does not end") });
        self.pen.write(What::Killing { life });
        let _ = (process.kill(), process.wait()); // both fail only if it has ended
    }
}

impl Member {
    fn life(&self) -> String {
        format!("w{}.{}", self.number, self.lives)
    }
}

impl Drop for Crew<'_> {
    fn drop(&mut self) {
        for process in self.members.iter_mut().filter_map(|member| member.process.as_mut()) {
            let _ = (process.kill(), process.wait()); // both fail only if it has ended
        }
    }
}
