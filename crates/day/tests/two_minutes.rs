//! Two minutes of a day with defaults, on every store at once, with the release program.

use std::process::Command;

#[test]
#[ignore = "takes four minutes, and needs the release program; the ci workflow runs it"]
fn on_an_ordinary_day_with_defaults_nothing_is_lost_broken_or_silent() {
    let scratch = tempfile::tempdir().unwrap();
    let day = Command::new(env!("CARGO_BIN_EXE_day"))
        .args(["--seconds", "120", "--scratch"])
        .arg(scratch.path())
        .output()
        .unwrap();
    let (said, errors) =
        (String::from_utf8_lossy(&day.stdout), String::from_utf8_lossy(&day.stderr));
    println!("{said}");
    if !day.status.success() {
        let kept = scratch.keep();
        panic!("{said}{errors}\nthe history is in {}", kept.display());
    }
    assert!(said.contains("VIOLATIONS: 0") && said.contains("| zookeeper |"), "{said}{errors}");
}

#[test]
fn what_makes_no_sense_is_refused_in_one_line_with_the_usage() {
    for args in [&["--stores", "moon"][..], &["--minutes"], &["--seconds", "soon"], &["--x", "y"]] {
        let refused = Command::new(env!("CARGO_BIN_EXE_day")).args(args).output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.starts_with("day: ") && said.contains("usage: day"), "{said}");
    }
}
