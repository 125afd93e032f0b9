//! A check in a process of its own: the mistake is that of the whole process, and it may end in any way.

use std::{
    env, fs,
    io::{self, Read, Seek},
    process::{Child, Command, ExitCode, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use seinpaal_proto::planted::Bug;

use crate::{catalogue::Orders, choice::VARIABLE};

/// No check takes nearly as long.
const LONGEST: Duration = Duration::from_secs(600);
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// How a check ends that has found something.
const BROKEN: u8 = 1;
/// With what the line begins that says so.
const FOUND: &str = "found: ";

/// How a check went.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    /// All is as it should be.
    Kept,
    /// Something is wrong, and this is what.
    Broken(String),
    /// The check could not be done.
    Failed(String),
}

impl Verdict {
    /// Tells the parent.
    pub(crate) fn tell(found: Option<String>) -> ExitCode {
        let Some(found) = found else { return ExitCode::SUCCESS };
        println!("{FOUND}{}", found.lines().next().unwrap_or_default());
        ExitCode::from(BROKEN)
    }

    /// Does a check, with a mistake or without.
    pub(crate) fn of(bug: Option<Bug>, orders: &Orders) -> Self {
        Self::try_of(bug, orders).unwrap_or_else(|error| Self::Failed(error.to_string()))
    }

    fn try_of(bug: Option<Bug>, orders: &Orders) -> io::Result<Self> {
        let (mut said, mut complained) = (tempfile::tempfile()?, tempfile::tempfile()?);
        let mut child = Command::new(env::current_exe()?)
            .arg("check")
            .args(orders.words())
            .env(VARIABLE, bug.map_or("", Bug::name))
            .stdin(Stdio::null())
            .stdout(said.try_clone()?)
            .stderr(complained.try_clone()?)
            .spawn()?;
        let Some(status) = ended(&mut child)? else {
            return Ok(Self::Failed(format!("not done after {LONGEST:?}")));
        };
        let (said, complained) = (all_of(&mut said)?, all_of(&mut complained)?);
        let found = said.lines().find_map(|line| line.strip_prefix(FOUND));
        Ok(match (status.code(), found) {
            (Some(0), _) => Self::Kept,
            (_, Some(found)) => Self::Broken(found.to_owned()),
            _ => Self::Failed(complained.lines().last().unwrap_or("it died").to_owned()),
        })
    }
}

/// How it ended; `None`: it was killed, since it took too long.
fn ended(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    while begun.elapsed() < LONGEST {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

fn all_of(file: &mut fs::File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
