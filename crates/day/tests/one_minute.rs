//! A minute of a day with defaults, on every store at once, with the program of this build.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// The program that `SEINPAAL_PROGRAM` names, or the one that `cargo test --workspace` has built
/// beside us. `cargo test -p day` builds no program, so it is built here.
fn program() -> PathBuf {
    if let Some(program) = env::var_os("SEINPAAL_PROGRAM") {
        return PathBuf::from(program);
    }
    let program = Path::new(env!("CARGO_BIN_EXE_day")).with_file_name("seinpaal");
    if !program.exists() {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let build = "build --locked --quiet -p seinpaal-cli --features zookeeper";
        let built = Command::new(cargo).args(build.split(' ')).status();
        assert!(built.unwrap().success(), "the program cannot be built");
    }
    program
}

#[test]
fn on_an_ordinary_day_with_defaults_nothing_is_lost_broken_or_silent() {
    let scratch = tempfile::tempdir().unwrap();
    let day = Command::new(env!("CARGO_BIN_EXE_day"))
        .args(["--seconds", "60", "--program"])
        .arg(program())
        .arg("--scratch")
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
