//! One Redis server, or the servers of a quorum, which know nothing of each other.

use std::{io, thread, time::Duration};

use seinpaal_rig::{Clocks, RedisServer, between};

use super::StartedStore;
use crate::{
    fault::TortureFault,
    scene::{FaultScene, LONGEST_STEP},
};

/// The restart guard: how long a server that may have forgotten leases admits nobody. It is at
/// least a quarter longer than the rig's ttl.
pub(super) const GUARD: Duration = Duration::from_secs(4);
const MS: Duration = Duration::from_millis(1);

/// The fate of a server's data when the server dies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Persistence {
    /// The data is on disk.
    Disk,
    /// The data is gone, and the restart guard is on.
    Guarded,
    /// The data is gone, and a majority of three servers decides.
    Quorum,
}

#[derive(Debug)]
pub(super) struct Redis {
    servers: Vec<RedisServer>,
    /// The server that the present fault hits.
    hit: usize,
    memory: Persistence,
}

impl Redis {
    pub(super) fn start(clocks: &Clocks, memory: Persistence) -> io::Result<Self> {
        let disk = if memory == Persistence::Disk { "yes" } else { "no" };
        let arguments = ["--save", "", "--appendonly", disk, "--enable-debug-command", "yes"];
        let count = if memory == Persistence::Quorum { 3 } else { 1 };
        let start = |number| clocks.server(&clock_of(number), &arguments);
        let servers = (0..count).map(start).collect::<io::Result<_>>()?;
        Ok(Self { servers, hit: 0, memory })
    }

    fn server(&self) -> &RedisServer {
        &self.servers[self.hit]
    }

    fn keys(&self) -> io::Result<Vec<String>> {
        self.server().say(&["KEYS", "seinpaal:*"])
    }

    fn again(&mut self, scene: &mut FaultScene<'_>, forgets: bool) -> io::Result<()> {
        let server = &mut self.servers[self.hit];
        if forgets {
            server.kill_and_forget();
        } else {
            server.kill();
        }
        scene.wait(Duration::ZERO, 1500 * MS);
        server.try_start_again()?;
        self.await_guard();
        Ok(())
    }

    /// Waits at a quorum until the restart guard is over. A quorum survives only if its nodes
    /// forget one at a time.
    fn await_guard(&self) {
        if self.memory == Persistence::Quorum {
            thread::sleep(GUARD * 5 / 4);
        }
    }

    fn flush(&self) -> io::Result<()> {
        self.server().say(&["FLUSHALL"])?;
        self.await_guard();
        Ok(())
    }

    /// Sends a command, waits, and sends the command that undoes it.
    fn say_and_undo(
        &self,
        scene: &mut FaultScene<'_>,
        begin: &[&[&str]],
        end: &[&[&str]],
    ) -> io::Result<()> {
        begin.iter().try_for_each(|words| self.server().say(words).map(drop))?;
        scene.wait(100 * MS, scene.ttl);
        end.iter().try_for_each(|words| self.server().say(words).map(drop))
    }

    fn flush_scripts(&self, scene: &mut FaultScene<'_>) -> io::Result<()> {
        for _ in 0..50 {
            self.server().say(&["SCRIPT", "FLUSH"])?;
            scene.wait(5 * MS, 6 * MS);
        }
        Ok(())
    }

    fn overwrite(&self, scene: &mut FaultScene<'_>) -> io::Result<()> {
        for key in self.keys()? {
            self.server().say(&["SET", &key, "a stranger's"])?;
        }
        scene.wait(100 * MS, scene.ttl);
        for key in self.keys()? {
            self.server().say(&["DEL", &key])?;
        }
        Ok(())
    }
}

fn clock_of(number: usize) -> String {
    format!("server{number}")
}

impl StartedStore for Redis {
    fn upstreams(&self) -> Vec<u16> {
        self.servers.iter().map(RedisServer::port).collect()
    }

    fn url(&self, ports: &[u16]) -> String {
        let hosts: Vec<_> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        let (hosts, guard) = (hosts.join(","), GUARD.as_secs());
        match self.memory {
            Persistence::Disk => format!("redis://{hosts}"),
            Persistence::Guarded => format!("redis://{hosts}?restart-guard={guard}s"),
            Persistence::Quorum => format!("redis+quorum://{hosts}?restart-guard={guard}s"),
        }
    }

    fn inject(&mut self, fault: TortureFault, scene: &mut FaultScene<'_>) -> io::Result<()> {
        self.hit = scene.rng.usize(..self.servers.len());
        match fault {
            TortureFault::StopServer => {
                self.server().pause();
                scene.wait(200 * MS, scene.ttl * 5 / 3);
                self.server().resume();
                Ok(())
            }
            TortureFault::SlowServer => {
                let seconds =
                    format!("{}", between(&mut scene.rng, 100 * MS, scene.ttl).as_secs_f64());
                self.server().say(&["DEBUG", "SLEEP", &seconds]).map(drop)
            }
            TortureFault::Restart => self.again(scene, false),
            TortureFault::Forget => self.again(scene, true),
            TortureFault::ClockServer => {
                scene.set_clock(&clock_of(self.hit));
                Ok(())
            }
            TortureFault::ScriptFlush => self.flush_scripts(scene),
            TortureFault::FlushAll => self.flush(),
            TortureFault::DeleteKeys => {
                self.keys()?.iter().try_for_each(|key| self.server().say(&["DEL", key]).map(drop))
            }
            TortureFault::OverwriteKeys => self.overwrite(scene),
            TortureFault::Evict => self.say_and_undo(
                scene,
                &[
                    &["CONFIG", "SET", "maxmemory-policy", "allkeys-random"],
                    &["CONFIG", "SET", "maxmemory", "1"],
                ],
                &[
                    &["CONFIG", "SET", "maxmemory", "0"],
                    &["CONFIG", "SET", "maxmemory-policy", "noeviction"],
                ],
            ),
            TortureFault::OutOfMemory => self.say_and_undo(
                scene,
                &[&["CONFIG", "SET", "maxmemory", "1"]],
                &[&["CONFIG", "SET", "maxmemory", "0"]],
            ),
            TortureFault::ReadOnly => self.say_and_undo(
                scene,
                &[&["REPLICAOF", "127.0.0.1", "1"]],
                &[&["REPLICAOF", "NO", "ONE"]],
            ),
            other => Err(io::Error::other(format!("{other} is not for this store"))),
        }
    }

    fn outlast_fences(&self, clocks: &Clocks) {
        (0..self.servers.len()).for_each(|at| clocks.set(&clock_of(at), LONGEST_STEP + 1));
    }

    fn kept(&self) -> io::Result<Vec<String>> {
        let mut kept = Vec::new();
        for server in &self.servers {
            kept.extend(server.say(&["KEYS", "seinpaal:*"])?);
        }
        // These two keys stay: they are small, and each server has one of each.
        kept.retain(|key| key != "seinpaal:guard" && key != "seinpaal:node");
        Ok(kept)
    }
}
