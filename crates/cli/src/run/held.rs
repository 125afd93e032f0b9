//! The permits that the runs around a CMD hold: the variable that lists them, and which of them
//! still count.

use std::{env, fs, os::fd::RawFd};

use seinpaal::{Fence, MOST_READERS, Name, Permit, Slots, Ticket};
use serde::{Deserialize, Serialize};

use super::sign::Sight;
use crate::args::EntryArgs;

/// The variable in CMD's environment.
pub(super) const VARIABLE: &str = "SEINPAAL_HELD";

/// Permits that CMD runs under, its own run's or an ancestor's.
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

/// As which kind of lock a name is held.
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

    /// How many permits it takes to hold the name so.
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
    /// For people. A run inside asks its own store whether the ticket holds there, and so learns
    /// whether it is the same store.
    pub(super) store: String,
    pub(super) name: String,
    pub(super) kind: HeldAs,
    pub(super) permits: u32,
    pub(super) ticket: String,
    /// The `run` that holds it.
    pub(super) pid: u32,
    /// The [sign](super::sign), as it numbers its descriptors.
    pub(super) fd: RawFd,
}

/// The permits that the environment lists for the runs around this one. A value that cannot be read
/// is ignored.
pub(super) fn around_us() -> Vec<HeldName> {
    let text = env::var(VARIABLE).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// The variable's value for the permits that are held around CMD.
pub(super) fn variable(held: &[HeldName]) -> String {
    // Only a map whose keys are no text cannot be written, and there is none here.
    serde_json::to_string(held).unwrap_or_default()
}

/// A `run` around us that says it holds a name, before the store was asked.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) ticket: Ticket,
    pub(super) pid: u32,
    /// The CMD of that run, which is an ancestor of this process, or this process itself.
    pub(super) cmd: u32,
    pub(super) sight: Sight,
}

/// The innermost run around us that claims to hold `name` and lets us in.
pub(super) fn claim(held: &[HeldName], name: &Name) -> Option<Claim> {
    if held.is_empty() {
        return None;
    }
    let lineage = lineage();
    held.iter().rev().filter(|held| held.name == name.as_str()).find_map(|held| {
        // Counted without ourselves, so in the whole lineage this is the place of its child.
        let at = lineage.iter().skip(1).position(|pid| *pid == held.pid)?;
        let sight = Sight::open(held.pid, held.fd)?;
        Some(Claim { ticket: held.ticket.parse().ok()?, pid: held.pid, cmd: lineage[at], sight })
    })
}

/// Our process, its parent, and so on.
fn lineage() -> Vec<u32> {
    std::iter::successors(Some(std::process::id()), |pid| parent(*pid)).collect()
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program stands in parentheses, and may have some in it.
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
