//! The boot in which leases are valid, and the store's clock.
//!
//! The clock is the time since boot, which also counts while the machine sleeps, plus the distance
//! to the wall clock when the store was first opened in this boot. So all processes agree on it,
//! and setting the wall clock ends no lease.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension};
use seinpaal_proto::time::{Micros, UNBOUNDED};

use super::{small, tables, trouble};
use seinpaal_store::{
    Certainty, StoreError, StoreErrorKind, boottime::now as since_boot, clock::Clock,
};

const MOST_GIVEN_OUT: &str = "SELECT coalesce(max(most), 0) FROM (
    SELECT max(max(fence, wall)) AS most FROM name UNION ALL SELECT max(max(last, wall)) FROM queue)";

/// The store's clock.
#[derive(Clone, Debug)]
pub(super) enum StoreClock {
    /// The time since boot plus this many microseconds.
    Boot(i64),
    /// The clock of a test.
    Given(Clock),
}

impl StoreClock {
    pub(super) fn now(&self) -> Micros {
        match self {
            Self::Boot(offset) => since_boot().saturating_add_signed(*offset),
            Self::Given(clock) => clock.now(),
        }
    }
}

/// Returns the id of this boot, and the time namespace of this process unless it is the first one,
/// where nearly all processes are. Another one may have other clocks, and sees other times at which
/// processes began.
#[cfg(target_os = "linux")]
pub(super) fn boot_id() -> Result<String, StoreError> {
    const FIRST: &str = "time:[4026531834]";
    let path = Path::new("/proc/sys/kernel/random/boot_id");
    let id = std::fs::read_to_string(path).map_err(trouble::at(path))?;
    // Kernels before 5.6 know no time namespaces.
    let namespace = std::fs::read_link("/proc/self/ns/time").ok();
    Ok(match namespace.filter(|namespace| namespace != Path::new(FIRST)) {
        Some(namespace) => format!("{} {}", id.trim(), namespace.display()),
        None => id.trim().to_owned(),
    })
}

/// Refuses a process of another time namespace than those that use the store in this boot. It could
/// not tell who of them lives, and its clock would end their leases.
pub(super) fn refuse_other_times(
    db: &Connection,
    dir: &Path,
    boot: &str,
) -> Result<(), StoreError> {
    let known: rusqlite::Result<Option<String>> =
        db.query_row("SELECT id FROM boot", [], |row| row.get(0)).optional();
    let known = known.map_err(|error| trouble::sql(dir, Certainty::NotExecuted, error))?;
    // The id of the boot comes first.
    match known {
        Some(known) if known != boot && known.split(' ').next() == boot.split(' ').next() => {
            Err(StoreError::new(
                StoreErrorKind::Misconfigured,
                Certainty::NotExecuted,
                format!(
                    "cannot use {}: since this boot it is used from another time namespace, whose \
                 clocks differ; run all its clients in one, choose another directory, or use a server",
                    dir.display()
                ),
            ))
        }
        _ => Ok(()),
    }
}

/// Asks a program of the system, because asking the kernel takes unsafe code.
#[cfg(not(target_os = "linux"))]
pub(super) fn boot_id() -> Result<String, StoreError> {
    let path = Path::new("/usr/sbin/sysctl");
    let asked = std::process::Command::new(path).args(["-n", "kern.bootsessionuuid"]).output();
    let said = String::from_utf8(asked.map_err(trouble::at(path))?.stdout).unwrap_or_default();
    match said.trim() {
        "" => Err(trouble::io(path, std::io::Error::other("it did not say which boot this is"))),
        id => Ok(id.to_owned()),
    }
}

/// Voids the leases that an earlier boot left, in a transaction of its own, and returns the clock
/// of this boot. Call it only inside the gate.
pub(super) fn begin(db: &Connection, boot: &str, clock: Clock) -> rusqlite::Result<StoreClock> {
    let offset = match known_offset(db, boot)? {
        Some(offset) => offset,
        None => begin_boot(db, boot, &clock)?,
    };
    Ok(match clock {
        Clock::System => StoreClock::Boot(offset),
        manual => StoreClock::Given(manual),
    })
}

fn known_offset(db: &Connection, boot: &str) -> rusqlite::Result<Option<i64>> {
    db.query_row("SELECT clock_offset FROM boot WHERE id = ?1", [boot], |row| row.get(0)).optional()
}

/// Begins a new boot: voids all leases and fixes the offset of the store's clock. Returns the
/// offset.
fn begin_boot(db: &Connection, boot: &str, clock: &Clock) -> rusqlite::Result<i64> {
    let tx = db.unchecked_transaction()?;
    // Fences follow this clock, so it does not begin below a fence that was given out.
    let most = small::most_given_out(&tx)?.max(most_given_out_elsewhere(&tx)?);
    let wall = (clock.now() as i64).max(most);
    let offset = wall - since_boot() as i64;
    void_leases(&tx)?;
    tx.execute("DELETE FROM boot", [])?;
    // The clearing away of the dead counts as done at this moment, because nobody holds anything.
    tx.execute("INSERT INTO boot VALUES (?1, ?2, ?3)", (boot, offset, wall))?;
    tx.commit()?;
    Ok(offset)
}

fn most_given_out_elsewhere(db: &Connection) -> rusqlite::Result<i64> {
    match tables::are_all_there(db)? {
        true => db.query_row(MOST_GIVEN_OUT, [], |row| row.get(0)),
        false => Ok(0),
    }
}

/// Ends all leases, because no process outlives its boot. Settings that an operator made stay, and
/// so do the items of queues. Items that were in work have no worker now, and the ledger returns
/// them when it next looks. The last fences may go with their names, and the last numbers with
/// their queues, because the clock begins above them.
fn void_leases(db: &Connection) -> rusqlite::Result<()> {
    small::void(db)?;
    if !tables::are_all_there(db)? {
        return Ok(());
    }
    db.execute_batch(&format!(
        "DELETE FROM lease; DELETE FROM entry; DELETE FROM free; DELETE FROM memory;
         DELETE FROM name WHERE pinned IS NULL AND paused IS NULL;
         UPDATE name SET held = 0, holders = 0, waiting = 0, past = 0, top = 0, bound = {UNBOUNDED};
         DELETE FROM place; DELETE FROM session;
         DELETE FROM queue WHERE ready = 0 AND delayed = 0 AND in_work = 0 AND dead = 0 AND keys = 0
             AND cap IS NULL AND group_cap IS NULL AND paused IS NULL;
         UPDATE queue SET idle = 0, called = 0, wanted = 0, sessions = 0, watch = NULL;
         UPDATE item SET worker = zeroblob(16), ends = 0, ends_wall = 0 WHERE worker IS NOT NULL;"
    ))
}
