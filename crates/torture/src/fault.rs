//! The catalogue of faults.

use std::{fmt, str::FromStr};

macro_rules! catalogue {
    ($($(#[doc = $doc:literal])* $fault:ident $name:literal,)*) => {
        /// Something that goes wrong.
        #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
        pub enum TortureFault {
            $($(#[doc = $doc])* $fault,)*
        }

        impl TortureFault {
            /// All faults.
            pub const ALL: &[Self] = &[$(Self::$fault),*];

            /// Returns the fault's name, on the command line and in histories.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$fault => $name,)*
                }
            }
        }
    };
}

catalogue! {
    /// A worker is killed (`SIGKILL`), even while it holds or waits. Another worker takes its
    /// place.
    KillWorker "kill-worker",
    /// A worker is stopped (`SIGSTOP`) for half a ttl to five ttls.
    StopWorker "stop-worker",
    /// A worker's connections are cut at some byte of a request or of an answer.
    Cut "cut",
    /// The bytes between a worker and the store arrive late.
    Delay "delay",
    /// One direction of a worker's connections is closed, the other stays open.
    HalfClose "half-close",
    /// The frame of a request or of an answer is spoilt.
    Garble "garble",
    /// The store executes a request. Its answer is lost, and so is the connection.
    LoseReply "lose-reply",
    /// No bytes pass between a worker and the store. Afterwards all of them arrive, as with TCP.
    Partition "partition",
    /// The server is stopped (`SIGSTOP`) with requests in its sockets.
    StopServer "stop-server",
    /// The server sleeps in a command.
    SlowServer "slow-server",
    /// The server is killed and started again with its data on disk.
    Restart "restart",
    /// The server is killed and started again without data.
    Forget "forget",
    /// The clock of the server is set, and set back later. Without a server, the machine's clock is
    /// set.
    ClockServer "clock-server",
    /// The wall clock of a worker is set, and set back later.
    ClockClient "clock-client",
    /// All scripts are flushed, again and again.
    ScriptFlush "script-flush",
    /// All keys are flushed.
    FlushAll "flushall",
    /// A stranger deletes our keys.
    DeleteKeys "delete-keys",
    /// A stranger writes other values to our keys.
    OverwriteKeys "overwrite-keys",
    /// The server evicts keys to free memory.
    Evict "evict",
    /// The server has no memory and evicts nothing.
    OutOfMemory "out-of-memory",
    /// The server becomes a replica, which takes no writes, and a master again.
    ReadOnly "read-only",
    /// The disk is full.
    DiskFull "disk-full",
    /// The leader, or the master, is killed. Another server takes over, and the killed one comes
    /// back.
    FailOver "fail-over",
    /// The leader, or the master, is stopped until another server has taken over, and then goes on.
    Zombie "zombie",
    /// A server that does not lead is killed and comes back.
    KillReplica "kill-replica",
    /// A slot of a cluster moves to another master, key by key.
    MoveSlot "move-slot",
}

impl fmt::Display for TortureFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for TortureFault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|fault| fault.name() == text);
        found.copied().ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|fault| fault.name()).collect();
            format!("no fault is called {text}: known are {}", known.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_found_by_its_name_and_nothing_else_is() {
        for fault in TortureFault::ALL {
            assert_eq!(fault.name().parse(), Ok(*fault));
        }
        assert!("earthquake".parse::<TortureFault>().unwrap_err().contains("kill-worker"));
    }
}
