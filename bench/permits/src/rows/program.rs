//! The program around `/bin/true`, beside `flock`, which keeps no queue, no limit above one, no
//! lease and no record.

use std::{
    env, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use super::{Bench, Row};
use crate::{install, peer, times::median};

const ROUNDS: usize = 24;
/// The runs of each command in a round.
const RUNS: u32 = 10;

pub(super) fn run(bench: &mut Bench, row: &Row) -> io::Result<()> {
    if !bench.wants_ours() {
        return Ok(());
    }
    install::needs("flock")?;
    let directory = tempfile::tempdir()?;
    let commands = [flock(directory.path()), ours(directory.path(), &program()?), bare()];
    let mut rounds = Vec::new();
    for _ in 0..=ROUNDS {
        rounds.push(round(&commands)?);
    }
    rounds.remove(0); // the first round made the store and read the programs from disk
    let times = median(rounds.iter().map(|[flock, ours, _]| ours / flock));
    let of = |at: usize| median(rounds.iter().map(|round| round[at]));
    bench.report.form(row, "seinpaal run", &[("ms", of(1)), ("times flock", times)])?;
    bench.report.form(row, "flock", &[("ms", of(0))])?;
    bench.report.form(row, "/bin/true by itself", &[("ms", of(2))])
}

/// The path of the release program, which is built unless SEINPAAL_PROGRAM names one. The first
/// build takes minutes, far longer than the measurement.
fn program() -> io::Result<PathBuf> {
    if let Some(program) = env::var_os("SEINPAAL_PROGRAM") {
        return Ok(program.into());
    }
    let root = peer::here("../..");
    eprintln!("building the release program; SEINPAAL_PROGRAM=PATH takes one that is built");
    install::cargo(&root, "seinpaal-cli")?;
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join("release/seinpaal"))
}

fn flock(directory: &Path) -> Vec<PathBuf> {
    vec!["flock".into(), directory.join("lock"), "/bin/true".into()]
}

fn ours(directory: &Path, program: &Path) -> Vec<PathBuf> {
    let store = format!("file://{}/store", directory.display());
    let words = ["run", "--store", &store, "bench", "--", "/bin/true"];
    [program.to_owned()].into_iter().chain(words.map(PathBuf::from)).collect()
}

fn bare() -> Vec<PathBuf> {
    vec!["/bin/true".into()]
}

/// The milliseconds of one run of each command.
fn round(commands: &[Vec<PathBuf>; 3]) -> io::Result<[f64; 3]> {
    let mut times = [Duration::ZERO; 3];
    for _ in 0..RUNS {
        for (time, words) in times.iter_mut().zip(commands) {
            let started = Instant::now();
            once(words)?;
            *time += started.elapsed();
        }
    }
    Ok(times.map(|time| time.as_secs_f64() * 1e3 / f64::from(RUNS)))
}

fn once(words: &[PathBuf]) -> io::Result<()> {
    let status = Command::new(&words[0]).args(&words[1..]).stdin(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{words:?}: {status}"))) }
}
