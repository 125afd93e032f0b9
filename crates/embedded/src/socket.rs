//! Sockets that have a name in the directory: their paths, and the rights of their names.

use std::{io, path::PathBuf};

use rustix::fs::{AtFlags, chmodat};

use super::directory::Directory;

/// Returns the path of a socket. It has at most 108 bytes, and the path of the directory may be
/// longer, so the directory is named by its descriptor.
#[cfg(target_os = "linux")]
pub(super) fn path(dir: &Directory, file: &str) -> PathBuf {
    use std::os::fd::AsRawFd;

    PathBuf::from(format!("/proc/self/fd/{}/{file}", dir.fd().as_raw_fd()))
}

/// Returns the path of a socket. It has at most 104 bytes here, and there is no other way to the
/// file.
#[cfg(not(target_os = "linux"))]
pub(super) fn path(dir: &Directory, file: &str) -> PathBuf {
    dir.join(file)
}

/// Gives the name of a socket the rights that it should have, whatever the umask is.
pub(super) fn let_in(dir: &Directory, file: &str) -> io::Result<()> {
    if dir.rights().is_private() {
        // Nobody else can put a link in its place.
        return Ok(chmodat(dir.fd(), file, dir.rights().file_mode(), AtFlags::empty())?);
    }
    let_others_in(dir, file)?;
    dir.rights().bestow_group(dir.fd(), file);
    Ok(())
}

/// Changes the rights by a descriptor of the name, so that nobody can put a link in its place
/// meanwhile.
#[cfg(target_os = "linux")]
fn let_others_in(dir: &Directory, file: &str) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    use rustix::fs::{FileType, Mode, OFlags, chmod, fstat, openat};

    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let name = openat(dir.fd(), file, flags, Mode::empty())?;
    if FileType::from_raw_mode(fstat(&name)?.st_mode) != FileType::Socket {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(chmod(format!("/proc/self/fd/{}", name.as_raw_fd()), dir.rights().file_mode())?)
}

#[cfg(not(target_os = "linux"))]
fn let_others_in(dir: &Directory, file: &str) -> io::Result<()> {
    Ok(chmodat(dir.fd(), file, dir.rights().file_mode(), AtFlags::SYMLINK_NOFOLLOW)?)
}
