//! The record of the two processes that count if a child has inherited the presence of its parent:
//! the parent and that child. Without a record, every process that has inherited the presence
//! counts.
//!
//! The record is one line in the file that the client keeps locked: the pid namespace, and for each
//! of the two processes its id and its start time. A line without its end does not count, so half a
//! line does no harm. The child can complete the line by itself between fork and exec. Code that
//! runs there must not allocate or lock, since another thread of the parent may have been doing so
//! when the child was forked.

use std::{
    fs::{self, File},
    io::{self, Write},
    os::unix::fs::{FileExt, MetadataExt},
    path::PathBuf,
    process, str,
    sync::Arc,
};

use rustix::{
    fs::{Mode, OFlags, open},
    io::{Errno, pwrite, read},
    path::Arg,
    process::{Pid, getpid, test_kill_process},
};

use super::trouble;
use seinpaal_store::{SignedByChild, StoreError};

/// The room for a line of the kernel about a process, which has some fifty numbers.
const MOST_STAT: usize = 2048;
/// The room for a record. Every record is shorter.
const MOST_RECORD: usize = 256;
/// The room for two numbers, a space and a line's end.
const MOST_LINE: usize = 64;

/// Returns whether both processes on record in a file are gone. `false` also if there is no record,
/// or if it is of another pid namespace.
pub(super) fn are_processes_gone(file: &File) -> bool {
    on_record(file).is_some_and(|processes| processes.into_iter().all(is_process_gone))
}

/// Returns whether one of the processes on record in a file lives. `false` also if there is no
/// record, or if it is of another pid namespace.
pub(super) fn is_anybody_there(file: &File) -> bool {
    on_record(file).is_some_and(|processes| !processes.into_iter().all(is_process_gone))
}

fn on_record(file: &File) -> Option<[StartedProcess; 2]> {
    let mut bytes = [0; MOST_RECORD];
    let length = file.read_at(&mut bytes, 0).ok()?;
    read_record(str::from_utf8(&bytes[..length]).ok()?)
}

/// Records this process and a child. Does nothing on systems where processes cannot be seen.
pub(super) fn write(file: &File, child: u32) -> io::Result<()> {
    let (Some(begin), Ok(its)) = (record_of_parent(), started(child)) else { return Ok(()) };
    replace(file, &format!("{begin}{child} {its}\n"))
}

/// Erases the record.
pub(super) fn erase(file: &File) -> io::Result<()> {
    file.set_len(0)
}

/// Replaces the record. Between the two steps there is no record, which is safe.
fn replace(file: &File, record: &str) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all_at(record.as_bytes(), 0)
}

/// A record that names the parent only.
#[derive(Debug)]
pub(super) struct RecordDraft {
    file: Arc<File>,
    length: u64,
    path: PathBuf,
}

impl RecordDraft {
    /// Begins a record. `None` if processes cannot be seen.
    pub(super) fn begin(file: &Arc<File>, path: PathBuf) -> io::Result<Option<Self>> {
        let Some(record) = record_of_parent() else { return Ok(None) };
        replace(file, &record)?;
        Ok(Some(Self { file: Arc::clone(file), length: record.len() as u64, path }))
    }
}

impl SignedByChild for RecordDraft {
    fn sign(&self) -> io::Result<()> {
        let mut line = [0; MOST_LINE];
        let mut left = &mut line[..];
        writeln!(left, "{} {}", getpid().as_raw_nonzero(), started_here()?)?;
        let length = MOST_LINE - left.len();
        match pwrite(&*self.file, &line[..length], self.length)? {
            written if written == length => Ok(()),
            _ => Err(Errno::IO.into()),
        }
    }

    fn finish(&self) -> Result<(), StoreError> {
        match self.file.metadata() {
            Ok(file) if file.size() > self.length => Ok(()),
            Err(error) => Err(trouble::at(&self.path)(error)),
            Ok(_) => {
                let error = io::Error::other("the command could not put itself on record");
                Err(trouble::at(&self.path)(error))
            }
        }
    }
}

/// A process and the time of its start.
type StartedProcess = (u32, u64);

/// Reads the two processes of a record, if they can be seen from here.
fn read_record(text: &str) -> Option<[StartedProcess; 2]> {
    let mut words = text.strip_suffix('\n')?.split(' ');
    let namespace: u64 = words.next()?.parse().ok()?;
    let mut process = || Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?));
    let processes = [process()?, process()?];
    let is_all = words.next().is_none();
    (is_all && pid_namespace() == Some(namespace)).then_some(processes)
}

/// Returns the beginning of a record, which the parent writes.
fn record_of_parent() -> Option<String> {
    let me = process::id();
    let mine = started(me).ok()?;
    Some(format!("{} {me} {mine} ", pid_namespace()?))
}

/// Returns the pid namespace of this process. `None` if `/proc` shows another namespace than ours,
/// because its numbers mean nothing then. `None`, too, if there is no `/proc`.
pub(super) fn pid_namespace() -> Option<u64> {
    let me = fs::read_link("/proc/self").ok()?;
    if me.to_str()?.parse() != Ok(process::id()) {
        return None;
    }
    Some(fs::metadata("/proc/self/ns/pid").ok()?.ino())
}

/// Returns whether a process is gone. Its number may be in use again by another process, so the
/// time of its start counts too. A process that only waits to be reaped is gone. A process whose
/// main thread has ended lives on in its other threads.
fn is_process_gone((pid, began): StartedProcess) -> bool {
    let Some(id) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    if test_kill_process(id) == Err(Errno::SRCH) {
        return true;
    }
    started(pid).is_ok_and(|start| start != began)
}

/// Returns when a process started, in ticks since boot; 0 once all its threads have ended and it is
/// not reaped.
fn started(pid: u32) -> io::Result<u64> {
    read_start(format!("/proc/{pid}/stat"))
}

/// Returns when this process started.
fn started_here() -> io::Result<u64> {
    read_start(c"/proc/self/stat")
}

fn read_start(stat: impl Arg) -> io::Result<u64> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = open(stat, flags, Mode::empty())?;
    let mut stat = [0; MOST_STAT];
    let length = read(&file, &mut stat)?;
    started_by(&stat[..length])
}

/// Returns when the process of this line of `/proc` started, in ticks since boot; 0 once all its
/// threads have ended and it is not reaped.
fn started_by(stat: &[u8]) -> io::Result<u64> {
    // The name of the program stands in parentheses and may have anything in it.
    let after_name = stat.iter().rposition(|byte| *byte == b')').map_or(stat.len(), |at| at + 1);
    let rest = str::from_utf8(&stat[after_name..]).unwrap_or_default();
    let mut fields = rest.split_ascii_whitespace();
    // The state is that of the main thread, which may end before the others. It is counted as a
    // thread until it is reaped.
    let has_ended = matches!(fields.next(), Some("Z" | "X"));
    let mut number_at = |at| fields.nth(at).and_then(|number| number.parse().ok());
    let threads: Option<u64> = number_at(16);
    let ticks = number_at(1);
    match (threads, ticks) {
        (Some(0 | 1), Some(_)) if has_ended => Ok(0),
        (Some(_), Some(ticks)) => Ok(ticks),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_reads_of_itself_what_others_read_of_it() {
        assert_eq!(started_here().unwrap(), started(process::id()).unwrap());
    }

    #[test]
    fn the_name_of_a_program_may_look_like_the_fields_after_it() {
        let stat = b"7 (a) Z 1) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20 21";
        assert_eq!(started_by(stat).unwrap(), 4242);
    }

    #[test]
    fn a_process_is_gone_when_its_last_thread_has_ended_and_not_with_the_first() {
        let stat = |threads: u32| {
            format!("7 (a) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 {threads} 18 4242 20 21")
        };
        assert_eq!(started_by(stat(2).as_bytes()).unwrap(), 4242);
        assert_eq!(started_by(stat(1).as_bytes()).unwrap(), 0);
        assert_eq!(started_by(stat(0).as_bytes()).unwrap(), 0);
        assert!(started_by(b"7 (half a line) Z 1 2").is_err());
    }

    #[test]
    fn a_record_counts_once_it_is_whole() {
        let file = Arc::new(tempfile::tempfile().unwrap());
        let draft = RecordDraft::begin(&file, PathBuf::from("it")).unwrap().unwrap();
        assert!(draft.finish().is_err(), "nobody has signed");
        draft.sign().unwrap();
        draft.finish().unwrap();
        let mut text = vec![0; file.metadata().unwrap().size() as usize];
        file.read_exact_at(&mut text, 0).unwrap();
        let text = str::from_utf8(&text).unwrap();
        let me = (process::id(), started(process::id()).unwrap());
        assert_eq!(read_record(text), Some([me, me]));
        (0..text.len()).for_each(|length| assert_eq!(read_record(&text[..length]), None));
    }

    #[test]
    fn the_dead_on_record_are_gone_and_this_process_is_not() {
        let file = tempfile::tempfile().unwrap();
        write(&file, process::id()).unwrap();
        assert!(!are_processes_gone(&file));
        let namespace = pid_namespace().unwrap();
        let me = process::id();
        let others = |at: u64| format!("{at} {me} 1 {me} 2\n");
        replace(&file, &others(namespace)).unwrap();
        assert!(are_processes_gone(&file), "another process had this number then");
        replace(&file, &others(namespace + 1)).unwrap();
        assert!(!are_processes_gone(&file), "that is another namespace");
        erase(&file).unwrap();
        assert!(!are_processes_gone(&file));
    }
}
