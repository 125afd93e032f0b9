//! A killer that kills a program or a command every 50 ms, and remembers until when each command
//! was certainly alive.

use std::{
    collections::HashMap,
    env, fs, thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use fastrand::Rng;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::{crowd::Crowd, stamps::Visit, support::lives};

const PACE: Duration = Duration::from_millis(50);

pub(crate) struct Killer {
    rng: Rng,
    wrappers: Vec<usize>,
    commands: Vec<usize>,
    seen_alive: HashMap<usize, u128>,
}

impl Killer {
    pub(crate) fn new() -> Self {
        let seed = env::var("SEINPAAL_CROWD_SEED").map(|text| text.parse().unwrap());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos();
        let seed = seed.unwrap_or_else(|_| u64::from(now));
        eprintln!("SEINPAAL_CROWD_SEED={seed}");
        let rng = Rng::with_seed(seed);
        Self { rng, wrappers: Vec::new(), commands: Vec::new(), seen_alive: HashMap::new() }
    }

    /// Kills until all programs and commands have ended, the commands of killed programs, too.
    pub(crate) fn haunt(&mut self, crowd: &mut Crowd<'_>) {
        let mut next = Instant::now();
        loop {
            let there: Vec<usize> = (0..crowd.size()).filter(|i| crowd.is_there(*i)).collect();
            let inside = self.look(crowd);
            if there.is_empty() && inside.is_empty() {
                return;
            }
            if Instant::now() >= next {
                next += PACE;
                self.choose(crowd, &there, &inside);
            }
            thread::park_timeout(Duration::from_millis(1));
        }
    }

    /// Returns until when a command without an end was certainly inside.
    pub(crate) fn last_seen_alive(&self, person: usize) -> Option<u128> {
        self.seen_alive.get(&person).copied()
    }

    pub(crate) fn has_killed(&self, person: usize) -> bool {
        self.wrappers.contains(&person) || self.commands.contains(&person)
    }

    pub(crate) fn tell(&self) {
        let (programs, commands) = (self.wrappers.len(), self.commands.len());
        eprintln!("killed {programs} programs and {commands} commands");
        assert!(programs + commands > 0, "nobody was killed: this proves nothing");
    }

    /// Notes which commands are inside. The time is taken before the look, so that it is never too
    /// late.
    fn look(&mut self, crowd: &Crowd<'_>) -> Vec<Visit> {
        let mut inside = Vec::new();
        for visit in (0..crowd.size()).filter_map(|person| crowd.visit(person)) {
            let before = now();
            if visit.end.is_none() && is_command(visit.pid, visit.person) {
                self.seen_alive.insert(visit.person, before);
                inside.push(visit);
            }
        }
        inside
    }

    /// Chooses a victim: a command, the program of a command, or any program.
    fn choose(&mut self, crowd: &mut Crowd<'_>, there: &[usize], inside: &[Visit]) {
        let visit = (!inside.is_empty()).then(|| &inside[self.rng.usize(..inside.len())]);
        match (self.rng.usize(..3), visit) {
            (0, Some(visit)) => {
                if kill_command(visit) {
                    self.commands.push(visit.person);
                }
            }
            (1, Some(visit)) => self.kill_wrapper(crowd, visit.person),
            _ if there.is_empty() => {}
            _ => {
                let victim = there[self.rng.usize(..there.len())];
                self.kill_wrapper(crowd, victim);
            }
        }
    }

    fn kill_wrapper(&mut self, crowd: &mut Crowd<'_>, person: usize) {
        if crowd.is_there(person) {
            crowd.kill(person);
            self.wrappers.push(person);
        }
    }
}

/// Kills a command. The kernel may have given its number to another process, which must not be
/// hurt. So this opens the process, checks that it is the command, and then kills it.
fn kill_command(visit: &Visit) -> bool {
    let Some(number) = i32::try_from(visit.pid).ok().and_then(Pid::from_raw) else { return false };
    let Ok(held) = pidfd_open(number, PidfdFlags::empty()) else { return false };
    is_command(visit.pid, visit.person) && pidfd_send_signal(held, Signal::KILL).is_ok()
}

fn is_command(pid: u32, person: usize) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let ours = format!("out.$1\"\n\0sh\0{person}\0");
    lives(pid) && line.ends_with(ours.as_bytes())
}

/// Returns the time on the clock of `date`.
fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()
}
