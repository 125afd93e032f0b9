//! The notes to the guard, one on each line.

use std::time::Duration;

use rustix::{process::Pid, time::ClockId};

/// The argument that makes this program a guard. No command has this name.
pub(crate) const ARGUMENT: &str = "--guard";

/// An instant that never comes.
pub(super) const NEVER: Duration = Duration::MAX;

/// The instants at which the guard ends CMD if it hears nothing more, and the end of the lease, on
/// the clock of [`now`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::run) struct GuardTimes {
    pub(in crate::run) term: Duration,
    pub(in crate::run) kill: Duration,
    pub(in crate::run) end: Duration,
}

impl GuardTimes {
    pub(in crate::run) const NEVER: Self = Self { term: NEVER, kill: NEVER, end: NEVER };

    /// Returns the earlier of each pair of instants.
    pub(in crate::run) fn or_earlier(self, other: Self) -> Self {
        Self {
            term: self.term.min(other.term),
            kill: self.kill.min(other.kill),
            end: self.end.min(other.end),
        }
    }
}

/// One note, which becomes one line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum GuardNote {
    /// The process group to guard, and how long after TERM to send KILL if we are gone.
    Cmd { group: Pid, kill_after: Duration },
    /// The instants at which to act if the guard hears nothing more.
    Lease(GuardTimes),
    /// The run is ending CMD, and with it all processes of its group.
    Ending,
    /// CMD is gone. Another CMD may follow.
    Rest,
    /// CMD is gone. The guard ends, too.
    Bye,
}

impl GuardNote {
    pub(super) fn line(self) -> String {
        match self {
            Self::Cmd { group, kill_after } => {
                format!("cmd {} {}\n", group.as_raw_pid(), nanos(kill_after))
            }
            Self::Lease(GuardTimes { term, kill, end }) => {
                format!("lease {} {} {}\n", nanos(term), nanos(kill), nanos(end))
            }
            Self::Ending => "ending\n".to_owned(),
            Self::Rest => "rest\n".to_owned(),
            Self::Bye => "bye\n".to_owned(),
        }
    }

    pub(super) fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let kind = words.next()?;
        let mut number = || words.next()?.parse::<u64>().ok();
        match kind {
            "cmd" => Some(Self::Cmd {
                group: Pid::from_raw(i32::try_from(number()?).ok()?)?,
                kill_after: duration(number()?),
            }),
            "lease" => Some(Self::Lease(GuardTimes {
                term: duration(number()?),
                kill: duration(number()?),
                end: duration(number()?),
            })),
            "ending" => Some(Self::Ending),
            "rest" => Some(Self::Rest),
            "bye" => Some(Self::Bye),
            _ => None,
        }
    }
}

/// Returns the time since the machine started, with the time that it slept. All processes read the
/// same time.
pub(in crate::run) fn now() -> Duration {
    #[cfg(target_os = "linux")]
    let clock = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = ClockId::Monotonic;
    let time = rustix::time::clock_gettime(clock);
    // Neither part is negative on these clocks.
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

pub(in crate::run) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

pub(in crate::run) fn duration(nanos: u64) -> Duration {
    if nanos == u64::MAX { NEVER } else { Duration::from_nanos(nanos) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written() {
        let group = Pid::from_raw(42).unwrap();
        let second = Duration::from_secs(1);
        for note in [
            GuardNote::Cmd { group, kill_after: second },
            GuardNote::Lease(GuardTimes { term: NEVER, kill: NEVER, end: second }),
            GuardNote::Lease(GuardTimes { term: second, kill: second * 2, end: second * 2 }),
            GuardNote::Ending,
            GuardNote::Rest,
            GuardNote::Bye,
        ] {
            assert_eq!(GuardNote::parse(note.line().trim_end()), Some(note));
        }
    }
}
