//! Short seeded loads of items: real processes, real stores, workers killed all the time.

use std::process::Command;

/// Runs the rig from its command line, and returns its output.
#[track_caller]
fn torment(options: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_torture")).arg("items").args(options).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

/// Returns the number before these words in the report.
#[track_caller]
fn count(said: &str, words: &str) -> u64 {
    let line = said.lines().find_map(|line| line.trim_start().strip_suffix(words));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or_else(|| panic!("{words}: {said}"))
}

#[test]
fn a_directory_loses_no_item_though_workers_are_killed() {
    let said =
        torment(&["--store", "embedded", "--items", "1500", "--workers", "4", "--seed", "3"]);
    assert!(count(&said, "workers killed") > 0 && count(&said, "undisturbed items") > 0, "{said}");
}

#[test]
fn a_redis_loses_no_item_though_workers_are_killed() {
    let said = torment(&["--store", "redis", "--items", "3000", "--workers", "4", "--seed", "5"]);
    assert!(count(&said, "workers killed") > 0 && count(&said, "undisturbed items") > 0, "{said}");
}

#[test]
fn a_redis_that_syncs_its_file_always_loses_no_item_when_it_is_killed() {
    // With `redis-always` every write is on the disk before it is answered. With `everysec` a slow
    // disk may cost a second of writes.
    let options = ["--store", "redis-always", "--restart", "1", "--items", "6000", "--seed", "7"];
    let said = torment(&options);
    assert_eq!(count(&said, "faults of the store"), 1, "{said}");
}
