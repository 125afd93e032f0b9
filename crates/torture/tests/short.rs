//! Short seeded runs: real processes, real servers, every fault that the store promises to survive.

use std::{fs, path::Path, process::Command};

/// Runs the rig from its command line, and returns its output. Prints the history if a promise was
/// broken.
/// The calm is short, so the report must say how much was judged after the effects of faults.
#[track_caller]
fn torment(store: &str, minutes: &str, options: &[&str]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let history = dir.path().join("history");
    let output = Command::new(env!("CARGO_BIN_EXE_torture"))
        .args(["--store", store, "--minutes", minutes, "--calm", "0.05"])
        .args(options)
        .arg("--history")
        .arg(&history)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{errors}{}", last_lines(&history));
    assert!(said.contains("judged"), "{said}");
    said
}

fn last_lines(history: &Path) -> String {
    let text = fs::read_to_string(history).unwrap_or_default();
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(200)..].join("\n")
}

#[test]
fn a_directory_under_fire_keeps_its_promises() {
    let said = torment("embedded", "0.2", &["--faults", "kill-worker,stop-worker", "--seed", "5"]);
    assert!(said.contains("kill-worker") && !said.contains("\n0 acquisitions"), "{said}");
}

#[test]
fn a_redis_under_fire_keeps_its_promises() {
    let faults = "kill-worker,cut,half-close,garble,lose-reply,delay,restart,read-only,out-of-memory,\
                  script-flush,slow-server";
    let said = torment("redis", "0.3", &["--faults", faults, "--seed", "3"]);
    assert!(said.contains("cut") && !said.contains("\n0 acquisitions"), "{said}");
}

#[test]
fn what_is_not_promised_is_found_and_counted() {
    let said = torment("redis", "0.1", &["--faults", "overwrite-keys,flushall", "--seed", "2"]);
    assert!(said.contains("counted, not promised"), "{said}");
}

#[test]
fn a_queue_in_a_directory_under_fire_keeps_its_promises() {
    let faults = "kill-worker,stop-worker";
    let said = torment("embedded", "0.2", &["--queue", "--faults", faults, "--seed", "5"]);
    assert!(said.contains("kill-worker") && said.contains("VIOLATIONS: 0"), "{said}");
}

#[test]
fn a_queue_in_redis_under_fire_keeps_its_promises() {
    let faults = "kill-worker,cut,half-close,garble,lose-reply,delay,restart,script-flush";
    let said = torment("redis", "0.3", &["--queue", "--faults", faults, "--seed", "3"]);
    assert!(said.contains("cut") && said.contains("VIOLATIONS: 0"), "{said}");
}
