//! Reads the command line.

use std::{env, io, path::PathBuf, time::Duration};

use crate::{rig::DayPlan, runs, store::StoreSetting};

/// The usage of the program.
pub const USAGE: &str = "usage: day [--minutes N | --seconds N] [--seed S] [--stores LIST] [--program FILE] [--scratch DIR]
       day service [--minutes N] [--service FILE] [--seed S] [--stores LIST] [--program FILE]
       day judge DIR
       day runs [--runs N] [-j N] [--seed S] [--stores LIST] [--program FILE] [--scratch DIR]
  --service  the example `service` of the crate; default: built beside this program
  --program  the program under test; default: SEINPAAL_PROGRAM, else target/release/seinpaal
  --stores   with commas between: embedded, redis, sentinel, cluster, quorum, zookeeper; default: all
  --scratch  where the history and all output go, and stay; default: a temporary directory, kept if something was broken
See docs/internals/tests/day.md.";

/// The arguments of the command line.
#[derive(Debug)]
pub struct DayArguments {
    /// The plan of the day.
    pub plan: DayPlan,
    /// Whether the directory is kept after the day.
    pub is_kept: bool,
    /// The number of runs, for `day runs`.
    pub runs: u32,
    /// The limit, for `day runs`.
    pub limit: u32,
    /// The program of the service.
    pub service: PathBuf,
}

/// Reads the options.
///
/// # Errors
/// The mistake in the command line, in one line.
pub fn read(args: &[String]) -> Result<DayArguments, String> {
    let scratch = env::temp_dir().join(format!("day-{}", std::process::id()));
    let plan = DayPlan {
        time: Duration::from_secs(120),
        seed: 1,
        stores: StoreSetting::ALL.to_vec(),
        program: program(),
        scratch,
    };
    let mut said = DayArguments {
        plan,
        is_kept: false,
        runs: runs::RUNS,
        limit: runs::LIMIT,
        service: beside("examples/service"),
    };
    for pair in args.chunks(2) {
        let [option, value] = pair else { return Err(format!("{} needs a value", pair[0])) };
        said.take(option, value)?;
    }
    if !said.plan.program.is_file() {
        let path = said.plan.program.display();
        return Err(format!("{path} is not there: cargo build --release -p seinpaal-cli"));
    }
    Ok(said)
}

impl DayArguments {
    fn take(&mut self, option: &str, value: &str) -> Result<(), String> {
        match option {
            "--minutes" => self.plan.time = seconds(value)? * 60,
            "--seconds" => self.plan.time = seconds(value)?,
            "--seed" => self.plan.seed = number(value)?,
            "--program" => self.plan.program = PathBuf::from(value),
            "--scratch" => (self.plan.scratch, self.is_kept) = (PathBuf::from(value), true),
            "--stores" => {
                self.plan.stores = value.split(',').map(str::parse).collect::<Result<_, _>>()?;
            }
            "--service" => self.service = PathBuf::from(value),
            "--runs" => self.runs = number(value)?,
            "-j" => self.limit = number(value)?,
            _ => return Err(format!("there is no option {option}")),
        }
        Ok(())
    }
}

/// Returns the path of the program under test. `SEINPAAL_PROGRAM` may name it. Otherwise it is the
/// release program, in the directory beside that of this build.
fn program() -> PathBuf {
    if let Some(program) = env::var_os("SEINPAAL_PROGRAM") {
        return PathBuf::from(program);
    }
    beside("../release/seinpaal")
}

/// Returns the path of a file that was built beside this program.
fn beside(path: &str) -> PathBuf {
    let this = env::current_exe().unwrap_or_default();
    this.parent().unwrap_or(&this).join(path)
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    seconds.ok_or_else(|| format!("no time: {text}"))
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("not a number: {text}"))
}

/// Turns a message into an [`io::Error`], for `main`.
///
/// # Errors
/// Always.
pub fn refuse<T>(why: String) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::InvalidInput, why))
}
