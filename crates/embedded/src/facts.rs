//! Facts about the directory, for people: its path, its disk and its owner.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
};

use rustix::fs::statvfs;

use super::network::file_system;
use seinpaal_store::{Advice, Fact};

/// The least free space without advice. The log grows to half of this before writers wait for the
/// disk, and SQLite may copy it.
const LEAST_ROOM: u64 = 64 << 20;
const MIB: u64 = 1 << 20;
/// The bit of a mode that lets every user write.
const OTHERS_WRITE: u32 = 0o002;

/// Returns the facts about a directory. A fact that cannot be found out is missing.
pub(super) fn of(dir: &Path) -> Vec<Fact> {
    let meta = fs::metadata(dir).ok();
    let rights = meta.as_ref().map(|meta| {
        let mode = meta.permissions().mode() & 0o7777;
        format!("{mode:04o}, owner {}, group {}", meta.uid(), meta.gid())
    });
    let system = meta.as_ref().and_then(file_system);
    let room = room(dir).map(|room| format!("{} MiB free", room / MIB));
    [
        Some(Fact::new("directory", dir.display().to_string())),
        system.map(|system| Fact::new("file system", system)),
        rights.map(|rights| Fact::new("rights", rights)),
        room.map(|room| Fact::new("disk room", room)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns advice about a directory.
pub(super) fn advice(dir: &Path) -> Vec<Advice> {
    let mode = fs::metadata(dir).ok().map(|meta| meta.permissions().mode());
    let room = room(dir).and_then(too_little);
    room.into_iter().chain(mode.and_then(open_to_all)).collect()
}

fn open_to_all(mode: u32) -> Option<Advice> {
    (mode & OTHERS_WRITE != 0).then(|| {
        Advice::risk(format!(
            "every user of this machine may change or delete what is stored here (mode {:04o}): run `chmod o-w` on it, \
             and share it by a group",
            mode & 0o7777
        ))
    })
}

fn too_little(room: u64) -> Option<Advice> {
    (room < LEAST_ROOM).then(|| {
        Advice::risk(format!(
            "its disk has {} MiB free, and a full one lets nobody in: free {} MiB or more",
            room / MIB,
            LEAST_ROOM / MIB
        ))
    })
}

fn room(dir: &Path) -> Option<u64> {
    let disk = statvfs(dir).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_nearly_full_is_a_risk() {
        assert!(too_little(LEAST_ROOM - 1).unwrap().is_risk);
        assert_eq!(too_little(LEAST_ROOM), None);
    }
}
