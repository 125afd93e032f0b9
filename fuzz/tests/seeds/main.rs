//! Runs every target over its seeds and over some thousand mutants of them, which are the same in
//! every run.

mod mutate;

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    time::{Duration, Instant},
};

use mutate::MutationDice;
use seinpaal_fuzz::TARGETS;

/// How many mutants each target gets, unless `SEINPAAL_MUTANTS` has another number.
const MUTANTS: usize = 3000;
/// There are fewer mutants of a file, because each is written to a file and opened as a database.
const MUTANT_FILES: usize = 150;
/// The longest time for an input. No seed and no mutant is longer than a few kilobytes, so none
/// should take nearly as long.
const LONGEST: Duration = Duration::from_secs(5);

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    let mut files: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    let seeds: Vec<_> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    assert!(!seeds.is_empty(), "no seeds for {target}");
    seeds
}

fn mutants(target: &str) -> usize {
    let usual = if target == "embedded_file" { MUTANT_FILES } else { MUTANTS };
    std::env::var("SEINPAAL_MUTANTS").map_or(usual, |count| count.parse().unwrap())
}

/// Runs one input, and shows the input if it fails.
fn check(target: &str, read: fn(&[u8]), bytes: &[u8]) -> Result<(), String> {
    let began = Instant::now();
    let done = catch_unwind(AssertUnwindSafe(|| read(bytes)));
    let shown = String::from_utf8_lossy(bytes).escape_debug().to_string();
    match done {
        Ok(()) if began.elapsed() < LONGEST => Ok(()),
        Ok(()) => Err(format!("{target} is slow over {shown}")),
        Err(_) => Err(format!("{target} panics over {shown}")),
    }
}

fn over_seeds_and_mutants(target: &str, read: fn(&[u8])) -> Vec<String> {
    let seeds = seeds(target);
    let mut dice = MutationDice(7);
    let mutants: Vec<_> = (0..mutants(target)).map(|_| dice.mutant(&seeds)).collect();
    let inputs = seeds.iter().chain(&mutants);
    inputs.filter_map(|bytes| check(target, read, bytes).err()).take(20).collect()
}

#[test]
fn no_reader_of_outside_bytes_breaks_its_promises() {
    let broken: Vec<_> =
        TARGETS.iter().flat_map(|(name, read)| over_seeds_and_mutants(name, *read)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_target_has_a_program_for_the_fuzzer() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let manifest = fs::read_to_string(manifest).unwrap();
    for (name, _) in TARGETS {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
}
