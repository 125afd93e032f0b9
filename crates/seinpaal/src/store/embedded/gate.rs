//! The gate: one client at a time is inside a call, in the order of the kernel's queue.
//!
//! SQLite alone would do for what is true, but it sleeps and tries again, so some processes starve.

use std::{os::fd::OwnedFd, path::PathBuf};

use seinpaal_proto::planted::{Bug, planted};

use rustix::{
    fs::{FlockOperation, flock, fstat},
    io::retry_on_intr,
};

use super::{directory::Directory, trouble};
use crate::store::{Certainty, StoreError, StoreErrorKind};

#[derive(Debug)]
pub(super) struct Gate {
    fd: OwnedFd,
    dir: PathBuf,
}

/// Being inside; leaves when dropped.
#[derive(Debug)]
pub(super) struct Inside<'a>(&'a Gate);

impl Gate {
    pub(super) fn open(dir: &Directory, unique: &str) -> Result<Self, StoreError> {
        Ok(Self { fd: dir.file("gate", unique)?, dir: dir.path.clone() })
    }

    /// Waits for those before us. A process stopped inside holds up everybody until it goes on.
    pub(super) fn enter(&self) -> Result<Inside<'_>, StoreError> {
        if planted(Bug::EmbeddedStepNotWhole) {
            return Ok(Inside(self));
        }
        retry_on_intr(|| flock(&self.fd, FlockOperation::LockExclusive))
            .map_err(trouble::at(&self.dir))?;
        let inside = Inside(self);
        if fstat(&self.fd).is_ok_and(|gate| gate.st_nlink == 0) {
            return Err(self.deleted());
        }
        Ok(inside)
    }

    /// Newcomers would meet at another gate, and hold what is held here.
    fn deleted(&self) -> StoreError {
        let message = format!(
            "{} was deleted while it was in use; start this program again",
            self.dir.display()
        );
        StoreError::new(StoreErrorKind::Misconfigured, Certainty::NotExecuted, message)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        // Unlocked and not closed: a process forked just now may have a copy of the descriptor.
        let _ = retry_on_intr(|| flock(&self.0.fd, FlockOperation::Unlock));
    }
}
