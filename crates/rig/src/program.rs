//! The server program that the harnesses start, and its abilities.

use std::{
    ffi::OsString,
    process::{Command, Stdio},
    sync::LazyLock,
};

/// The variable that names the program: a `redis-server` or `valkey-server` of any version.
pub const VARIABLE: &str = "SEINPAAL_TEST_SERVER";

/// The program that `SEINPAAL_TEST_SERVER` names, or else this machine's `redis-server`.
#[must_use]
pub fn program() -> OsString {
    std::env::var_os(VARIABLE).unwrap_or_else(|| "redis-server".into())
}

/// A command that starts the program, once arguments are added.
#[must_use]
pub fn command() -> Command {
    Command::new(program())
}

/// The first two numbers of the program's version.
///
/// # Panics
/// If the program is missing, or prints no version.
#[must_use]
pub fn version() -> (u32, u32) {
    static VERSION: LazyLock<(u32, u32)> = LazyLock::new(|| {
        let said = what_it_says();
        read_version(&said).unwrap_or_else(|| panic!("{}: no version: {said}", program().display()))
    });
    *VERSION
}

/// Returns whether the program can be a node of a cluster that Seinpaal supports. Such a cluster
/// needs sharded channels, which came with 7.0.
#[must_use]
pub fn can_be_a_cluster() -> bool {
    version() >= (7, 0)
}

fn what_it_says() -> String {
    let said = command().arg("--version").stdin(Stdio::null()).output();
    let said = said.unwrap_or_else(|error| {
        let program = program();
        panic!("{} cannot be started ({error}): run ./test, which installs it", program.display())
    });
    String::from_utf8_lossy(&said.stdout).into_owned()
}

/// Reads `Redis server v=7.0.15 sha=...` or `Valkey server v=9.1.2 ...`.
fn read_version(said: &str) -> Option<(u32, u32)> {
    let (_, rest) = said.split_once("v=")?;
    let mut numbers = rest.split(['.', ' ']).map_while(|number| number.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_either_kind_is_read() {
        assert_eq!(read_version("Redis server v=6.2.14 sha=0:0 malloc=libc"), Some((6, 2)));
        assert_eq!(read_version("Valkey server v=9.1.2 sha=0:1"), Some((9, 1)));
        assert_eq!(read_version("something else"), None);
    }
}
