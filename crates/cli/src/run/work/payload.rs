//! The payload as a file that CMD reads.

use std::{
    fs::File,
    io::{self, Seek, Write},
};

/// Makes a file without a name that contains the payload. A pipe would not do: if we were killed,
/// CMD would take the part that had arrived for the whole payload.
pub(super) fn file(payload: &[u8]) -> io::Result<File> {
    let mut file = nameless()?;
    file.write_all(payload)?;
    file.rewind()?;
    Ok(file)
}

#[cfg(target_os = "linux")]
fn nameless() -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};

    Ok(memfd_create("payload", MemfdFlags::CLOEXEC)?.into())
}

#[cfg(not(target_os = "linux"))]
fn nameless() -> io::Result<File> {
    use std::{
        fs::{self, OpenOptions},
        os::unix::fs::OpenOptionsExt,
        process,
        sync::atomic::{AtomicU64, Ordering},
    };

    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("seinpaal-{}-{number}", process::id()));
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}
