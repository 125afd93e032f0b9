//! The bell by which callers wake the thread of a store.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::io::{read, write};

/// The bell. On systems without `eventfd` it is a pair of sockets: bytes written to one end are
/// read at the other.
#[derive(Debug)]
pub(super) struct Bell {
    heard: OwnedFd,
    #[cfg(not(target_os = "linux"))]
    rung: OwnedFd,
}

impl Bell {
    #[cfg(target_os = "linux")]
    pub(super) fn new() -> io::Result<Self> {
        use rustix::event::{EventfdFlags, eventfd};

        Ok(Self { heard: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)? })
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn new() -> io::Result<Self> {
        let (heard, rung) = std::os::unix::net::UnixDatagram::pair()?;
        heard.set_nonblocking(true)?;
        rung.set_nonblocking(true)?;
        Ok(Self { heard: heard.into(), rung: rung.into() })
    }

    /// Rings the bell, without waiting. If this fails, the bell has been rung very often and not
    /// been heard, so it will be heard anyway.
    pub(super) fn ring(&self) {
        #[cfg(target_os = "linux")]
        let end = &self.heard;
        #[cfg(not(target_os = "linux"))]
        let end = &self.rung;
        let _ = write(end, &1_u64.to_ne_bytes());
    }

    /// Silences the bell until it is rung again.
    pub(super) fn hear(&self) {
        // An `eventfd` is read once, and a pair until no bytes are left.
        while read(&self.heard, &mut [0; 8]).is_ok() && cfg!(not(target_os = "linux")) {}
    }
}

/// The descriptor that `poll` finds readable once the bell was rung.
impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.heard.as_fd()
    }
}
