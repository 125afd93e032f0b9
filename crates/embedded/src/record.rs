//! The record of two processes that a child completes by itself, between fork and exec. What runs there must not
//! allocate or lock: another thread of the parent may have been at it when the child was forked.

use std::{
    ffi::CString,
    fs::File,
    io::{self, Write},
    os::fd::OwnedFd,
    path::PathBuf,
    str,
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, open, renameat, unlinkat},
    io::{Errno, read},
    process::getpid,
};

use super::trouble;
use seinpaal_store::{SignedByChild, StoreError};

/// More than the kernel says of a process in one line: some fifty numbers.
const MOST_STAT: usize = 2048;
/// More than two numbers, a space and a line's end.
const MOST_LINE: usize = 64;

/// A record that names the parent only, under a name of its own.
#[derive(Debug)]
pub(super) struct Draft {
    dir: OwnedFd,
    text: File,
    draft: CString,
    record: CString,
    path: PathBuf,
}

impl Draft {
    pub(super) fn new(
        dir: OwnedFd,
        text: File,
        draft: &str,
        record: &str,
        path: PathBuf,
    ) -> io::Result<Self> {
        Ok(Self { dir, text, draft: CString::new(draft)?, record: CString::new(record)?, path })
    }
}

impl SignedByChild for Draft {
    fn sign(&self) -> io::Result<()> {
        let mut line = [0; MOST_LINE];
        let mut left = &mut line[..];
        writeln!(left, "{} {}", getpid().as_raw_nonzero(), started_here()?)?;
        let length = MOST_LINE - left.len();
        (&self.text).write_all(&line[..length])?;
        Ok(renameat(&self.dir, &*self.draft, &self.dir, &*self.record)?)
    }

    fn finish(&self) -> Result<(), StoreError> {
        match unlinkat(&self.dir, &*self.draft, AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(trouble::at(&self.path)(error)),
            Ok(()) => {
                let error = io::Error::other("the command could not put itself on record");
                Err(trouble::at(&self.path)(error))
            }
        }
    }
}

/// When this process started.
fn started_here() -> io::Result<u64> {
    let mut stat = [0; MOST_STAT];
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = open(c"/proc/self/stat", flags, Mode::empty())?;
    let length = read(&file, &mut stat)?;
    started_by(&stat[..length])
}

/// When the process of this line of `/proc` started, in ticks since boot; 0 once it is dead and not reaped.
pub(super) fn started_by(stat: &[u8]) -> io::Result<u64> {
    // The name of the program stands in parentheses and may have anything in it.
    let after_name = stat.iter().rposition(|byte| *byte == b')').map_or(stat.len(), |at| at + 1);
    let rest = str::from_utf8(&stat[after_name..]).unwrap_or_default();
    let mut fields = rest.split_ascii_whitespace();
    if matches!(fields.next(), Some("Z" | "X")) {
        return Ok(0);
    }
    let ticks = fields.nth(18).and_then(|ticks| ticks.parse().ok());
    ticks.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_reads_of_itself_what_others_read_of_it() {
        let by_number = std::fs::read(format!("/proc/{}/stat", std::process::id())).unwrap();
        assert_eq!(started_here().unwrap(), started_by(&by_number).unwrap());
    }

    #[test]
    fn the_name_of_a_program_may_look_like_the_fields_after_it() {
        let stat = b"7 (a) Z 1) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20 21";
        assert_eq!(started_by(stat).unwrap(), 4242);
        assert_eq!(started_by(b"7 (gone) Z 1 2").unwrap(), 0);
    }
}
