//! What `seinpaal run` costs beside `flock`: both around `/bin/true`, nobody else waiting, turn about.
//!
//! ```text
//! cargo bench -p seinpaal-cli --bench flock               40 rounds
//! cargo bench -p seinpaal-cli --bench flock -- --quick    8 rounds
//! ```
//!
//! The ratio is the median of the rounds' ratios: machines are busy by the minute, and a round is short.
//! Nothing is decided by it. `flock` keeps no queue, no limit above one, no lease and no record.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// Runs of each in a round.
const RUNS: u32 = 10;

fn main() {
    let rounds = if std::env::args().any(|argument| argument == "--quick") { 8 } else { 40 };
    let directory = tempfile::tempdir().expect("a temporary directory");
    let commands = [flock(directory.path()), seinpaal(directory.path()), bare()];
    let mut rounds: Vec<[Duration; 3]> = (0..=rounds).map(|_| round(&commands)).collect();
    rounds.remove(0); // it made the store and read the programs from disk
    let ratio =
        median(rounds.iter().map(|[flock, ours, _]| ours.as_secs_f64() / flock.as_secs_f64()));
    let [flock, ours, bare] =
        [0, 1, 2].map(|i| median(rounds.iter().map(|times| times[i].as_secs_f64() * 1e3)));
    println!(
        "| one run of /bin/true, median of {} rounds of {RUNS} | ms |\n|---|---|",
        rounds.len()
    );
    println!(
        "| by itself | {bare:.2} |\n| under flock | {flock:.2} |\n| under seinpaal run | {ours:.2} |"
    );
    println!("| seinpaal / flock, median of the rounds' ratios | {ratio:.2} |");
}

fn flock(directory: &Path) -> Vec<String> {
    words(&["flock", &directory.join("lock").display().to_string(), "/bin/true"])
}

fn seinpaal(directory: &Path) -> Vec<String> {
    let store = format!("file://{}/store", directory.display());
    words(&[env!("CARGO_BIN_EXE_seinpaal"), "run", "--store", &store, "bench", "--", "/bin/true"])
}

fn bare() -> Vec<String> {
    words(&["/bin/true"])
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// The time of one run of each.
fn round(commands: &[Vec<String>; 3]) -> [Duration; 3] {
    let mut times = [Duration::ZERO; 3];
    for _ in 0..RUNS {
        for (time, words) in times.iter_mut().zip(commands) {
            let start = Instant::now();
            run(words);
            *time += start.elapsed() / RUNS;
        }
    }
    times
}

fn run(words: &[String]) {
    let mut command = Command::new(&words[0]);
    let status = command.args(&words[1..]).stdin(Stdio::null()).status();
    let status = status.unwrap_or_else(|error| panic!("{} cannot be run: {error}", words[0]));
    assert!(status.success(), "{words:?}: {status}");
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
