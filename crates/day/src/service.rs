//! `day service`: two processes of the service that the docs show, with default settings, and
//! tenants that ask them for work. The store falls silent for 5 s, and later for 60 s.

mod client;
pub mod verdict;

use std::{
    io,
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use rustix::process::Signal;
use seinpaal_rig::{fork, signal};
use torture::clock;

use crate::{
    rig::{DayPlan, look_for_remains},
    site::DaySite,
    stage::{ms, pass},
    store::StoreSetting,
    world::DayWorld,
};
use client::HttpClient;
use verdict::{AnswerSeen, ServiceTerms, ServiceVerdict, SilentTime};

/// The number of requests of one tenant that the service works on at a time.
pub const LIMIT: u32 = 3;
const TENANTS: usize = 4;
/// The most requests of one tenant at a time.
const CLIENTS: usize = 6;
const PROCESSES: usize = 2;
const SHORT: Duration = Duration::from_secs(5);
const LONG: Duration = Duration::from_secs(60);
/// How long a process may take to start or to end.
const BOUND: Duration = Duration::from_secs(60);

/// The processes of the service.
struct Service {
    ports: Vec<u16>,
    children: Vec<Child>,
}

/// Runs the service, and judges the answers that clients got.
///
/// # Errors
/// If the service is not there, or files cannot be written.
///
/// # Panics
/// If a server does not start.
pub fn run(plan: &DayPlan, program: &Path) -> io::Result<Vec<(StoreSetting, ServiceVerdict)>> {
    DayWorld::furnish(&plan.scratch, &plan.program)?;
    let stores = plan.stores.iter().filter(|store| store.has_servers());
    thread::scope(|scope| {
        let all: Vec<_> = stores
            .map(|store| (*store, scope.spawn(move || serve(plan, *store, program))))
            .collect();
        let join = |(store, one): (
            StoreSetting,
            thread::ScopedJoinHandle<'_, io::Result<ServiceVerdict>>,
        )| { Ok((store, one.join().expect("all stores go to their ends")?)) };
        all.into_iter().map(join).collect()
    })
}

fn serve(plan: &DayPlan, store: StoreSetting, program: &Path) -> io::Result<ServiceVerdict> {
    let site = DaySite::start(store)?;
    let world = DayWorld::new(store, &site.url, &plan.scratch, plan.seed);
    let mut service = Service::start(&world, program)?;
    // A fresh quorum admits nobody at first, and this test is about other things.
    pass(store.guard());
    let is_over = AtomicBool::new(false);
    let (answers, outages) = thread::scope(|scope| {
        let mut rng = fork(plan.seed, store as u64);
        let clients: Vec<_> = (0..TENANTS * CLIENTS)
            .map(|number| {
                let tenant = number % TENANTS;
                let client = HttpClient::new(&service.ports, tenant, rng.fork());
                scope.spawn(|| client.ask_until(&is_over))
            })
            .collect();
        let outages = fall_silent(&site, plan.time);
        is_over.store(true, Ordering::SeqCst);
        let answers: Vec<AnswerSeen> =
            clients.into_iter().flat_map(|it| it.join().expect("a client ends")).collect();
        (answers, outages)
    });
    let terms = ServiceTerms { limit: LIMIT, loses_soon: store == StoreSetting::Zookeeper };
    let mut verdict = verdict::judge(&answers, &outages, terms);
    service.end(&mut verdict);
    verdict.remains = look_for_remains(&world, &site);
    Ok(verdict)
}

/// Makes the store silent twice, and returns the times of the silences.
fn fall_silent(site: &DaySite, time: Duration) -> Vec<SilentTime> {
    let began = Instant::now();
    let plays = [(time * 3 / 10, SHORT), (time / 2, LONG)];
    let outages = plays.map(|(at, length)| {
        pass(at.saturating_sub(began.elapsed()));
        let from = clock::now();
        site.silence(true);
        pass(length);
        site.silence(false);
        SilentTime { from, until: clock::now() }
    });
    pass(time.saturating_sub(began.elapsed()));
    outages.to_vec()
}

impl Service {
    fn start(world: &DayWorld, program: &Path) -> io::Result<Self> {
        let mut service = Self { ports: Vec::new(), children: Vec::new() };
        for number in 0..PROCESSES {
            let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
            let child = command(world, program, port);
            let log = std::fs::File::create(
                world.scratch.join(format!("service-{}-{number}", world.store)),
            )?;
            let child =
                { child }.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?;
            service.children.push(child);
            service.ports.push(port);
        }
        let deadline = Instant::now() + BOUND;
        while !service.ports.iter().all(|port| client::answers(*port)) {
            if Instant::now() > deadline {
                return Err(io::Error::other("the service does not start"));
            }
            pass(ms(50));
        }
        Ok(service)
    }

    /// Ends each process with TERM.
    fn end(&mut self, verdict: &mut ServiceVerdict) {
        self.children.iter().for_each(|child| signal(child.id(), Signal::TERM));
        let deadline = Instant::now() + BOUND;
        for child in &mut self.children {
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
                pass(ms(20));
            }
            match child.try_wait() {
                Ok(Some(status)) if status.success() => {}
                other => {
                    verdict.wrong.push(format!("after TERM a process of the service: {other:?}"));
                }
            }
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = (child.kill(), child.wait()); // both fail only if it has ended already
        }
    }
}

/// Returns the command that starts the service.
fn command(world: &DayWorld, program: &Path, port: u16) -> Command {
    let mut command = world.command(&world.who("service"), &program.display().to_string());
    command.args([&format!("127.0.0.1:{port}"), &world.url]);
    command
}
