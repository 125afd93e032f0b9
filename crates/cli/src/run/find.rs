//! Finds the program of CMD, before the run stands in line.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use rustix::fs::{Access, AtFlags, CWD, accessat};

use crate::exit::{Exit, Failure};

/// The directories to search if PATH is not set, as in execvp.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Returns the program that `command` names, looked up as execvp does.
pub(super) fn find(command: &OsStr) -> Result<PathBuf, Failure> {
    if command.as_bytes().contains(&b'/') {
        let path = PathBuf::from(command);
        return match fs::metadata(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::PermissionDenied => {
                Err(missing(command))
            }
            _ if is_executable(&path) => Ok(path),
            _ => Err(barred(command)),
        };
    }
    let path = env::var_os("PATH").unwrap_or_else(|| OsString::from(DEFAULT_PATH));
    search(command, &path)
}

fn search(command: &OsStr, path: &OsStr) -> Result<PathBuf, Failure> {
    if command.is_empty() {
        return Err(missing(command));
    }
    let places = || env::split_paths(path).map(|directory| here(directory).join(command));
    if let Some(program) = places().find(|place| is_executable(place)) {
        return Ok(program);
    }
    // The user does not mean a directory of that name, but may well mean a file that is not
    // executable.
    if places().any(|place| place.is_file()) { Err(barred(command)) } else { Err(missing(command)) }
}

/// Replaces an empty part of PATH by the current directory, which it means.
fn here(directory: PathBuf) -> PathBuf {
    if directory.as_os_str().is_empty() { PathBuf::from(".") } else { directory }
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}

fn missing(command: &OsStr) -> Failure {
    let remedy = match command.as_bytes().contains(&b' ') {
        true => {
            "write a command and its arguments without quotes around them, or use `sh -c '...'`"
        }
        false => "is it installed, and in PATH?",
    };
    let words = format!("cannot run {}: command not found; {remedy}", command.display());
    Failure::new(Exit::NotFound, words)
}

fn barred(command: &OsStr) -> Failure {
    Failure::new(
        Exit::CannotExecute,
        format!(
            "cannot run {}: it is not an executable file; `chmod +x` makes it one",
            command.display()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_along_the_path() {
        let found = search(OsStr::new("sh"), OsStr::new("/nowhere:/bin")).unwrap();
        assert_eq!(found, Path::new("/bin/sh"));
    }

    #[test]
    fn what_is_nowhere_is_127_and_what_is_no_program_126() {
        let exit = |command: &str| find(OsStr::new(command)).unwrap_err().exit;
        assert_eq!(exit("no-such-command-anywhere"), Exit::NotFound);
        assert_eq!(exit("/no/such/file"), Exit::NotFound);
        assert_eq!(exit(""), Exit::NotFound);
        let quoted = find(OsStr::new("make all")).unwrap_err().message.unwrap();
        assert!(quoted.contains("without quotes") && quoted.contains("sh -c"), "{quoted}");
        assert_eq!(exit("/etc/passwd"), Exit::CannotExecute);
        assert_eq!(exit("/etc"), Exit::CannotExecute);
    }
}
