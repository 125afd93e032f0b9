//! The owner of a store directory, and the users who may use its files.
//!
//! | the directory may be written by | its files can be written by | used by |
//! |---|---|---|
//! | its owner alone | its owner | its owner; if that is root, everybody whom the rights allow |
//! | its owner and a group | that group | the owner, the members of the group, and root |
//! | everybody | everybody | everybody, if it belongs to root; or else as in the row above |
//!
//! A directory that a stranger made where everybody can make files (`/tmp`) is never used.

use std::{io, os::fd::AsFd};

use rustix::{
    fs::{self as rfs, AtFlags, FileType, Gid, Mode, RawMode, Stat, Uid},
    process::{getegid, geteuid, getgroups},
};

const BY_GROUP: RawMode = 0o020;
const BY_ALL: RawMode = 0o002;
const SET_GROUP: RawMode = 0o2000;
const STICKY: RawMode = 0o1000;

/// The rights to the files of a directory.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Rights {
    /// The user of this process.
    user: u32,
    owner: u32,
    group: u32,
    mode: RawMode,
}

/// The reason why a directory or a file in it is not used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stranger {
    /// It belongs to this user, and nothing shows that it was meant for us.
    Owner(u32),
    /// It is meant for a group that we are not in.
    Group(u32),
    /// It belongs to this user and lies in a directory in which everybody can make files.
    InPublic(u32),
    /// It is of the wrong kind: a symbolic link, a device, or a directory in place of a file.
    Kind,
}

impl Rights {
    pub(super) fn of(dir: &Stat) -> Self {
        let user = geteuid().as_raw();
        Self { user, owner: dir.st_uid, group: dir.st_gid, mode: dir.st_mode }
    }

    /// Returns whether only the owner can write the files in the directory.
    pub(super) fn is_private(self) -> bool {
        self.mode & (BY_GROUP | BY_ALL) == 0
    }

    /// Returns the rights of a file: to read and write, for the users who may write the directory.
    pub(super) fn file_mode(self) -> Mode {
        let group = if self.mode & BY_GROUP > 0 { 0o060 } else { 0 };
        let all = if self.mode & BY_ALL > 0 { 0o066 } else { 0 };
        Mode::from_raw_mode(0o600 | group | all)
    }

    /// Returns the rights of the file by which a client shows that it lives. Others may only read
    /// it, so that its owner alone says which processes count.
    pub(super) fn sign_mode(self) -> Mode {
        self.file_mode().difference(Mode::WGRP | Mode::WOTH)
    }

    /// Returns the rights of a folder. New files in it get the group of the folder. If everybody
    /// may write to it, each user can remove only their own files.
    pub(super) fn folder_mode(self) -> Mode {
        let group = if self.mode & BY_GROUP > 0 { 0o070 | SET_GROUP } else { 0 };
        let all = if self.mode & BY_ALL > 0 { 0o077 | STICKY } else { 0 };
        Mode::from_raw_mode(0o700 | group | all)
    }

    /// Returns the group that shares the directory, if one does.
    pub(super) fn sharing_group(self) -> Option<Gid> {
        (self.mode & BY_GROUP > 0).then(|| Gid::from_raw(self.group))
    }

    /// Returns whether this process may use the directory.
    pub(super) fn check(self, parent: &Stat) -> Result<(), Stranger> {
        self.check_for(self.user, parent.st_mode, || is_member(self.group))
    }

    /// Returns whether `user` may use the directory. A directory of another user must be shared
    /// with a group, and must not lie where everybody can make files.
    fn check_for(
        self,
        user: u32,
        parent: RawMode,
        is_member: impl FnOnce() -> bool,
    ) -> Result<(), Stranger> {
        if self.owner == user || self.owner == 0 {
            return Ok(());
        }
        if parent & BY_ALL > 0 {
            return Err(Stranger::InPublic(self.owner));
        }
        match self.mode & BY_GROUP {
            0 => Err(Stranger::Owner(self.owner)),
            _ if user == 0 || is_member() => Ok(()),
            _ => Err(Stranger::Group(self.group)),
        }
    }

    /// Returns whether a file or folder in the directory may be used. Only users who may write the
    /// directory can have put it there, unless the directory belonged to another user before.
    pub(super) fn check_file(self, file: &Stat, kind: FileType) -> Result<(), Stranger> {
        if FileType::from_raw_mode(file.st_mode) != kind {
            return Err(Stranger::Kind);
        }
        let owners = [self.user, self.owner, 0];
        let is_known = owners.contains(&file.st_uid) || !self.is_private();
        if is_known { Ok(()) } else { Err(Stranger::Owner(file.st_uid)) }
    }

    /// Gives an open file that is ours the rights and the group that it should have. In this way
    /// the owner of a file corrects the rights that an older version or another umask gave it.
    pub(super) fn bestow(self, fd: impl AsFd, mode: Mode) -> io::Result<()> {
        let file = rfs::fstat(&fd)?;
        if file.st_uid != self.user {
            return Ok(());
        }
        if let Some(group) = self.sharing_group().filter(|group| group.as_raw() != file.st_gid) {
            // The kernel refuses this to an owner who is not in the group. Then only setgid lets
            // the group in.
            let _ = rfs::fchown(&fd, None::<Uid>, Some(group));
        }
        if Mode::from_raw_mode(file.st_mode) != mode {
            rfs::fchmod(&fd, mode)?;
        }
        Ok(())
    }

    /// Gives a file that must not be opened its group. Call it only inside the gate.
    pub(super) fn bestow_group(self, dir: impl AsFd, name: &str) {
        let Some(group) = self.sharing_group() else { return };
        let Ok(file) = rfs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) else { return };
        if file.st_gid != group.as_raw() && file.st_uid == self.user {
            // The kernel may refuse this, as in `bestow`.
            let flags = AtFlags::SYMLINK_NOFOLLOW;
            let _ = rfs::chownat(&dir, name, None::<Uid>, Some(group), flags);
        }
    }
}

fn is_member(group: u32) -> bool {
    getegid().as_raw() == group
        || getgroups().is_ok_and(|groups| groups.iter().any(|gid| gid.as_raw() == group))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALICE: u32 = 1000;
    const BOB: u32 = 1001;

    fn rights(owner: u32, mode: RawMode) -> Rights {
        Rights { user: ALICE, owner, group: 50, mode }
    }

    #[test]
    fn a_directory_is_used_by_its_owner_its_group_and_where_root_says_so() {
        let check = |owner, mode, user, parent, member| {
            rights(owner, mode).check_for(user, parent, || member)
        };
        assert_eq!(check(ALICE, 0o700, ALICE, 0o1777, false), Ok(()));
        assert_eq!(
            check(0, 0o1777, BOB, 0o1777, false),
            Ok(()),
            "root made the directory for everybody"
        );
        assert_eq!(check(ALICE, 0o2770, BOB, 0o755, true), Ok(()));
        assert_eq!(check(ALICE, 0o2770, BOB, 0o755, false), Err(Stranger::Group(50)));
        assert_eq!(check(ALICE, 0o755, BOB, 0o755, true), Err(Stranger::Owner(ALICE)));
        assert_eq!(check(ALICE, 0o700, 0, 0o755, false), Err(Stranger::Owner(ALICE)), "nor root");
        for mode in [0o700, 0o755, 0o2770, 0o777, 0o1777] {
            let said = check(ALICE, mode, BOB, 0o1777, true);
            assert_eq!(said, Err(Stranger::InPublic(ALICE)), "{mode:o}");
            assert_eq!(check(ALICE, mode, 0, 0o1777, true), said, "nor root");
        }
    }

    #[test]
    fn files_are_writable_by_writers_of_the_directory_and_by_nobody_else() {
        let modes = |mode| {
            let rights = rights(ALICE, mode);
            (rights.file_mode().as_raw_mode(), rights.folder_mode().as_raw_mode())
        };
        for private in [0o700, 0o755, 0o711, 0o2755] {
            assert_eq!(modes(private), (0o600, 0o700), "{private:o}");
        }
        for shared in [0o770, 0o2770, 0o775] {
            assert_eq!(modes(shared), (0o660, 0o2770), "{shared:o}");
        }
        for public in [0o777, 0o1777] {
            assert_eq!(modes(public), (0o666, 0o3777), "{public:o}");
        }
    }
}
