//! The permits that the runs around a CMD hold, and the variable that lists them.

use std::{env, fs, os::fd::RawFd};

use seinpaal::{Fence, MOST_READERS, Name, Permit, Slots, Ticket};
use serde::{Deserialize, Serialize};

use super::sign::Sight;
use crate::args::EntryArgs;

/// The variable in CMD's environment.
pub(super) const VARIABLE: &str = "SEINPAAL_HELD";

/// The permits of one name under which CMD runs. Its own run or an ancestor holds them.
#[derive(Clone, Debug)]
pub(super) struct CmdGrant {
    pub(super) name: String,
    pub(super) ticket: Ticket,
    pub(super) fence: Fence,
    pub(super) slots: Slots,
    pub(super) slot_names: Vec<String>,
    pub(super) permits: u32,
    pub(super) limit: u32,
}

impl From<&Permit> for CmdGrant {
    fn from(permit: &Permit) -> Self {
        Self {
            name: permit.name().to_owned(),
            ticket: permit.ticket(),
            fence: permit.fence(),
            slots: permit.slots(),
            slot_names: permit.slot_names().into_iter().map(str::to_owned).collect(),
            permits: permit.permits(),
            limit: permit.limit(),
        }
    }
}

/// The kind of lock as which a name is held.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum HeldAs {
    Semaphore,
    Shared,
    Exclusive,
}

impl HeldAs {
    pub(super) fn of(entry: &EntryArgs) -> Self {
        match (entry.shared, entry.exclusive) {
            (true, _) => Self::Shared,
            (_, true) => Self::Exclusive,
            _ => Self::Semaphore,
        }
    }

    /// Returns how many permits it takes to hold the name in this way.
    pub(super) fn permits(self, wanted: u32) -> u32 {
        match self {
            Self::Semaphore => wanted,
            Self::Shared => 1,
            Self::Exclusive => MOST_READERS,
        }
    }
}

/// One name, held by one run.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct HeldName {
    /// The store, for people to read. A run inside asks its own store whether the ticket holds
    /// there, and so learns whether it is the same store.
    pub(super) store: String,
    pub(super) name: String,
    pub(super) kind: HeldAs,
    pub(super) permits: u32,
    pub(super) ticket: String,
    /// The process of the `run` that holds the name.
    pub(super) pid: u32,
    /// The descriptor of its [sign](super::sign), by its number in that process.
    pub(super) fd: RawFd,
}

/// Returns the permits that the environment lists for the runs around this one. A value that cannot
/// be read is ignored.
pub(super) fn around_us() -> Vec<HeldName> {
    let text = env::var(VARIABLE).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Returns the variable's value for the permits that are held around CMD.
pub(super) fn variable(held: &[HeldName]) -> String {
    // Writing fails only for a map whose keys are not text, and there is none here.
    serde_json::to_string(held).unwrap_or_default()
}

/// The claim of a `run` around us that it holds a name. The store has not confirmed it yet.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) ticket: Ticket,
    pub(super) pid: u32,
    /// The CMD of that run, which is an ancestor of this process, or this process itself.
    pub(super) cmd: u32,
    pub(super) sight: Sight,
}

/// Returns the claim of the innermost run around us that claims to hold `name` and lets us in.
pub(super) fn claim(held: &[HeldName], name: &Name) -> Option<Claim> {
    if held.is_empty() {
        return None;
    }
    let lineage = lineage();
    held.iter().rev().filter(|held| held.name == name.as_str()).find_map(|held| {
        // The count leaves out this process, so in the whole lineage this is the place of the run's
        // child.
        let at = lineage.iter().skip(1).position(|pid| *pid == held.pid)?;
        let sight = Sight::open(held.pid, held.fd)?;
        Some(Claim { ticket: held.ticket.parse().ok()?, pid: held.pid, cmd: lineage[at], sight })
    })
}

/// Returns our process, its parent, and so on.
fn lineage() -> Vec<u32> {
    std::iter::successors(Some(std::process::id()), |pid| parent(*pid)).collect()
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program stands in parentheses, and may contain parentheses.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(1)?.parse().ok().filter(|parent| *parent > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::sign::Sign;

    fn held(pid: u32, fd: RawFd) -> HeldName {
        HeldName {
            store: "file:".to_owned(),
            name: "a".to_owned(),
            kind: HeldAs::Semaphore,
            permits: 1,
            ticket: "0".repeat(32),
            pid,
            fd,
        }
    }

    #[test]
    fn a_process_is_not_its_own_ancestor() {
        let sign = Sign::put_up().unwrap();
        assert!(claim(&[held(std::process::id(), sign.fd())], &Name::new("a").unwrap()).is_none());
    }

    #[test]
    fn a_file_of_an_ancestor_that_is_no_sign_is_no_claim() {
        let parent = std::os::unix::process::parent_id();
        for fd in [-1, 0, 1, 2, 9999] {
            assert!(claim(&[held(parent, fd)], &Name::new("a").unwrap()).is_none());
        }
    }
}
