//! The file systems that are refused, because on them another machine could hold a permit that the
//! kernel of this one takes for free.

use std::{fs, io, os::fd::BorrowedFd};

use rustix::fs::fstatfs;
#[cfg(target_os = "linux")]
use rustix::fs::{fstat, major, minor};

/// `statfs` magic numbers of network file systems.
#[cfg(any(target_os = "linux", test))]
const NETWORK: [(u64, &str); 13] = [
    (0x6969, "nfs"),
    (0x517b, "smb"),
    (0xfe53_4d42, "smb2"),
    (0xff53_4d42, "cifs"),
    (0x5346_414f, "afs"),
    (0x6b41_4653, "kafs"),
    (0x7375_7245, "coda"),
    (0x00c3_6400, "ceph"),
    (0x0bd0_0bd0, "lustre"),
    (0x4750_4653, "gpfs"),
    (0x0102_1997, "9p"),
    (0x564c, "ncp"),
    (0x0116_1970, "gfs2"),
];
#[cfg(any(target_os = "linux", test))]
const FUSE: u64 = 0x6573_5546;
/// FUSE file systems whose files live on this machine.
#[cfg(any(target_os = "linux", test))]
const LOCAL_FUSE: [&str; 10] = [
    "fuseblk",
    "fuse.fuse-overlayfs",
    "fuse.overlayfs",
    "fuse.mergerfs",
    "fuse.unionfs",
    "fuse.bindfs",
    "fuse.ntfs-3g",
    "fuse.exfat",
    "fuse.gocryptfs",
    "fuse.encfs",
];

/// Returns the name of the network file system that a directory is on, if it is on one.
#[cfg(not(target_os = "linux"))]
pub(super) fn network_file_system(dir: BorrowedFd<'_>) -> io::Result<Option<String>> {
    /// `MNT_LOCAL`: the file system keeps its files on this machine.
    const LOCAL: u32 = 0x1000;
    let is_local = fstatfs(dir)?.f_flags & LOCAL != 0;
    Ok((!is_local).then(|| "not a local one".to_owned()))
}

/// Returns the name of the network file system that a directory is on, if it is on one.
#[cfg(target_os = "linux")]
pub(super) fn network_file_system(dir: BorrowedFd<'_>) -> io::Result<Option<String>> {
    let magic = fstatfs(dir)?.f_type as u64 & 0xffff_ffff;
    if magic != FUSE {
        return Ok(refused(magic, None));
    }
    let device = fstat(dir)?.st_dev;
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    Ok(refused(magic, type_of(&mounts, &format!("{}:{}", major(device), minor(device)))))
}

/// Returns the name of a file system that is refused. A FUSE that is not known to be local may be
/// anything, so it is refused.
#[cfg(any(target_os = "linux", test))]
fn refused(magic: u64, fuse: Option<&str>) -> Option<String> {
    if magic == FUSE {
        let fuse = fuse.unwrap_or("fuse");
        return (!LOCAL_FUSE.contains(&fuse)).then(|| fuse.to_owned());
    }
    NETWORK.iter().find(|(known, _)| *known == magic).map(|(_, name)| (*name).to_owned())
}

/// Returns the type of the file system that a file is on; `None` if it cannot be found out.
#[cfg(target_os = "linux")]
pub(super) fn file_system(file: &fs::Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt;

    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let device = file.dev();
    type_of(&mounts, &format!("{}:{}", major(device), minor(device))).map(str::to_owned)
}

/// Returns `None`, on systems that cannot be asked.
#[cfg(not(target_os = "linux"))]
pub(super) fn file_system(_file: &fs::Metadata) -> Option<String> {
    None
}

/// Returns the file system type of a device from the text of `mountinfo`.
#[cfg(any(target_os = "linux", test))]
fn type_of<'a>(mounts: &'a str, device: &str) -> Option<&'a str> {
    let line = mounts.lines().find(|line| line.split(' ').nth(2) == Some(device))?;
    line.split_once(" - ")?.1.split(' ').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "36 35 0:44 / /mnt rw,noatime shared:1 - fuse.sshfs me@far:/ rw\n\
                          37 35 0:45 / /tmp/x rw - fuseblk /dev/sdb1 rw\n";

    #[test]
    fn a_fuse_is_judged_by_what_mountinfo_calls_it() {
        assert_eq!(refused(FUSE, type_of(MOUNTS, "0:44")), Some("fuse.sshfs".to_owned()));
        assert_eq!(refused(FUSE, type_of(MOUNTS, "0:45")), None);
        assert_eq!(refused(FUSE, type_of(MOUNTS, "0:46")), Some("fuse".to_owned()));
    }

    #[test]
    fn network_file_systems_are_refused_and_local_ones_are_not() {
        assert_eq!(refused(0x6969, None).as_deref(), Some("nfs"));
        assert_eq!(refused(0xff53_4d42, None).as_deref(), Some("cifs"));
        assert_eq!(refused(0xef53, None), None, "ext4");
        assert_eq!(refused(0x0102_1994, None), None, "tmpfs");
    }
}
