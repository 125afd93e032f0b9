//! A check in a process of its own. The mistake belongs to the whole process, which may end in any
//! way.

use std::{
    env, fs,
    io::{self, Read, Seek},
    process::{Child, Command, ExitCode, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use seinpaal_proto::planted::Mistake;

use crate::{catalogue::SuiteRun, choice::VARIABLE};

/// The longest time of a check. No check takes nearly as long.
const LONGEST: Duration = Duration::from_secs(600);
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// The exit status of a check that has found something.
const BROKEN: u8 = 1;
/// The beginning of the line that tells the finding.
const FOUND: &str = "found: ";

/// How a check ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum ChildVerdict {
    /// The check found nothing wrong.
    Kept,
    /// The check found this.
    Broken(String),
    /// The check could not run.
    Failed(String),
}

impl ChildVerdict {
    /// Tells the parent process the result.
    pub(crate) fn tell(found: Option<String>) -> ExitCode {
        let Some(found) = found else { return ExitCode::SUCCESS };
        println!("{FOUND}{}", found.lines().next().unwrap_or_default());
        ExitCode::from(BROKEN)
    }

    /// Runs a check, with a mistake or without.
    pub(crate) fn of(mistake: Option<Mistake>, orders: &SuiteRun) -> Self {
        Self::try_of(mistake, orders).unwrap_or_else(|error| Self::Failed(error.to_string()))
    }

    fn try_of(mistake: Option<Mistake>, orders: &SuiteRun) -> io::Result<Self> {
        let (mut said, mut complained) = (tempfile::tempfile()?, tempfile::tempfile()?);
        let mut child = Command::new(env::current_exe()?)
            .arg("check")
            .args(orders.words())
            .env(VARIABLE, mistake.map_or("", Mistake::name))
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

/// Waits for the end of a check. `None` if it took too long and was killed.
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
